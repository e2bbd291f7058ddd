import type { Kind, ResourceStatus } from './resource.ts';

/** The `status` of a RateLimitConfig, which has a shape of its own. */
export interface RateLimitConfigStatus {
  readonly state: 'PENDING' | 'ACCEPTED' | 'REJECTED';
  /** Why it is rejected, or its warnings. */
  readonly message?: string;
}

/**
 * Returns the status of a resource as its Kubernetes object has it: for a RateLimitConfig state and message, for all other
 * kinds the status itself.
 *
 * @example
 * kubernetesStatus('RateLimitConfig', { statuses: { 'gw-system': { state: 'Accepted', reportedBy: 'gw' } } }); // { state: 'ACCEPTED' }
 */
export function kubernetesStatus(kind: Kind, status: ResourceStatus): ResourceStatus | RateLimitConfigStatus {
  if (kind !== 'RateLimitConfig') return status;
  const reports = Object.values(status.statuses);
  const reasons = reports.flatMap(({ reason }) => reason ?? []);
  return {
    state: stateOf(reports.map((one) => one.state)),
    ...(reasons.length > 0 && { message: reasons.join('\n') }),
  };
}

/** Warnings do not keep a RateLimitConfig from being used. */
function stateOf(states: readonly string[]): RateLimitConfigStatus['state'] {
  if (states.includes('Rejected')) return 'REJECTED';
  return states.length === 0 || states.includes('Pending') ? 'PENDING' : 'ACCEPTED';
}
