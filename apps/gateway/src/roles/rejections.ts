import type { ControlPlane, FieldPath, ObservedProblem, ProxyRejection } from '@edge-gateway/core';
import { createProblemReport, type ResourceProblem } from './problem-report.ts';
import { rejectedField } from './rejected-field.ts';

/** The rejections of a proxy. */
export interface RejectionOf {
  readonly proxy: string;
  readonly node: string;
  readonly rejection: ProxyRejection;
}

/** Returns a function that adds rejections to the status of resources, and removes them when proxies accept the resource. */
export function createRejectionReport(controlPlane: ControlPlane): (rejections: readonly RejectionOf[]) => void {
  const report = createProblemReport(controlPlane, 'proxies');
  return (rejections) => {
    const { state } = controlPlane;
    if (!state) return;
    report(
      rejections.flatMap((each): ResourceProblem[] => {
        const found = rejectedField(each.proxy, each.rejection, state);
        if (!found) return [];
        const { resource, field } = found;
        const own: ResourceProblem = [field.key, problemOf(each, field.path)];
        // The status of a virtual service reports what is wrong with its routes, wherever they are written.
        return resource === field.key ? [own] : [own, [resource, problemOf(each, ['spec'])]];
      }),
    );
  };
}

/** Equal rejections by several proxies with the same name are one problem. */
function problemOf({ proxy, rejection: { field, message } }: RejectionOf, path: FieldPath): ObservedProblem {
  const at = field === '' ? '' : ` (${field})`;
  return { severity: 'error', path, message: `rejected by proxy ${proxy}${at}: ${message}` };
}
