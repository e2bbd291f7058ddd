import { isIP } from 'node:net';
import type { Endpoint, SnapshotUpstream } from '../contract/snapshot.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import { inEffect } from '../schema/in-effect.ts';
import type { SubsetSpec } from '../schema/upstream/service-spec.ts';
import { declaredCheckHost } from '../upstream/check-host.ts';
import { upstreamHttpVersion } from '../upstream/http-version.ts';
import { healthCheck, outlierDetection } from './cluster-health.ts';
import { loadBalancing } from './cluster-load-balancing.ts';
import {
  headerKeyFormat,
  message,
  protoDuration,
  renamed,
  socketAddress,
  typed,
  type EnvoyMessage,
} from './message.ts';
import { upstreamTls } from './tls.ts';
import { shownPath, type MessageContext } from './translation-context.ts';

const LIMITS = ['maxConnections', 'maxPendingRequests', 'maxRequests', 'maxRetries'] as const;
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const PROXY_PROTOCOL = 'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport';
/** Resources that come over the same stream. */
const ADS: EnvoyMessage = { ads: {}, resource_api_version: 'V3' };

type Spec = SnapshotUpstream['spec'];

/** An upstream as Cluster. The endpoints of a served one are separate resources unless Envoy has to resolve names. */
export function cluster(upstream: SnapshotUpstream, context: MessageContext): EnvoyMessage {
  const { name } = upstream;
  const spec = inEffect('UpstreamSpec', upstream.spec);
  const { connectionConfig: connection, circuitBreakers: limits } = spec;
  const { services } = context;
  const byName = hasNames(upstream);
  const isSeparate = services !== undefined && !byName;
  return typed('envoy.config.cluster.v3.Cluster', {
    name,
    type: isSeparate ? 'EDS' : byName ? 'STRICT_DNS' : 'STATIC',
    connect_timeout: protoDuration(connection?.connectTimeout ?? DEFAULTS.connectTimeout),
    per_connection_buffer_limit_bytes: connection?.perConnectionBufferLimitBytes,
    ...(isSeparate
      ? { eds_cluster_config: { eds_config: ADS } }
      : { load_assignment: loadAssignment(upstream, context) }),
    health_checks: spec.healthChecks?.map((check) => healthCheck(check, context)),
    outlier_detection: spec.outlierDetection && outlierDetection(spec.outlierDetection),
    circuit_breakers: limits && { thresholds: [thresholds(limits, context)] },
    dns_lookup_family: byName ? (upstream.dns?.ipV4Only ? 'V4_ONLY' : 'V4_PREFERRED') : undefined,
    typed_extension_protocol_options: protocolOptions(spec, context),
    transport_socket: withProxyHeader(spec, upstreamTls({ ...upstream, spec }, context)),
    ...(services && servedFields(spec, byName)),
  });
}

/** Returns true if the endpoints of an upstream have names, which Envoy resolves. */
export function hasNames({ endpoints }: SnapshotUpstream): boolean {
  return endpoints.some(({ address }) => isIP(address) === 0 && !/^[/@]/.test(address));
}

function thresholds(limits: NonNullable<Spec['circuitBreakers']>, { services }: MessageContext): EnvoyMessage {
  const track_remaining = (services && limits.trackRemaining) || undefined;
  return message({ priority: 'DEFAULT', ...renamed(limits, LIMITS), track_remaining });
}

/** Returns fields that only a served cluster has. */
function servedFields(spec: Spec, byName: boolean): EnvoyMessage {
  const { preconnectPolicy: preconnect, connectionConfig } = spec;
  const { tcpKeepalive } = connectionConfig ?? {};
  const subsets = [spec.static, spec.kube, spec.consul].find((type) => type?.subsetSpec)?.subsetSpec;
  return {
    ...loadBalancing(spec.loadBalancerConfig),
    lb_subset_config: subsets && subsetConfig(subsets),
    ignore_health_on_host_removal: spec.ignoreHealthOnHostRemoval || undefined,
    ...(byName && {
      respect_dns_ttl: spec.respectDnsTtl || undefined,
      dns_refresh_rate: protoDuration(spec.dnsRefreshRate),
    }),
    preconnect_policy:
      preconnect &&
      message({
        per_upstream_preconnect_ratio: preconnect.perUpstreamPreconnectRatio,
        predictive_preconnect_ratio: preconnect.predictivePreconnectRatio,
      }),
    upstream_connection_options: tcpKeepalive && {
      tcp_keepalive: message({
        keepalive_probes: tcpKeepalive.keepaliveProbes,
        keepalive_time: seconds(tcpKeepalive.keepaliveTime),
        keepalive_interval: seconds(tcpKeepalive.keepaliveInterval),
      }),
    },
  };
}

