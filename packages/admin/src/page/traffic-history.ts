import type { Metrics } from '@edge-gateway/core';
import { quantile } from '../http/quantile.ts';
import {
  countsBetween,
  countsIn,
  NO_REQUESTS,
  sumOfCounts,
  type Counts,
  type RequestCounts,
} from './request-counts.ts';

const MINUTE_MS = 60_000;
/** How many complete minutes are kept. */
const KEPT_MINUTES = 60;

/** Requests of a time span. */
export type Requests = Omit<Counts, 'times'>;

/** The traffic of the last hour. Latencies are in milliseconds, `undefined` without requests. */
export interface Hour {
  readonly total: Requests & { readonly p50: number | undefined; readonly p99: number | undefined };
  /** By address. */
  readonly listeners: ReadonlyMap<string, Requests>;
  /** By name of the route. */
  readonly routes: ReadonlyMap<string, Requests>;
  /** The requests of each minute, oldest first; the last one is not over. At most 61. */
  readonly minutes: readonly Requests[];
}

/** Records the traffic of the data plane in this process. */
export interface TrafficHistory {
  /** Returns the traffic of the last hour, after it brought the statistics up to date. */
  hour(): Promise<Hour>;
  /** Ends the recording. */
  close(): void;
}

/** Options of {@link recordTraffic}. */
export interface TrafficHistoryOptions {
  readonly metrics: Metrics;
  /** Updates statistics of other processes. Default: there are none. */
  readonly refresh?: (() => Promise<void>) | undefined;
}

/** Requests of one minute, without listeners and routes that had none. */
type Minute = Omit<RequestCounts, 'upstreams'>;

/**
 * Records the requests of each minute, from the statistics of the process: requests pay nothing for it.
 *
 * @example
 * const history = recordTraffic({ metrics });
 * const { total } = await history.hour();
 * history.close();
 */
export function recordTraffic({ metrics, refresh }: TrafficHistoryOptions): TrafficHistory {
  const minutes: Minute[] = [];
  let last = countsIn(metrics);

  /** Statistics of workers that do not respond are missing for this minute, and part of a later one. */
  const update = async (): Promise<void> => refresh?.().catch(() => {});

  async function record(): Promise<void> {
    await update();
    const now = countsIn(metrics);
    minutes.push(minuteBetween(last, now));
    if (minutes.length > KEPT_MINUTES) minutes.shift();
    last = now;
  }
  const timer = setInterval(() => void record(), MINUTE_MS).unref();

  return {
    async hour() {
      await update();
      return hourOf([...minutes, minuteBetween(last, countsIn(metrics))]);
    },
    close: () => clearInterval(timer),
  };
}

function minuteBetween(from: RequestCounts, to: RequestCounts): Minute {
  return {
    total: countsBetween(from.total, to.total),
    listeners: changesBetween(from.listeners, to.listeners),
    routes: changesBetween(from.routes, to.routes),
  };
}

function changesBetween(from: ReadonlyMap<string, Counts>, to: ReadonlyMap<string, Counts>): Map<string, Counts> {
  const changes = Array.from(to, ([name, counts]) => [name, countsBetween(from.get(name), counts)] as const);
  return new Map(changes.filter(([, { requests }]) => requests > 0));
}

function hourOf(minutes: readonly Minute[]): Hour {
  const { times, ...total } = minutes.map((each) => each.total).reduce(sumOfCounts, NO_REQUESTS);
  return {
    total: { ...total, p50: quantile(times, 50), p99: quantile(times, 99) },
    listeners: sumsOf(minutes.map(({ listeners }) => listeners)),
    routes: sumsOf(minutes.map(({ routes }) => routes)),
    minutes: minutes.map((each) => each.total),
  };
}

function sumsOf(parts: readonly ReadonlyMap<string, Counts>[]): ReadonlyMap<string, Requests> {
  const sums = new Map<string, Counts>();
  for (const part of parts)
    for (const [name, counts] of part) sums.set(name, sumOfCounts(sums.get(name) ?? NO_REQUESTS, counts));
  return sums;
}
