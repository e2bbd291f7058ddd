import { isIP } from 'node:net';
import { DEFAULTS, inEffect, upstreamHttpVersion, type Secrets, type SnapshotUpstream } from '@edge-gateway/core';
import { healthCheck, outlierDetection } from './health-checks.ts';
import { message, protoDuration, renamed, socketAddress, typed, type Message } from './json.ts';
import { upstreamTls } from './tls.ts';

const LIMITS = ['maxConnections', 'maxPendingRequests', 'maxRequests', 'maxRetries'] as const;
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** An upstream as Cluster. */
export function cluster(upstream: SnapshotUpstream, secrets: Secrets): Message {
  const { name, endpoints } = upstream;
  const spec = inEffect('UpstreamSpec', upstream.spec);
  const { connectionConfig: connection, circuitBreakers: limits } = spec;
  const byName = endpoints.some(({ address }) => isIP(address) === 0);
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    type: byName ? 'STRICT_DNS' : 'STATIC',
    connect_timeout: protoDuration(connection?.connectTimeout ?? DEFAULTS.connectTimeout),
    per_connection_buffer_limit_bytes: connection?.perConnectionBufferLimitBytes,
    load_assignment: loadAssignment(upstream),
    health_checks: spec.healthChecks?.map((check) => healthCheck(check, secrets)),
    outlier_detection: spec.outlierDetection && outlierDetection(spec.outlierDetection),
    circuit_breakers: limits && { thresholds: [message({ priority: 'DEFAULT', ...renamed(limits, LIMITS) })] },
    dns_lookup_family: byName ? 'V4_PREFERRED' : undefined,
    typed_extension_protocol_options: protocolOptions(spec),
    transport_socket: upstreamTls({ ...upstream, spec }, secrets),
  });
}

/** The endpoints of an upstream as ClusterLoadAssignment, without its type. */
function loadAssignment({ name, endpoints }: SnapshotUpstream): Message {
  const lbEndpoints = endpoints.map(({ address, port, weight, healthCheck: own }) => ({
    endpoint: message({
      address: socketAddress(address, port),
      health_check_config: own && message({ ...renamed(own, ['hostname', 'path', 'method']), port_value: own.port }),
      hostname: address,
    }),
    load_balancing_weight: weight,
  }));
  return { cluster_name: name, endpoints: lbEndpoints.length > 0 ? [{ lb_endpoints: lbEndpoints }] : [] };
}

/** The endpoints as `/config_dump?include_eds` lists them. */
export function endpointConfig(upstream: SnapshotUpstream): Message {
  const { name, endpoints } = upstream;
  const lbEndpoints = endpoints.map(({ address, port, weight }) => ({
    endpoint: { address: socketAddress(address, port), health_check_config: {}, hostname: address },
    health_status: 'HEALTHY',
    metadata: {},
    load_balancing_weight: weight,
  }));
  return typed('envoy.config.endpoint.v3.ClusterLoadAssignment', {
    cluster_name: name,
    endpoints: lbEndpoints.length > 0 ? [{ locality: {}, lb_endpoints: lbEndpoints }] : [],
    policy: { overprovisioning_factor: 140 },
  });
}

function protocolOptions(spec: SnapshotUpstream['spec']): Message | undefined {
  const { connectionConfig } = spec;
  const version = upstreamHttpVersion(spec);
  const { commonHttpProtocolOptions: http, maxRequestsPerConnection } = connectionConfig ?? {};
  const common = message({
    ...renamed(http ?? {}, ['idleTimeout', 'maxHeadersCount', 'maxStreamDuration', 'headersWithUnderscoresAction']),
    max_requests_per_connection: maxRequestsPerConnection,
  });
  if (version === 'http1' && Object.keys(common).length === 0) return undefined;
  const http2 = { http2_protocol_options: http2Options(spec) };
  const options = {
    http1: { explicit_http_config: { http_protocol_options: {} } },
    http2: { explicit_http_config: http2 },
    downstream: { use_downstream_protocol_config: { http_protocol_options: {}, ...http2 } },
  };
  const hasCommon = Object.keys(common).length > 0;
  return {
    [HTTP_OPTIONS]: typed(HTTP_OPTIONS, {
      ...(hasCommon && { common_http_protocol_options: common }),
      ...options[version],
    }),
  };
}

function http2Options(spec: SnapshotUpstream['spec']): Message {
  return message({
    ...renamed(spec, [
      'maxConcurrentStreams',
      'initialStreamWindowSize',
      'initialConnectionWindowSize',
      'overrideStreamErrorOnInvalidHttpMessage',
    ]),
  });
}
