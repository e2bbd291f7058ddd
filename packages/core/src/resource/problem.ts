import type { TextPlace } from '../parse/text-place.ts';
import type { ProblemCode } from './problem-codes.ts';
import type { Kind, Origin } from './resource.ts';

/** Maximum number of reported errors, and of warnings, of one document. */
export const MAX_PROBLEMS = 1000;

/** A path inside a resource: keys and list indices, from the document's root. */
export type FieldPath = readonly (string | number)[];

/** What is wrong with a field of a resource. `code` names the class of problem (`UNKNOWN_KEY`, …; see `problem-codes.ts`). */
export interface FieldProblem {
  readonly code: ProblemCode;
  readonly path: FieldPath;
  /** Position inside the text of the field. */
  readonly place?: TextPlace;
  readonly message: string;
  /** The allowed values, or a "did you mean". */
  readonly hint?: string;
  /** Default: an error. */
  readonly severity?: 'error' | 'warning';
  /** Name of the route with the problem, if any. */
  readonly route?: string;
  /** Identical for all problems with the same cause, e.g. all references to one missing resource. */
  readonly cause?: string;
  /** What is served in spite of the problem: the last good version of the field, or nothing of its routes. */
  readonly effect?: 'keeps-last-good' | 'lacks-routes';
  /** True for a reference to a kind that is not read: the resource may exist, so the problem is not reported. */
  readonly unread?: true;
}

/** A problem with its resource and its place in a file. */
export interface Problem extends Omit<FieldProblem, 'code' | 'place'> {
  /** A {@link ProblemCode}, or that of another version of the gateway. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly origin: Origin;
  readonly kind?: Kind | string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Maximum length of a name, a key of a path, and similar parts of a problem, in characters. */
const MAX_PART = 256;
/** Maximum length of a message or hint, in characters. */
const MAX_TEXT = 2048;

/**
 * Returns a text with at most `max` characters: its begin and `…`. A value of a resource may have megabytes, and each message, status and log line
 * would repeat it.
 */
export function cutText(text: string, max: number = MAX_PART): string {
  if (text.length <= max) return text;
  // Copied: a part of a string keeps all of it in memory.
  return Buffer.from(`${text.slice(0, max - 1)}…`.toWellFormed()).toString();
}

/** Returns a problem whose texts are cut, see {@link cutText}; the same one if all of them are short. */
export function boundedProblem<P extends Partial<Problem>>(problem: P): P {
  const { kind, namespace, name, message, hint, cause, route, path = [] } = problem;
  const parts = { kind, namespace, name, route, cause };
  const texts = { message, hint };
  const isShort = (max: number) => (text: unknown) => typeof text !== 'string' || text.length <= max;
  const areShort = [...Object.values(parts), ...path].every(isShort(MAX_PART));
  if (areShort && Object.values(texts).every(isShort(MAX_TEXT))) return problem;
  const cut: Record<string, unknown> = { ...problem };
  for (const [key, text] of Object.entries(parts)) if (text !== undefined) cut[key] = cutText(text);
  for (const [key, text] of Object.entries(texts)) if (text !== undefined) cut[key] = cutText(text, MAX_TEXT);
  if (problem.path) cut['path'] = path.map((step) => (typeof step === 'string' ? cutText(step) : step));
  return cut as P;
}

/** Formats a path, e.g. `spec.virtualHost.routes[0].matchers`. */
export function formatPath(path: FieldPath): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

/** Reads what {@link formatPath} returned. Keys with dots or brackets are taken apart. */
export function parsePath(text: string): FieldPath {
  return (text.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** Formats a position as `file:line:column`, or without line and column where there is no text. */
export function formatOrigin({ file, line, column }: Origin): string {
  return line === 0 ? file : `${file}:${line}:${column}`;
}

/**
 * Formats a problem as one line: `file:line:column  Kind ns/name  field.path  message  (hint)`, or `plural.group ns/name: field.path  message`
 * for an object of a cluster.
 *
 * @example
 * for (const issue of state.issues) console.error(formatIssue(issue));
 */
export function formatIssue(issue: Problem): string {
  const field = formatPath(issue.path);
  const hint = issue.hint && `(${issue.hint})`;
  if (issue.origin.line === 0) {
    return [`${issue.origin.file}:`, [field, issue.message, hint].filter(Boolean).join('  ')].join(' ');
  }
  const who = issue.kind && `${issue.kind} ${issue.namespace ? `${issue.namespace}/` : ''}${issue.name ?? '(no name)'}`;
  const parts = [formatOrigin(issue.origin), who, field, issue.message, hint];
  return parts.filter(Boolean).join('  ');
}

/** Returns a problem as plain data, for JSON. */
export function issueData({ origin, path, ...issue }: Problem): Readonly<Record<string, unknown>> {
  const { severity, code, kind, namespace, name, message, hint, cause, effect } = issue;
  return {
    severity,
    ...origin,
    code,
    kind,
    namespace,
    name,
    path: formatPath(path),
    message,
    hint,
    cause,
    effect,
  };
}

/** Groups problems by cause; a problem without a cause is a group of its own. Keeps their order. */
export function groupByCause(issues: readonly Problem[]): readonly (readonly [Problem, ...Problem[]])[] {
  const groups = new Map<string | Problem, [Problem, ...Problem[]]>();
  for (const issue of issues) {
    const key = issue.cause ?? issue;
    const group = groups.get(key);
    if (group) group.push(issue);
    else groups.set(key, [issue]);
  }
  return [...groups.values()];
}
