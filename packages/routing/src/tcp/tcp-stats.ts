import type { Counter, Metrics } from '@edge-gateway/core';
import { statsOf } from '../upstream/stats.ts';

const COUNTERS = {
  total: 'downstream_cx_total',
  noRoute: 'downstream_cx_no_route',
  rxBytes: 'downstream_cx_rx_bytes_total',
  txBytes: 'downstream_cx_tx_bytes_total',
  idleTimeout: 'idle_timeout',
} as const;

const PREFIX = 'tcp';

export type TcpStats = Readonly<Record<keyof typeof COUNTERS, Counter>>;

/** Returns the counts of TCP connections; each call returns the same numbers. */
export function createTcpStats(metrics: Metrics): TcpStats {
  return statsOf(COUNTERS, (name) =>
    metrics.counter({
      path: `tcp.${PREFIX}.${name}`,
      metric: `envoy_tcp_${name}`,
      labels: { envoy_tcp_prefix: PREFIX },
    }),
  );
}
