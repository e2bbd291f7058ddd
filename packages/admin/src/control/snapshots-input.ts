import { formatIssue, keyOf, type ControlPlaneState, type Problem, type Kind } from '@edge-gateway/core';
import { lazily } from '../http/json-chunks.ts';
import type { ControlEndpointFactory } from './endpoint.ts';
import { listObjects, showObject } from './kubernetes-object.ts';
import { snapshotAnswer } from './snapshot-answer.ts';

/** `/snapshots/input`: every resource with its status; documents that are not resources are errors. */
export const snapshotsInput: ControlEndpointFactory = ({ state }) => ({
  paths: ['/snapshots/input'],
  help: 'all resources with their status',
  get: () =>
    snapshotAnswer(state(), (current) => ({
      data: lazily(listObjects(current), (each) => showObject(each, current.statuses.get(each.key))),
      errors: unfiledProblems(current),
    })),
});

/** Problems that no status shows: those of documents without kind or name. */
function unfiledProblems({ issues, statuses, resources }: ControlPlaneState): string[] {
  const isFiled = ({ kind, namespace, name }: Problem): boolean => {
    if (!kind || !name) return false;
    const key = keyOf(kind as Kind, { name, namespace: namespace ?? '' });
    return statuses.has(key) || resources.has(key);
  };
  return issues.filter((issue) => issue.severity === 'error' && !isFiled(issue)).map(formatIssue);
}
