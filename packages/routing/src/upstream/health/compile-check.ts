import type { Context, SnapshotUpstream } from '@edge-gateway/core';
import type { HealthCheck } from './health-spec.ts';
import { encodeHealthRequest, grpcProbe } from './grpc-check.ts';
import { http2Probe } from './http2-check.ts';
import { HttpProbe } from './http-check.ts';
import { checkHeaders } from './check-headers.ts';
import { compileExpectations } from './http-expectations.ts';
import type { CheckStats } from './health-stats.ts';
import type { EventSource } from './health-event-log.ts';
import type { Probe, ProbeTarget } from './probe.ts';
import { compileTcpCheck } from './tcp-check.ts';

/** A compiled checker. */
export interface CompiledCheck {
  readonly type: EventSource['type'];
  /** Protocols to offer in the TLS handshake; `undefined` for those of the upstream. */
  readonly alpn: readonly string[] | undefined;
  /** Creates the probe of one endpoint. */
  probe(target: ProbeTarget): Probe;
}

export interface CheckEnvironment {
  readonly upstream: SnapshotUpstream;
  readonly context: Context;
  readonly stats: CheckStats;
}

const HTTP2 = ['h2'];

/** Compiles the checker of a health check. Returns `undefined` if it has none that is supported. */
export function compileCheck(check: HealthCheck, environment: CheckEnvironment): CompiledCheck | undefined {
  const reuse = check.reuseConnection ?? true;
  if (check.tcpHealthCheck)
    return { type: 'TCP', alpn: undefined, probe: compileTcpCheck(check.tcpHealthCheck, reuse) };
  if (check.httpHealthCheck) return httpCheck(check.httpHealthCheck, reuse, environment);
  return check.grpcHealthCheck && grpcCheck(check.grpcHealthCheck, reuse, environment);
}

function httpCheck(
  check: NonNullable<HealthCheck['httpHealthCheck']>,
  reuse: boolean,
  { upstream, context, stats }: CheckEnvironment,
): CompiledCheck {
  const expectations = compileExpectations(check, stats.verifyCluster);
  return {
    type: 'HTTP',
    alpn: check.useHttp2 ? HTTP2 : undefined,
    probe({ connect, tls, hostname, declaredHost, path = check.path || '/', method = methodOf(check.method) }) {
      const host = hostname || check.host || declaredHost || upstream.name;
      const headers = () => checkHeaders({ host, method }, check, { context, ref: upstream.ref });
      const request = () => ({ method, path, headers: headers() });
      const parts = { connect, expectations, reuse, request };
      return check.useHttp2 ? http2Probe({ ...parts, tls }) : new HttpProbe(parts);
    },
  };
}

/** The name of "not specified" means GET. */
function methodOf(written: string | undefined): string {
  return written === undefined || written === 'METHOD_UNSPECIFIED' ? 'GET' : written;
}

function grpcCheck(
  { serviceName, authority, initialMetadata }: NonNullable<HealthCheck['grpcHealthCheck']>,
  reuse: boolean,
  { upstream, context }: CheckEnvironment,
): CompiledCheck {
  const message = encodeHealthRequest(serviceName ?? '');
  return {
    type: 'GRPC',
    alpn: HTTP2,
    probe({ connect, tls, hostname, declaredHost }) {
      const host = hostname || authority || declaredHost || upstream.name;
      const changes = { requestHeadersToAdd: initialMetadata };
      const headers = () => checkHeaders({ host, method: 'POST' }, changes, { context, ref: upstream.ref });
      return grpcProbe({ connect, tls, message, reuse, headers });
    },
  };
}
