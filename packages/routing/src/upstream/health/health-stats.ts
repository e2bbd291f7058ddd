import type { Counter, Gauge, Metrics, StatName } from '@edge-gateway/core';
import { statsOf } from '../stats.ts';

const CHECKS = {
  attempt: 'attempt',
  success: 'success',
  failure: 'failure',
  passiveFailure: 'passive_failure',
  networkFailure: 'network_failure',
  verifyCluster: 'verify_cluster',
} as const;

const EJECTIONS = {
  enforcedTotal: 'ejections_enforced_total',
  overflow: 'ejections_overflow',
  enforcedConsecutive5xx: 'ejections_enforced_consecutive_5xx',
  detectedConsecutive5xx: 'ejections_detected_consecutive_5xx',
  enforcedGatewayFailure: 'ejections_enforced_consecutive_gateway_failure',
  detectedGatewayFailure: 'ejections_detected_consecutive_gateway_failure',
  enforcedSuccessRate: 'ejections_enforced_success_rate',
  detectedSuccessRate: 'ejections_detected_success_rate',
  enforcedLocalOriginFailure: 'ejections_enforced_consecutive_local_origin_failure',
  detectedLocalOriginFailure: 'ejections_detected_consecutive_local_origin_failure',
  enforcedLocalOriginSuccessRate: 'ejections_enforced_local_origin_success_rate',
  detectedLocalOriginSuccessRate: 'ejections_detected_local_origin_success_rate',
} as const;

/** `cluster.<name>.health_check.*`. */
export interface CheckStats extends Readonly<Record<keyof typeof CHECKS, Counter>> {
  readonly healthy: Gauge;
}

/** `cluster.<name>.outlier_detection.*`. */
export interface OutlierStats extends Readonly<Record<keyof typeof EJECTIONS, Counter>> {
  readonly active: Gauge;
}

const named =
  (cluster: string, group: string) =>
  (name: string): StatName => ({
    path: `cluster.${cluster}.${group}.${name}`,
    metric: `envoy_cluster_${group}_${name}`,
    labels: { envoy_cluster_name: cluster },
  });

/** Returns the statistics of active health checks; each call for a cluster returns the same numbers. */
export function createCheckStats(metrics: Metrics, cluster: string): CheckStats {
  const name = named(cluster, 'health_check');
  return { ...statsOf(CHECKS, (each) => metrics.counter(name(each))), healthy: metrics.gauge(name('healthy')) };
}

/** Returns the statistics of outlier detection; each call for a cluster returns the same numbers. */
export function createOutlierStats(metrics: Metrics, cluster: string): OutlierStats {
  const name = named(cluster, 'outlier_detection');
  return {
    ...statsOf(EJECTIONS, (each) => metrics.counter(name(each))),
    active: metrics.gauge(name('ejections_active')),
  };
}
