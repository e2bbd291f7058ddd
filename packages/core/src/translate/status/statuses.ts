import { isSemantic } from '../../resource/problem-codes.ts';
import { gatewayNamespace } from '../../resource/gateway-namespace.ts';
import type { ResourceKey, ResourceStatus, State, StatusReport } from '../../resource/resource.ts';
import type { Problem } from '../../resource/problem.ts';
import type { StoredResource } from '../../resource/stored.ts';
import { kindOf } from '../changes.ts';
import { hasSameItems } from '../lists.ts';
import { IN_LAST_VERSION, servesLastVersion, type Problems } from './report.ts';
import { reasonOf } from './messages.ts';

/** The reporter, for all kinds. */
export const REPORTED_BY = 'gw';
/** Maximum length of the reason, in characters. */
export const MAX_REASON = 2048;

/** The input of one status. */
export interface StatusInput {
  readonly stored: StoredResource | undefined;
  readonly problems: readonly Problems[];
  /** Texts for `messages`, besides those of the resource. */
  readonly notes: readonly string[];
  /** By subresource key. */
  readonly subresources: readonly (readonly [string, StatusReport])[];
}

/** Caches statuses, so that an unchanged status stays the same object. */
export interface StatusEntry extends StatusInput {
  readonly status: ResourceStatus;
}

/** The status of every resource, and its input. */
export interface StatusTable {
  readonly entries: ReadonlyMap<ResourceKey, StatusEntry>;
  readonly statuses: ReadonlyMap<ResourceKey, ResourceStatus>;
  /** Those of `entries` with problems. */
  readonly faulty: ReadonlyMap<ResourceKey, StatusEntry>;
  /** The status of a resource for each of its proxies. */
  readonly reports: ReadonlyMap<string, Subresource>;
}

/** The key of a proxy, and the status of a resource for it. */
export type Subresource = readonly [string, StatusReport];

/** Returns the status of one resource; that of `before` if nothing changed. */
export function statusEntry(key: ResourceKey, input: StatusInput, before: StatusEntry | undefined): StatusEntry {
  if (before && sameInput(input, before)) return before;
  const report = reportOf(key, input);
  const old = before?.status.statuses[gatewayNamespace()];
  const status = old && sameReport(report, old) ? before!.status : statusOf(report, input.subresources);
  return { ...input, status };
}

function sameReport(now: StatusReport, before: StatusReport): boolean {
  if (now.state !== before.state || now.reason !== before.reason) return false;
  if (now.messages?.join('\n') !== before.messages?.join('\n')) return false;
  const [own, old] = [now.subresourceStatuses ?? NONE, before.subresourceStatuses ?? NONE];
  const names = Object.keys(own);
  return names.length === Object.keys(old).length && names.every((name) => own[name] === old[name]);
}

const NONE: Readonly<Record<string, StatusReport>> = {};

const LISTS = ['problems', 'notes', 'subresources'] as const;

function sameInput(now: StatusInput, before: StatusInput): boolean {
  return now.stored === before.stored && LISTS.every((name) => hasSameItems(now[name], before[name]));
}

function reportOf(key: ResourceKey, { stored, problems, subresources, ...input }: StatusInput): StatusReport {
  const notes = [...new Set([...(stored?.observed?.notes ?? []), ...input.notes])];
  const clean = (stored?.issues.length ?? 0) === 0 && problems.length === 0;
  if (clean && notes.length === 0) return accepted(subresources);
  if (clean) return withSubresources(withNotes(ACCEPTED, notes), subresources);
  const errors: string[] = [];
  const warnings: string[] = [];
  for (const issue of stored?.issues ?? []) {
    (isHeavy(issue, key) ? errors : warnings).push(reasonOf(issue, stored));
  }
  const isOfLastVersion = stored !== undefined && servesLastVersion(stored);
  for (const { severity, message, source } of problems.flat()) {
    const text = isOfLastVersion && !source ? `${message} (${IN_LAST_VERSION})` : message;
    (severity === 'error' ? errors : warnings).push(text);
  }
  const report = stateReport([...new Set(errors)], [...new Set(warnings)]);
  return withSubresources(withNotes(report, notes), subresources);
}

/** Statuses without problems by their subresources: most resources share one. */
const ACCEPTED_STATUSES = new WeakMap<StatusInput['subresources'], ResourceStatus>();

function accepted(subresources: StatusInput['subresources']): StatusReport {
  // There is none for this namespace if it was changed since the process started.
  const known = ACCEPTED_STATUSES.get(subresources)?.statuses[gatewayNamespace()];
  if (known) return known;
  const report = withSubresources(ACCEPTED, subresources);
  ACCEPTED_STATUSES.set(subresources, wrap(report));
  return report;
}

function statusOf(report: StatusReport, subresources: StatusInput['subresources']): ResourceStatus {
  const shared = ACCEPTED_STATUSES.get(subresources);
  return shared?.statuses[gatewayNamespace()] === report ? shared : wrap(report);
}

function withNotes(report: StatusReport, notes: readonly string[]): StatusReport {
  return notes.length > 0 ? Object.freeze({ ...report, messages: Object.freeze(notes) }) : report;
}

function withSubresources(report: StatusReport, subresources: StatusInput['subresources']): StatusReport {
  return subresources.length > 0
    ? Object.freeze({ ...report, subresourceStatuses: Object.freeze(Object.fromEntries(subresources)) })
    : report;
}

/** Semantic problems of an upstream are warnings; syntax problems are errors. */
function isHeavy({ severity, code }: Problem, key: ResourceKey): boolean {
  return severity === 'error' && !(kindOf(key) === 'Upstream' && isSemantic(code));
}

/** Errors result in Rejected, only warnings in Warning. */
export function stateReport(errors: readonly string[], warnings: readonly string[]): StatusReport {
  const state: State = errors.length > 0 ? 'Rejected' : warnings.length > 0 ? 'Warning' : 'Accepted';
  if (state === 'Accepted') return ACCEPTED;
  return Object.freeze({ state, reason: reasonText(errors, warnings), reportedBy: REPORTED_BY });
}

const ACCEPTED: StatusReport = Object.freeze({ state: 'Accepted', reportedBy: REPORTED_BY });

/** Space for the line with the number of omitted problems. */
const REST_LENGTH = 40;

/** Returns errors, then warnings below `warning:`. If the text is too long, problems are omitted and counted. */
function reasonText(errors: readonly string[], warnings: readonly string[]): string {
  const lines = [...errors, ...warnings.map((warning, i) => (i === 0 ? `warning: \n  ${warning}` : `  ${warning}`))];
  const whole = lines.join('\n');
  if (whole.length <= MAX_REASON) return whole;
  let text = shorten(lines[0]!);
  let shown = 1;
  while (shown < lines.length && text.length + lines[shown]!.length < MAX_REASON - REST_LENGTH) {
    text += `\n${lines[shown++]!}`;
  }
  const rest = lines.length - shown;
  return rest === 0 ? text : `${text}\n… and ${rest} more ${rest === 1 ? 'problem' : 'problems'}`;
}

function shorten(line: string): string {
  const limit = MAX_REASON - REST_LENGTH;
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

function wrap(report: StatusReport): ResourceStatus {
  return Object.freeze({ statuses: Object.freeze({ [gatewayNamespace()]: report }) });
}
