import type { Metrics } from '@edge-gateway/core';
import { countsBetween, countsIn, sumOf, type Counts, type RequestCounts } from './request-counts.ts';
import { quantile } from '../http/quantile.ts';

/** Shortest time between two samples. */
const MIN_INTERVAL_MS = 900;
/** How many samples are kept: two minutes if one is taken every two seconds. */
const KEPT = 61;
/** Number of samples over which rates are computed. */
const RATE_SPAN = 5;
/** Samples older than this are ignored. */
const MAX_AGE_MS = 150_000;

/** Requests of a time span. Rates are per second; latencies are in milliseconds, `undefined` without requests. */
export interface Rates {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly p50: number | undefined;
  readonly p99: number | undefined;
}

/** Live traffic of the data plane in this process. */
export interface Traffic {
  /** Samples the counters, unless the last sample is recent. */
  sample(): Promise<void>;
  /** All requests of the last seconds; `undefined` before there are two samples. */
  total(): Rates | undefined;
  /** The requests to an upstream; `undefined` if it had none yet. */
  upstream(name: string): Rates | undefined;
  /** The upstreams that had requests. */
  upstreams(): readonly string[];
  /** The requests by address of the listener, without latencies. */
  listeners(): ReadonlyMap<string, Rates>;
  /** Length of the time span of the rates in seconds; `undefined` before there are two samples. */
  seconds(): number | undefined;
  /** Requests per second, oldest first, at most 60. */
  history(): readonly number[];
  /** Requests in progress. */
  active(): number;
}

interface Sample extends RequestCounts {
  readonly at: number;
}

const NO_COUNTS: ReadonlyMap<string, Counts> = new Map();

/**
 * Creates the traffic of a process from its statistics, which are read on demand. `refresh` updates statistics of other processes first.
 */
export function createTraffic(
  metrics: Metrics,
  refresh: (() => Promise<void>) | undefined,
  now: () => number = Date.now,
): Traffic {
  let samples: Sample[] = [];

  async function sample(): Promise<void> {
    const { at = -Infinity } = samples.at(-1) ?? {};
    // The clock may have been set back since.
    if (Math.abs(now() - at) < MIN_INTERVAL_MS) return;
    await refresh?.();
    samples = samples.filter((each) => now() - each.at < MAX_AGE_MS).slice(1 - KEPT);
    // Only the newest need the counts of upstreams.
    const old = samples.slice(0, -RATE_SPAN).map((each) => ({ ...each, upstreams: NO_COUNTS }));
    samples = [...old, ...samples.slice(-RATE_SPAN), { at: now(), ...countsIn(metrics) }];
  }

  /** Returns the first and the last sample of the time span. */
  function span(): readonly [Sample, Sample] | undefined {
    const [first, last] = [samples.at(-1 - RATE_SPAN) ?? samples[0], samples.at(-1)];
    return first && last && first !== last ? [first, last] : undefined;
  }

  function since(countsOf: (sample: Sample) => Counts | undefined): Rates | undefined {
    const [first, last] = span() ?? [];
    const counts = last && countsOf(last);
    if (!first || !last) return undefined;
    return counts && ratesOf(countsOf(first), counts, (last.at - first.at) / 1000);
  }

  return {
    sample,
    total: () => since(({ total }) => total),
    upstream: (name) => since(({ upstreams }) => upstreams.get(name)),
    upstreams: () => [...(samples.at(-1)?.upstreams.keys() ?? [])],
    listeners: () =>
      new Map(
        Array.from(samples.at(-1)?.listeners.keys() ?? []).flatMap((address) => {
          const rates = since(({ listeners }) => listeners.get(address));
          return rates ? [[address, rates] as const] : [];
        }),
      ),
    seconds() {
      const [first, last] = span() ?? [];
      return first && last && (last.at - first.at) / 1000;
    },
    history: () =>
      samples.slice(1).map(({ at, total }, i) => {
        const before = samples[i]!;
        return Math.max(0, total.requests - before.total.requests) / ((at - before.at) / 1000);
      }),
    active: () => sumOf(metrics, 'envoy_http_downstream_rq_active'),
  };
}

function ratesOf(from: Counts | undefined, to: Counts, seconds: number): Rates {
  const { requests, clientErrors, serverErrors, times } = countsBetween(from, to);
  return {
    requests: requests / seconds,
    clientErrors: clientErrors / seconds,
    serverErrors: serverErrors / seconds,
    p50: quantile(times, 50),
    p99: quantile(times, 99),
  };
}
