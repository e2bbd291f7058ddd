import type { TextPlace } from '../parse/text-place.ts';
import type { SemanticCode } from '../resource/problem-codes.ts';
import type { FieldPath, FieldProblem, Problem } from '../resource/problem.ts';
import type { Kind, Origin, Resource } from '../resource/resource.ts';

/** Finds problems in a part of a resource at `path`. */
export type Check<T> = (part: T, path: FieldPath) => FieldProblem[];

/** A check of one kind with dependencies that core does not have, such as the parser of a language in a field. */
export interface ResourceCheck {
  readonly kind: Kind;
  /** Returns the problems of a spec that matches its schema; each rejects the resource. `path` is that of the spec. */
  readonly check: (spec: never, path: FieldPath) => readonly FieldProblem[];
}

/** Returns the problems of a list. */
export function each<T>(parts: readonly T[] | undefined, path: FieldPath, check: Check<T>): FieldProblem[] {
  return parts ? parts.flatMap((part, i) => check(part, [...path, i])) : [];
}

/** Returns the problems of a part that may be missing. */
export function within<T>(part: T | undefined, path: FieldPath, check: Check<T>): FieldProblem[] {
  return part === undefined ? [] : check(part, path);
}

/** The checks of the fields of a block, by name. */
export type FieldChecks<T> = { readonly [K in keyof T]?: Check<NonNullable<T[K]>> };

/** Returns the problems of the fields of a block, each found by its own check. */
export function fields<T extends object>(block: T, at: FieldPath, checks: FieldChecks<T>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const name in checks) {
    const part = block[name] ?? undefined;
    // Checked before the path is created: most blocks have few of the fields.
    if (part !== undefined) problems.push(...(checks[name] as Check<unknown>)(part, [...at, name]));
  }
  return problems;
}

/** Returns one problem with a message, and none without. */
type Reporter = (
  message: string | false | undefined,
  path: FieldPath,
  more?: Pick<FieldProblem, 'hint' | 'place' | 'severity'>,
) => FieldProblem[];

/** Creates the reporter of the problems of one code. */
export function reporterOf(code: SemanticCode): Reporter {
  return (message, path, more) => (message ? [{ code, path, message, ...more }] : []);
}

/** Returns the message of what a function throws; `undefined` if it returns. */
export function thrownBy(attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns a problem with its resource, at the place that `locate` returns. */
export function placed(
  { place, ...problem }: FieldProblem,
  { kind, metadata: { name, namespace } }: Resource,
  locate: (path: FieldPath, place?: TextPlace) => Origin,
): Problem {
  return { severity: 'error', ...problem, origin: locate(problem.path, place), kind, namespace, name };
}
