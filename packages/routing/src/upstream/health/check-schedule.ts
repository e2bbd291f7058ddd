import { delayOf } from '@edge-gateway/core';
import type { HealthCheck } from './health-spec.ts';
import type { Transition } from './health-state.ts';

const NO_TRAFFIC_INTERVAL = '60s';

/** The result of a check, as far as the next one depends on it. */
export interface ScheduledAfter {
  readonly passed: boolean;
  readonly transition: Transition;
  /** False while the upstream never had a connection of a request. */
  readonly hasTraffic: boolean;
}

/** When checks start, in milliseconds. */
export interface CheckSchedule {
  /** Returns the delay of the first check. */
  first(): number;
  /** Returns the delay between a check and the next. */
  next(after: ScheduledAfter): number;
}

/** Compiles the intervals and jitters of a health check. `random` returns numbers from 0 up to 1. */
export function compileSchedule(check: HealthCheck, random: () => number = Math.random): CheckSchedule {
  const interval = delayOf(check.interval ?? NO_TRAFFIC_INTERVAL);
  const noTraffic = delayOf(check.noTrafficInterval ?? NO_TRAFFIC_INTERVAL);
  const unhealthy = delayOf(check.unhealthyInterval) ?? interval;
  const unhealthyEdge = delayOf(check.unhealthyEdgeInterval) ?? unhealthy;
  const healthyEdge = delayOf(check.healthyEdgeInterval) ?? interval;
  const jitter = delayOf(check.intervalJitter) ?? 0;
  const share = (check.intervalJitterPercent ?? 0) / 100;
  const initialJitter = delayOf(check.initialJitter) ?? 0;

  function base({ passed, transition, hasTraffic }: ScheduledAfter): number {
    if (!hasTraffic) return noTraffic;
    if (passed) return transition === 'pending' ? healthyEdge : interval;
    return transition === 'pending' ? unhealthyEdge : unhealthy;
  }

  return {
    first: () => bounded(random() * initialJitter, 0),
    next(after) {
      const delay = base(after);
      return bounded(delay + random() * delay * share + random() * jitter, 1);
    },
  };
}

function bounded(delayMs: number, least: number): number {
  return Math.max(Math.floor(delayMs), least);
}
