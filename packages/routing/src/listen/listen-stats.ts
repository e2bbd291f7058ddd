import { httpStat, type Counter, type Gauge, type Histogram, type Metrics, type StatName } from '@edge-gateway/core';
import { createAnswerStats, type AnswerStats } from '../serve/http-stats.ts';

/** Counts of connections, kept for a listener and for the HTTP manager (reference: security-graphql 7.4). */
export interface ConnectionStats {
  readonly total: Counter;
  readonly active: Gauge;
  readonly destroy: Counter;
  readonly lengthMs: Histogram;
}

/** The statistics of one listener. */
export interface ListenStats {
  readonly connections: readonly ConnectionStats[];
  /** Closed by the client. */
  readonly destroyRemote: Counter;
  /** Turned away because there are too many. */
  readonly overflow: Counter;
  readonly http1Total: Counter;
  readonly rxBytes: Counter;
  readonly txBytes: Counter;
  readonly handshake: Counter;
  readonly sessionReused: Counter;
  readonly handshakeError: Counter;
  readonly noCertificate: Counter;
  readonly failVerify: Counter;
  readonly failVerifySan: Counter;
  readonly answers: AnswerStats;
}

/** `0.0.0.0_8080`, `[__]_8080`: colons are not allowed in the paths of statistics. */
export const listenerLabel = (address: string, port: number): string =>
  `${address.includes(':') ? `[${address}]` : address}_${port}`.replaceAll(':', '_');

/** The statistics of the listener of this address; asking again gives the same numbers. */
export function createListenStats(metrics: Metrics, address: string, port: number): ListenStats {
  const label = listenerLabel(address, port);
  const listener = (name: string): StatName => ({
    path: `listener.${label}.${name}`,
    metric: `envoy_listener_${name.replaceAll('.', '_')}`,
    labels: { envoy_listener_address: label },
  });
  const connections = [listener, httpStat].map((named) => ({
    total: metrics.counter(named('downstream_cx_total')),
    active: metrics.gauge(named('downstream_cx_active')),
    destroy: metrics.counter(named('downstream_cx_destroy')),
    lengthMs: metrics.histogram(named('downstream_cx_length_ms')),
  }));
  return {
    connections,
    destroyRemote: metrics.counter(httpStat('downstream_cx_destroy_remote')),
    overflow: metrics.counter(listener('downstream_cx_overflow')),
    http1Total: metrics.counter(httpStat('downstream_cx_http1_total')),
    rxBytes: metrics.counter(httpStat('downstream_cx_rx_bytes_total')),
    txBytes: metrics.counter(httpStat('downstream_cx_tx_bytes_total')),
    handshake: metrics.counter(listener('ssl.handshake')),
    sessionReused: metrics.counter(listener('ssl.session_reused')),
    handshakeError: metrics.counter(listener('ssl.connection_error')),
    noCertificate: metrics.counter(listener('ssl.fail_verify_no_cert')),
    failVerify: metrics.counter(listener('ssl.fail_verify_error')),
    failVerifySan: metrics.counter(listener('ssl.fail_verify_san')),
    answers: createAnswerStats(metrics, label),
  };
}