function seconds(written: string | undefined): number | undefined {
  const text = protoDuration(written);
  return text === undefined ? undefined : Math.ceil(Number.parseFloat(text));
}

function subsetConfig({ selectors = [], fallbackPolicy = 'ANY_ENDPOINT', defaultSubset }: SubsetSpec): EnvoyMessage {
  return message({
    fallback_policy: fallbackPolicy,
    default_subset: defaultSubset?.values,
    subset_selectors: selectors.map(({ keys = [], singleHostPerSubset }) =>
      message({ keys, single_host_per_subset: singleHostPerSubset || undefined }),
    ),
  });
}

function withProxyHeader({ proxyProtocolVersion: version }: Spec, socket: EnvoyMessage | undefined) {
  return version ? proxyHeaderSocket(version, socket) : socket;
}

/** Returns a socket that begins each connection with the PROXY header. */
export function proxyHeaderSocket(version: 'V1' | 'V2', inner: EnvoyMessage | undefined): EnvoyMessage {
  const plain = {
    name: 'envoy.transport_sockets.raw_buffer',
    typed_config: typed('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer'),
  };
  const config = { version };
  return {
    name: 'envoy.transport_sockets.upstream_proxy_protocol',
    typed_config: typed(PROXY_PROTOCOL, { config, transport_socket: inner ?? plain }),
  };
}

/** The endpoints of an upstream as ClusterLoadAssignment, without its type. */
export function loadAssignment(
  { name, endpoints, spec }: SnapshotUpstream,
  { services }: MessageContext,
): EnvoyMessage {
  if (services) return servedAssignment({ name, endpoints, spec });
  const lbEndpoints = endpoints.map((endpoint) => ({
    endpoint: message({
      address: socketAddress(endpoint.address, endpoint.port),
      health_check_config: healthCheckConfig(spec, shownEndpoint(endpoint)),
      hostname: endpoint.address,
    }),
    load_balancing_weight: endpoint.weight,
  }));
  return { cluster_name: name, endpoints: lbEndpoints.length > 0 ? [{ lb_endpoints: lbEndpoints }] : [] };
}

/** Returns an endpoint for a dump: its path of health checks without the secrets in its query. */
function shownEndpoint(endpoint: Endpoint): Endpoint {
  const { healthCheck } = endpoint;
  return healthCheck?.path
    ? { ...endpoint, healthCheck: { ...healthCheck, path: shownPath(healthCheck.path, {}) } }
    : endpoint;
}

/** For Envoy, the host of an endpoint has precedence over that of the check. */
function healthCheckConfig(spec: Spec, endpoint: Endpoint): EnvoyMessage | undefined {
  const { httpHealthCheck: http, grpcHealthCheck: grpc } = spec.healthChecks?.[0] ?? {};
  const isNamed = http ? http.host : grpc ? grpc.authority : true;
  const { port, ...own } = {
    ...(!isNamed && { hostname: declaredCheckHost({ spec }, endpoint) }),
    ...endpoint.healthCheck,
  };
  const config = message({ ...renamed(own, ['hostname', 'path', 'method']), port_value: port });
  return Object.keys(config).length > 0 ? config : undefined;
}

