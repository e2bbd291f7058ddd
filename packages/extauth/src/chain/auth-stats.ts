import { httpStat, type Counter, type Metrics } from '@edge-gateway/core';

const NAMES = ['ok', 'denied', 'error', 'failure_mode_allowed', 'disabled'] as const;
type Outcome = (typeof NAMES)[number];

/** Counts outcomes of external auth. */
export interface AuthStats {
  /** `cluster` is that of the route; empty if it has none. */
  count(outcome: Outcome, cluster: string): void;
}

/** Creates the statistics of external auth with the prefix of the settings; empty is none. */
export function createAuthStats(metrics: Metrics, prefix: string): AuthStats {
  const path = prefix === '' ? 'ext_authz' : `ext_authz.${prefix}`;
  const extra: Readonly<Record<string, string>> = prefix === '' ? {} : { stat_prefix: prefix };
  const ofFilter = new Map(NAMES.map((name) => [name, filterCounter(name)]));
  const ofClusters = new Map<string, Counter>();

  function filterCounter(name: Outcome): Counter {
    const { metric, labels } = httpStat(`ext_authz.${name}`);
    return metrics.counter({ path: `http.http.${path}.${name}`, metric, labels: { ...labels, ...extra } });
  }

  function clusterCounter(name: Outcome, cluster: string): Counter {
    const key = `${name} ${cluster}`;
    let counter = ofClusters.get(key);
    if (!counter) {
      const labels = { envoy_cluster_name: cluster, ...extra };
      const metric = `envoy_cluster_ext_authz_${name}`;
      ofClusters.set(key, (counter = metrics.counter({ path: `cluster.${cluster}.${path}.${name}`, metric, labels })));
    }
    return counter;
  }

  return {
    count(outcome, cluster) {
      ofFilter.get(outcome)!.value++;
      if (cluster !== '') clusterCounter(outcome, cluster).value++;
    },
  };
}
