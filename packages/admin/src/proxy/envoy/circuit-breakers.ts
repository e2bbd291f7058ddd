import type { SnapshotUpstream } from '@edge-gateway/core';

/** Limits of one priority; the words of the data plane. */
export interface Threshold {
  readonly priority: 'DEFAULT' | 'HIGH';
  readonly max_connections: number;
  readonly max_pending_requests: number;
  readonly max_requests: number;
  readonly max_retries: number;
}

const DEFAULTS = { max_connections: 1024, max_pending_requests: 1024, max_requests: 1024, max_retries: 3 } as const;

/** The circuit breakers of an upstream; only the default priority can be set. */
export function circuitBreakers({ spec }: SnapshotUpstream): { readonly thresholds: readonly Threshold[] } {
  const { maxConnections, maxPendingRequests, maxRequests, maxRetries } = spec.circuitBreakers ?? {};
  return {
    thresholds: [
      {
        priority: 'DEFAULT',
        max_connections: maxConnections ?? DEFAULTS.max_connections,
        max_pending_requests: maxPendingRequests ?? DEFAULTS.max_pending_requests,
        max_requests: maxRequests ?? DEFAULTS.max_requests,
        max_retries: maxRetries ?? DEFAULTS.max_retries,
      },
      { priority: 'HIGH', ...DEFAULTS },
    ],
  };
}
