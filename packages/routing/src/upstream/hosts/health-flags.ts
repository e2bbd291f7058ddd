import type { HealthFlagName } from '@edge-gateway/core';

/** Bits of the health of a host; several can be set. */
export const HEALTH_FLAGS = {
  /** Active health checks failed. */
  failedActiveHc: 1,
  /** Outlier detection ejected it. */
  failedOutlierCheck: 2,
  /** Active health checks report it as degraded: it is used if the healthy hosts are too few. */
  degraded: 4,
  /** It was removed from the upstream, and is used until a health check fails. */
  pendingDynamicRemoval: 8,
  /** No health check has completed yet. */
  pendingActiveHc: 16,
  /** Excluded by `x-envoy-immediate-health-check-fail` in one of its responses. */
  excludedByHost: 32,
  /** The last health check reached its timeout. */
  activeHcTimeout: 64,
} as const;

export type HealthFlag = keyof typeof HEALTH_FLAGS;

/** A host with one of these is not used, except in panic. */
export const UNHEALTHY = HEALTH_FLAGS.failedActiveHc | HEALTH_FLAGS.failedOutlierCheck;

/** A host with one of these does not count as a host of its upstream at all. */
export const EXCLUDED = HEALTH_FLAGS.pendingActiveHc | HEALTH_FLAGS.excludedByHost;

const NAMES: Readonly<Record<HealthFlag, HealthFlagName>> = {
  failedActiveHc: 'failed_active_hc',
  failedOutlierCheck: 'failed_outlier_check',
  degraded: 'degraded_active_hc',
  pendingDynamicRemoval: 'pending_dynamic_removal',
  pendingActiveHc: 'pending_active_hc',
  excludedByHost: 'excluded_via_immediate_hc_fail',
  activeHcTimeout: 'active_hc_timeout',
};

/** Returns the bits of these names. */
export function flagsOfNames(names: readonly HealthFlagName[]): number {
  const keys = Object.keys(NAMES) as HealthFlag[];
  return keys.reduce((flags, key) => (names.includes(NAMES[key]) ? flags | HEALTH_FLAGS[key] : flags), 0);
}

/** Returns the names of the bits that are set. */
export function namesOfFlags(flags: number): HealthFlagName[] {
  const keys = Object.keys(NAMES) as HealthFlag[];
  return keys.filter((key) => (flags & HEALTH_FLAGS[key]) !== 0).map((key) => NAMES[key]);
}
