import type { ControlPlane, FieldPath, ObservedProblem, ProxyRejection, ResourceKey } from '@edge-gateway/core';
import { rejectedField } from './rejected-field.ts';

/** The rejections of a proxy. */
export interface RejectionOf {
  readonly proxy: string;
  readonly node: string;
  readonly rejection: ProxyRejection;
}

/** Names this observer of resources. */
const OBSERVER = 'proxies';

/** Returns a function that adds rejections to the status of resources, and removes them when proxies accept the resource. */
export function createRejectionReport(controlPlane: ControlPlane): (rejections: readonly RejectionOf[]) => void {
  let reported = new Map<ResourceKey, string>();
  return (rejections) => {
    const { state } = controlPlane;
    if (!state) return;
    const problems = new Map<ResourceKey, Map<string, ObservedProblem>>();
    const add = (key: ResourceKey, problem: ObservedProblem): void => {
      const known = problems.get(key) ?? new Map<string, ObservedProblem>();
      problems.set(key, known.set(problem.message, problem));
    };
    for (const each of rejections) {
      const found = rejectedField(each.proxy, each.rejection, state);
      if (!found) continue;
      const { resource, field } = found;
      add(field.key, problemOf(each, field.path));
      // The status of a virtual service reports what is wrong with its routes, wherever they are written.
      if (resource !== field.key) add(resource, problemOf(each, ['spec']));
    }
    const now = new Map(Array.from(problems, ([key, found]) => [key, [...found.keys()].sort().join('\n')] as const));
    for (const key of reported.keys()) if (!now.has(key)) controlPlane.observe(key, undefined, OBSERVER);
    for (const [key, text] of now) {
      if (reported.get(key) === text) continue;
      controlPlane.observe(key, { problems: [...problems.get(key)!.values()], notes: [] }, OBSERVER);
    }
    reported = now;
  };
}

/** Equal rejections by several proxies with the same name are one problem. */
function problemOf({ proxy, rejection: { field, message } }: RejectionOf, path: FieldPath): ObservedProblem {
  const at = field === '' ? '' : ` (${field})`;
  return { severity: 'error', path, message: `rejected by proxy ${proxy}${at}: ${message}` };
}
