import {
  formatIssue,
  formatPath,
  keyOf,
  reasonLines,
  type ControlPlaneState,
  type Issue,
  type Kind,
} from '@edge-gateway/core';
import { reportsOf } from './status.ts';
import { toStatusObjects } from './objects.ts';

/** One problem of a directory; `issue.origin` is missing for what no file holds, such as a proxy. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly issue: Issue;
  readonly hasOrigin: boolean;
}

/** All that `validate` tells of a directory. */
export interface Validation {
  readonly resources: number;
  readonly problems: readonly Problem[];
}

/**
 * Every problem of a loaded directory: those with a place in a document, then what the statuses say beyond them
 * (a reference that leads nowhere, a domain that two claim). Sorted by file and line.
 */
export function validationOf(state: ControlPlaneState): Validation {
  const written = state.issues.map((issue): Problem => ({ severity: issue.severity, issue, hasOrigin: true }));
  const told = [...written];
  const keys = new Set([...state.resources.keys(), ...state.statuses.keys()]);
  const [proxies, others] = [[...keys].filter(isProxy), [...keys].filter((key) => !isProxy(key))];
  for (const key of [...others, ...proxies]) {
    const all = isListening(key) ? told : written.filter(({ issue }) => issueKey(issue) === key);
    told.push(...statusProblems(state, key, all));
  }
  return { resources: others.length, problems: told.sort(byPlace) };
}

/** What says again what virtual services say. */
const isListening = (key: string): boolean => isProxy(key) || key.startsWith('Gateway/');
const isProxy = (key: string): boolean => key.startsWith('Proxy/');

function issueKey({ kind, namespace, name }: Issue): string | undefined {
  return kind && name ? keyOf(kind as Kind, { name, namespace: namespace ?? '' }) : undefined;
}

/** What the status of a resource says that is not among the problems already told. */
function statusProblems(state: ControlPlaneState, key: string, told: readonly Problem[]): Problem[] {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  const resource = state.resources.get(key as `${Kind}/${string}/${string}`);
  const origin = resource?.origin ?? told.find(({ issue }) => issueKey(issue) === key)?.issue.origin;
  const [object] = toStatusObjects([
    { kind, metadata: { name, namespace }, status: state.statuses.get(key as `${Kind}/${string}/${string}`) },
  ]);
  const isTold = (line: string) => told.some(({ issue }) => line.includes(issue.message) || issue.message === line);
  return (object ? reportsOf(object) : [])
    .flatMap(({ reason }) => reasonLines(reason))
    .filter(({ line }) => !isTold(line))
    .flatMap(({ severity, line }) => {
      const whole = { origin: origin ?? { file: '', line: 1, column: 1 }, path: [] };
      const fields = state.placesOf?.(key as `${Kind}/${string}/${string}`, line) ?? [];
      return (fields.length > 0 ? fields : [whole]).map((place): Problem => {
        const issue: Issue = { code: 'STATUS', severity, kind, namespace, name, message: line, ...place };
        return { severity, issue, hasOrigin: fields.length > 0 || origin !== undefined };
      });
    });
}

function byPlace({ issue: a, hasOrigin: left }: Problem, { issue: b, hasOrigin: right }: Problem): number {
  if (left !== right) return left ? -1 : 1;
  if (a.origin.file !== b.origin.file) return a.origin.file < b.origin.file ? -1 : 1;
  return a.origin.line - b.origin.line || a.origin.column - b.origin.column;
}

/** A problem as one line. */
export function problemLine({ issue, hasOrigin }: Problem): string {
  const line = formatIssue(issue).replaceAll(/\s*\n\s*/g, ' ');
  return hasOrigin ? line : line.slice(line.indexOf('  ') + 2);
}

/** A problem as plain data for `-o json`. */
export function problemData({ severity, issue, hasOrigin }: Problem): Record<string, unknown> {
  const { origin, code, kind, namespace, name, path, message, hint } = issue;
  return { severity, ...(hasOrigin && origin), code, kind, namespace, name, path: formatPath(path), message, hint };
}
