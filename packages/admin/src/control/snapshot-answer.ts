import type { ControlPlaneState } from '@edge-gateway/core';
import { compactJson, type Answer } from '../http/answer.ts';

/** What a `/snapshots` page shows, and what is missing from it. */
export interface SnapshotData {
  readonly data: unknown;
  readonly errors?: readonly string[];
}

/** `{status, data, error?}`: `error` is only there when something is missing from `data`. */
export function snapshotAnswer(
  state: ControlPlaneState | undefined,
  read: (state: ControlPlaneState) => SnapshotData,
): Answer {
  const { data, errors = [] } = state ? read(state) : { data: null, errors: ['the first resources are not read yet'] };
  const error = errors.length > 0 ? { error: errors.join('; ') } : {};
  return compactJson({ status: errors.length > 0 ? 'error' : 'ok', data, ...error });
}
