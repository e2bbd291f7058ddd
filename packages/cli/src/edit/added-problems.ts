import { formatPath, type ControlPlaneState, type Problem, type ResourceKey } from '@edge-gateway/core';
import { validationOf } from '../output/problem-lines.ts';
import type { Tolerance } from './resource-storage.ts';

/** The problems that a change adds. */
export interface AddedProblems {
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Returns the problems that a change adds, and every error of the resources that it touches. */
export function addedProblems(
  before: ControlPlaneState,
  after: ControlPlaneState,
  { touched, tolerance }: { readonly touched: ReadonlySet<ResourceKey>; readonly tolerance: Tolerance },
): AddedProblems {
  const known = new Map<string, number>();
  for (const problem of before.issues) known.set(problemKey(problem), (known.get(problemKey(problem)) ?? 0) + 1);
  const isTouched = ({ kind, namespace, name }: Problem): boolean =>
    touched.has(`${kind}/${namespace}/${name}` as ResourceKey);
  const added = after.issues.filter((problem) => {
    const key = problemKey(problem);
    const count = known.get(key) ?? 0;
    known.set(key, count - 1);
    return count <= 0 || (problem.severity === 'error' && isTouched(problem));
  });
  const rated = validationOf({ issues: added });
  const { missingReferences = false, missingReferencesOfChanged = false } = tolerance;
  const isTolerated = (problem: Problem) =>
    problem.code === 'MISSING_REFERENCE' && (missingReferences || (missingReferencesOfChanged && isTouched(problem)));
  const isError = (problem: Problem) => problem.severity === 'error' && !isTolerated(problem);
  return { errors: rated.filter(isError), warnings: rated.filter((problem) => !isError(problem)) };
}

/** Identifies a problem before and after a change, which may move lines and list elements. */
function problemKey({ code, kind, namespace, name, path, message }: Problem): string {
  const where = formatPath(path).replaceAll(/\[\d+\]/g, '[]');
  return JSON.stringify([code, kind, namespace, name, where, message.replaceAll(/<unnamed-\d+>/g, '<unnamed>')]);
}
