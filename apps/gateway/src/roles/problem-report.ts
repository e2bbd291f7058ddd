import type { ControlPlane, ObservedProblem, ResourceKey } from '@edge-gateway/core';

/** A problem of a resource that only shows while it is served. */
export type ResourceProblem = readonly [key: ResourceKey, problem: ObservedProblem];

/**
 * Returns a function that adds problems to the status of resources, and removes those that are no longer among them. Equal problems of one
 * resource are one. `observer` names the source of the problems.
 */
export function createProblemReport(
  controlPlane: ControlPlane,
  observer: string,
): (problems: Iterable<ResourceProblem>) => void {
  let reported = new Map<ResourceKey, string>();
  return (found) => {
    const problems = new Map<ResourceKey, Map<string, ObservedProblem>>();
    for (const [key, problem] of found) {
      const known = problems.get(key) ?? new Map<string, ObservedProblem>();
      problems.set(key, known.set(problem.message, problem));
    }
    const now = new Map(Array.from(problems, ([key, each]) => [key, [...each.keys()].sort().join('\n')] as const));
    for (const key of reported.keys()) if (!now.has(key)) controlPlane.observe(key, undefined, observer);
    for (const [key, text] of now) {
      if (reported.get(key) === text) continue;
      controlPlane.observe(key, { problems: [...problems.get(key)!.values()], notes: [] }, observer);
    }
    reported = now;
  };
}
