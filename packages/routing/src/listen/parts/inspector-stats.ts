import type { Counter, Metrics } from '@edge-gateway/core';
import { statsOf } from '../../upstream/stats.ts';

const COUNTERS = {
  tlsFound: 'tls_found',
  tlsNotFound: 'tls_not_found',
  sniFound: 'sni_found',
  sniNotFound: 'sni_not_found',
  tooLarge: 'client_hello_too_large',
} as const;

export type InspectorStats = Readonly<Record<keyof typeof COUNTERS, Counter>>;

/** Returns the counts of inspected connections; each call returns the same numbers. */
export function createInspectorStats(metrics: Metrics): InspectorStats {
  return statsOf(COUNTERS, (name) =>
    metrics.counter({ path: `tls_inspector.${name}`, metric: `envoy_tls_inspector_${name}` }),
  );
}