/** Groups endpoints by priority and locality. */
function servedAssignment({
  name,
  endpoints,
  spec,
}: Pick<SnapshotUpstream, 'name' | 'endpoints' | 'spec'>): EnvoyMessage {
  const groups = Map.groupBy(endpoints, ({ priority = 0, locality, localityWeight }) =>
    JSON.stringify([priority, locality, localityWeight]),
  );
  const weighted = spec.loadBalancerConfig?.localityWeightedLbConfig !== undefined;
  const shown = [...groups.values()].map((group) => {
    const { priority, locality, localityWeight } = group[0]!;
    return message({
      locality: locality && message({ region: locality.region, zone: locality.zone, sub_zone: locality.subZone }),
      lb_endpoints: group.map((endpoint) => servedEndpoint(spec, endpoint)),
      priority: priority || undefined,
      load_balancing_weight: localityWeight ?? (weighted ? 1 : undefined),
    });
  });
  const factor = spec.failover?.policy?.overprovisioningFactor;
  return message({
    cluster_name: name,
    endpoints: shown,
    policy: factor === undefined ? undefined : { overprovisioning_factor: factor },
  });
}

function servedEndpoint(spec: Spec, endpoint: Endpoint): EnvoyMessage {
  const { address, port, weight, hostname, alternatives, metadata } = endpoint;
  return message({
    endpoint: message({
      address: socketAddress(address, port),
      additional_addresses: alternatives?.map((each) => ({ address: socketAddress(each, port) })),
      health_check_config: healthCheckConfig(spec, endpoint),
      hostname: hostname ?? (isIP(address) === 0 ? address : undefined),
    }),
    load_balancing_weight: Math.max(1, weight),
    metadata: metadata && Object.keys(metadata).length > 0 ? { filter_metadata: { 'envoy.lb': metadata } } : undefined,
  });
}

/** The endpoints as `/config_dump?include_eds` lists them. */
export function endpointConfig(upstream: SnapshotUpstream): EnvoyMessage {
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

function protocolOptions(spec: Spec, { services }: MessageContext): EnvoyMessage | undefined {
  const { connectionConfig } = spec;
  const version = upstreamHttpVersion(spec);
  const { commonHttpProtocolOptions: http, maxRequestsPerConnection } = connectionConfig ?? {};
  const common = message({
    ...renamed(http ?? {}, ['idleTimeout', 'maxHeadersCount', 'maxStreamDuration', 'headersWithUnderscoresAction']),
    max_requests_per_connection: services ? maxRequestsPerConnection || undefined : maxRequestsPerConnection,
  });
  const http1 = services ? http1Options(spec) : {};
  const hasCommon = Object.keys(common).length > 0;
  if (version === 'http1' && !hasCommon && Object.keys(http1).length === 0) return undefined;
  const http2 = { http2_protocol_options: http2Options(spec, services !== undefined) };
  const options = {
    http1: { explicit_http_config: { http_protocol_options: http1 } },
    http2: { explicit_http_config: http2 },
    downstream: { use_downstream_protocol_config: { http_protocol_options: http1, ...http2 } },
  };
  return {
    [HTTP_OPTIONS]: typed(HTTP_OPTIONS, {
      ...(hasCommon && { common_http_protocol_options: common }),
      ...options[version],
    }),
  };
}

function http1Options({ connectionConfig }: Spec): EnvoyMessage {
  const http1 = connectionConfig?.http1ProtocolOptions ?? {};
  return message({ enable_trailers: http1.enableTrailers || undefined, header_key_format: headerKeyFormat(http1) });
}

function http2Options(spec: Spec, isServed: boolean): EnvoyMessage {
  const { max_concurrent_streams: streams, ...windows } = renamed(spec, [
    'maxConcurrentStreams',
    'initialStreamWindowSize',
    'initialConnectionWindowSize',
    'overrideStreamErrorOnInvalidHttpMessage',
  ]);
  const { connectionKeepalive: keepalive } = spec;
  return message({
    // 0 is no limit, which Envoy expresses by its absence.
    max_concurrent_streams: isServed ? streams || undefined : streams,
    ...windows,
    // Envoy requires the timeout. It checks connections only at intervals.
    connection_keepalive: keepalive?.interval && {
      interval: protoDuration(keepalive.interval),
      timeout: protoDuration(keepalive.timeout ?? DEFAULTS.http2PingTimeout),
    },
  });
}
