import { DEFAULTS, type SnapshotUpstream } from '@edge-gateway/core';
import type { CircuitBreakers } from '@edge-gateway/core/schema';

/** Limits of one priority; the words of the data plane. */
export interface Threshold {
  readonly priority: 'DEFAULT' | 'HIGH';
  readonly max_connections: number;
  readonly max_pending_requests: number;
  readonly max_requests: number;
  readonly max_retries: number;
}

/** The circuit breakers of an upstream; only the default priority can be set. */
export function circuitBreakers({ spec }: SnapshotUpstream): { readonly thresholds: readonly Threshold[] } {
  return {
    thresholds: [
      { priority: 'DEFAULT', ...limitsOf({ ...DEFAULTS, ...spec.circuitBreakers }) },
      { priority: 'HIGH', ...limitsOf(DEFAULTS) },
    ],
  };
}

type Limits = Required<Pick<CircuitBreakers, 'maxConnections' | 'maxPendingRequests' | 'maxRequests' | 'maxRetries'>>;

function limitsOf(limits: Limits): Omit<Threshold, 'priority'> {
  const { maxConnections, maxPendingRequests, maxRequests, maxRetries } = limits;
  return {
    max_connections: maxConnections,
    max_pending_requests: maxPendingRequests,
    max_requests: maxRequests,
    max_retries: maxRetries,
  };
}
