import type { Counter, Metrics } from '@edge-gateway/core';

export type ProxyStats = Readonly<ReturnType<typeof createProxyStats>>;

/** Returns the counts of PROXY headers; each call returns the same numbers. */
export function createProxyStats(metrics: Metrics) {
  const counter = (name: string): Counter =>
    metrics.counter({ path: `proxy_proto.${name}`, metric: `envoy_proxy_proto_${name}` });
  const versioned = (version: number) => (name: string) =>
    metrics.counter({
      path: `proxy_proto.versions.v${version}.${name}`,
      metric: `envoy_proxy_proto_${name}`,
      labels: { envoy_proxy_protocol_version: String(version) },
    });
  const [v1, v2] = [versioned(1), versioned(2)];
  return {
    notFoundAllowed: counter('not_found_allowed'),
    notFoundDisallowed: counter('not_found_disallowed'),
    errors: metrics.counter({
      path: 'downstream_cx_proxy_proto_error',
      metric: 'envoy_downstream_cx_proxy_proto_error',
    }),
    found: { 1: v1('found'), 2: v2('found') },
    invalid: { 1: v1('error'), 2: v2('error') },
  };
}
