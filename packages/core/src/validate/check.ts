import type { TextPlace } from '../parse/text-place.ts';
import type { FieldPath, FieldProblem, Problem } from '../resource/problem.ts';
import type { Origin, Resource } from '../resource/resource.ts';

/** Finds problems in a part of a resource at `path`. */
export type Check<T> = (part: T, path: FieldPath) => FieldProblem[];

/** Returns the problems of a list. */
export function each<T>(parts: readonly T[] | undefined, path: FieldPath, check: Check<T>): FieldProblem[] {
  return parts ? parts.flatMap((part, i) => check(part, [...path, i])) : [];
}

/** Returns the problems of a part that may be missing. */
export function within<T>(part: T | undefined, path: FieldPath, check: Check<T>): FieldProblem[] {
  return part === undefined ? [] : check(part, path);
}

/** Returns a problem with its resource, at the place that `locate` returns. */
export function placed(
  { place, ...problem }: FieldProblem,
  { kind, metadata: { name, namespace } }: Resource,
  locate: (path: FieldPath, place?: TextPlace) => Origin,
): Problem {
  return { severity: 'error', ...problem, origin: locate(problem.path, place), kind, namespace, name };
}
