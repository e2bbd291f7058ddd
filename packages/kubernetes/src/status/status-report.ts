import {
  contentText,
  digestText,
  kubernetesStatus,
  type Kind,
  type RateLimitConfigStatus,
  type ResourceStatus,
} from '@edge-gateway/core';
import type { ClusterObject } from '../watch/cluster-object.ts';

/** Names of the states, which other versions wrote as numbers. */
const STATE_NAMES = ['Pending', 'Accepted', 'Rejected', 'Warning'];

/** The part of a status that one control plane writes. */
export type OwnStatus = ResourceStatus | RateLimitConfigStatus;

/** Returns what to write of a status. */
export function ownStatus(kind: Kind, status: ResourceStatus): OwnStatus {
  return kubernetesStatus(kind, status);
}

/** Returns a digest of a status. */
export function statusDigest(status: OwnStatus): string {
  return digestText(contentText(status));
}

/** Returns the digest of the part of an object's status that the control plane of a namespace wrote; `undefined` if there is none. */
export function writtenStatusDigest(kind: Kind, { status }: ClusterObject, namespace: string): string | undefined {
  if (typeof status !== 'object' || status === null) return undefined;
  if (kind === 'RateLimitConfig') {
    const { state, message } = status as Partial<RateLimitConfigStatus>;
    return state === undefined ? undefined : statusDigest({ state, ...(message && { message }) });
  }
  const { statuses } = status as { statuses?: Readonly<Record<string, unknown>> };
  const report = statuses && Object.hasOwn(statuses, namespace) ? statuses[namespace] : undefined;
  if (typeof report !== 'object' || report === null) return undefined;
  return statusDigest({ statuses: { [namespace]: withStateNames(report) } } as unknown as ResourceStatus);
}

function withStateNames(report: object): object {
  const { state, subresourceStatuses } = report as { state?: unknown; subresourceStatuses?: object };
  return {
    ...report,
    ...(typeof state === 'number' && { state: STATE_NAMES[state] }),
    ...(subresourceStatuses && {
      subresourceStatuses: Object.fromEntries(
        Object.entries(subresourceStatuses).map(([name, each]) => [name, withStateNames(each as object)]),
      ),
    }),
  };
}
