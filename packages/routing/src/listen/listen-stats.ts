import { httpStat, type Counter, type Gauge, type Histogram, type Metrics, type StatName } from '@edge-gateway/core';
import { createResponseStats, listenerLabel, type ResponseStats } from '../serve/http-stats.ts';
import { statsOf } from '../upstream/stats.ts';

/** Counts of connections, kept for a listener and for the HTTP manager (reference: security-graphql 7.4). */
interface ConnectionStats {
  readonly total: Counter;
  readonly active: Gauge;
  readonly destroy: Counter;
  readonly lengthMs: Histogram;
}

const OF_MANAGER = {
  /** Closed by the client. */
  destroyRemote: 'downstream_cx_destroy_remote',
  http1Total: 'downstream_cx_http1_total',
  http2Total: 'downstream_cx_http2_total',
  http1Requests: 'downstream_rq_http1_total',
  http2Requests: 'downstream_rq_http2_total',
  /** Connections of HTTP/2 whose client reset too many streams. */
  http2TooManyResets: 'downstream_rq_too_many_premature_resets',
  rxBytes: 'downstream_cx_rx_bytes_total',
  txBytes: 'downstream_cx_tx_bytes_total',
} as const;

const OF_LISTENER = {
  /** Rejected because of the connection limit. */
  overflow: 'downstream_cx_overflow',
  /** No part of the listener matches. */
  noMatch: 'no_filter_chain_match',
  handshake: 'ssl.handshake',
  sessionReused: 'ssl.session_reused',
  handshakeError: 'ssl.connection_error',
  noCertificate: 'ssl.fail_verify_no_cert',
  failVerify: 'ssl.fail_verify_error',
  failVerifySan: 'ssl.fail_verify_san',
  /** Handshakes of clients that ask for an OCSP response, and what they got. */
  stapleRequests: 'ssl.ocsp_staple_requests',
  stapleResponses: 'ssl.ocsp_staple_responses',
  stapleOmitted: 'ssl.ocsp_staple_omitted',
  stapleFailed: 'ssl.ocsp_staple_failed',
} as const;

export interface ListenStats extends Readonly<Record<keyof typeof OF_MANAGER | keyof typeof OF_LISTENER, Counter>> {
  readonly connections: readonly ConnectionStats[];
  readonly responses: ResponseStats;
}

/** Returns the statistics of the listener of this address; each call returns the same numbers. */
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
    ...statsOf(OF_MANAGER, (name) => metrics.counter(httpStat(name))),
    ...statsOf(OF_LISTENER, (name) => metrics.counter(listener(name))),
    responses: createResponseStats(metrics, address, port),
  };
}
