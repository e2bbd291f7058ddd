import type { Counter, Metrics, StatName } from '@edge-gateway/core';

/** Creates the counters of an API: `<prefix>.graphql.rq_total` and so on, in Prometheus `envoy_<prefix>_graphql_rq_total`. */
export function createApiCounts(metrics: Metrics, prefix: string) {
  const counter = (name: string): Counter => metrics.counter(statName(prefix, name));
  return {
    total: counter('rq_total'),
    error: counter('rq_error'),
    parseJsonError: counter('rq_parse_json_error'),
    parseQueryError: counter('rq_parse_query_error'),
    invalidQueryError: counter('rq_invalid_query_error'),
    /** Cached results that are forged, moved or too old. */
    cacheRejected: counter('cache_rejected'),
    resolver: (name: string) => ({
      total: counter(`${name}.rest_resolver.total_resolutions`),
      failed: counter(`${name}.rest_resolver.failed_resolutions`),
    }),
  };
}

export type ApiCounts = ReturnType<typeof createApiCounts>;
export type ResolverCounts = ReturnType<ApiCounts['resolver']>;

function statName(prefix: string, name: string): StatName {
  const path = `${prefix}.graphql.${name}`;
  return { path, metric: `envoy_${path}`.replaceAll(/[^a-zA-Z0-9_]/g, '_') };
}
