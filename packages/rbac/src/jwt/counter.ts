import type { Context, Counter } from '@edge-gateway/core';

/** One of the counters of token checks, all of whose names begin alike. */
export function jwtCounter({ metrics }: Context, what: string): Counter {
  return metrics.counter({
    path: `http.http.jwt_authn.${what}`,
    metric: `envoy_http_jwt_authn_${what}`,
    labels: { envoy_http_conn_manager_prefix: 'http' },
  });
}
