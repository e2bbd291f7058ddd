import type { Counter, Metrics } from '@edge-gateway/core';

/** How a request to a route with limits ended. */
export type LimitResult = 'ok' | 'over_limit' | 'error' | 'failure_mode_allowed';

/** Counts the outcomes of requests by the cluster of their route (reference: security-graphql 7.4). */
export interface RouteStats {
  /** `cluster` is empty if the route has none. */
  count(result: LimitResult, cluster: string): void;
}

/** Creates the statistics of routes; those of one cluster are created at its first request. */
export function createRouteStats(metrics: Metrics): RouteStats {
  const counters: Readonly<Record<LimitResult, Map<string, Counter>>> = {
    ok: new Map(),
    over_limit: new Map(),
    error: new Map(),
    failure_mode_allowed: new Map(),
  };
  return {
    count(result, cluster) {
      if (cluster === '') return;
      const known = counters[result];
      let counter = known.get(cluster);
      if (!counter) {
        counter = metrics.counter({
          path: `cluster.${cluster}.ratelimit.${result}`,
          metric: `envoy_cluster_ratelimit_${result}`,
          labels: { envoy_cluster_name: cluster },
        });
        known.set(cluster, counter);
      }
      counter.value++;
    },
  };
}
