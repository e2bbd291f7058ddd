import type { Metrics, ReportedRequests, ReportedUpstream, TrafficReport } from '@edge-gateway/core';
import { membershipsOf } from '../page/sections/upstreams.ts';
import { createTraffic, type Rates } from '../page/traffic.ts';

/** Longest lists of a report: of thousands of upstreams, an operator needs the broken and the busy ones. */
const MAX_LISTENERS = 20;
const MAX_UPSTREAMS = 100;

/** Options of {@link createTrafficReports}. */
export interface TrafficReportOptions {
  readonly metrics: Metrics;
  /** Updates statistics of other processes. */
  readonly refresh?: (() => Promise<void>) | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Creates a function that returns what a data plane reports to its control plane: its requests and the health of its endpoints over the last samples.
 * Each call takes a sample; the first one returns `undefined`.
 */
export function createTrafficReports({
  metrics,
  refresh,
  now,
}: TrafficReportOptions): () => Promise<TrafficReport | undefined> {
  const traffic = createTraffic(metrics, refresh, now);
  return async () => {
    await traffic.sample();
    const [seconds, total] = [traffic.seconds(), traffic.total()];
    if (seconds === undefined || !total) return undefined;
    const listeners = Array.from(traffic.listeners(), ([address, rates]) => requestsOf(address, rates, seconds));
    return {
      seconds,
      total: requestsOf('', total, seconds),
      listeners: listeners.sort(byRequests).slice(0, MAX_LISTENERS),
      upstreams: upstreamsOf(seconds),
    };
  };

  function upstreamsOf(seconds: number): readonly ReportedUpstream[] {
    const memberships = membershipsOf(metrics);
    const busy = new Set(traffic.upstreams());
    const unhealthy = [...memberships].flatMap(([name, { healthy, total }]) => (healthy < total ? [name] : []));
    const reported = [...new Set([...unhealthy, ...busy])].map((name): ReportedUpstream => {
      const { healthy, total } = memberships.get(name) ?? { healthy: 0, total: 0 };
      const rates = traffic.upstream(name) ?? NO_REQUESTS;
      return { ...requestsOf(name, rates, seconds), healthy, unhealthy: Math.max(0, total - healthy) };
    });
    const isBroken = (each: ReportedUpstream): number => Number(each.unhealthy > 0);
    return reported.sort((a, b) => isBroken(b) - isBroken(a) || byRequests(a, b)).slice(0, MAX_UPSTREAMS);
  }
}

const NO_REQUESTS: Rates = { requests: 0, clientErrors: 0, serverErrors: 0, p50: undefined, p99: undefined };

function byRequests(a: ReportedRequests, b: ReportedRequests): number {
  return b.requests - a.requests || (a.name < b.name ? -1 : 1);
}

/** Returns the counts of a time span from its rates. */
function requestsOf(name: string, { p50, p99, ...rates }: Rates, seconds: number): ReportedRequests {
  return {
    name,
    requests: Math.round(rates.requests * seconds),
    clientErrors: Math.round(rates.clientErrors * seconds),
    serverErrors: Math.round(rates.serverErrors * seconds),
    ...(p50 !== undefined && { p50 }),
    ...(p99 !== undefined && { p99 }),
  };
}
