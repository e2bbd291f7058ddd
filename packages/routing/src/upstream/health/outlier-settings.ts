import { parseDuration } from '@edge-gateway/core';
import type { OutlierDetection } from './health-spec.ts';

/** Longest ejection, unless the base ejection time is longer, in milliseconds. */
const MAX_EJECTION_MS = 300_000;
const DEFAULT_INTERVAL = '10s';
const DEFAULT_EJECTION = '30s';

/** Compiled settings of outlier detection. Percentages are from 0 to 100. */
export type OutlierSettings = Readonly<ReturnType<typeof compileOutliers>>;

/** The defaults are those of the schema. */
export function compileOutliers(block: OutlierDetection) {
  const baseEjectionMs = parseDuration(block.baseEjectionTime ?? DEFAULT_EJECTION);
  return {
    intervalMs: Math.max(Math.ceil(parseDuration(block.interval ?? DEFAULT_INTERVAL)), 1),
    baseEjectionMs,
    maxEjectionMs: Math.max(baseEjectionMs, MAX_EJECTION_MS),
    maxEjectionPercent: block.maxEjectionPercent ?? 10,
    /** True if failures of the connection are counted apart from responses. */
    split: block.splitExternalLocalOriginErrors ?? false,
    minimumHosts: block.successRateMinimumHosts ?? 5,
    requestVolume: block.successRateRequestVolume ?? 100,
    stdevFactor: (block.successRateStdevFactor ?? 1900) / 1000,
    limits: {
      consecutive5xx: block.consecutive5xx ?? 5,
      gatewayFailure: block.consecutiveGatewayFailure ?? 5,
      localOriginFailure: block.consecutiveLocalOriginFailure ?? 5,
    },
    enforcing: {
      consecutive5xx: block.enforcingConsecutive5xx ?? 100,
      gatewayFailure: block.enforcingConsecutiveGatewayFailure ?? 0,
      successRate: block.enforcingSuccessRate ?? 100,
      localOriginFailure: block.enforcingConsecutiveLocalOriginFailure ?? 100,
      localOriginSuccessRate: block.enforcingLocalOriginSuccessRate ?? 100,
    },
  } as const;
}

/** Why a host is an outlier. */
export type OutlierType = keyof OutlierSettings['enforcing'];
