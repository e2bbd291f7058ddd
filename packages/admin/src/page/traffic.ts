import type { Histogram, Metrics } from '@edge-gateway/core';
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

interface Counts {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly times: Pick<Histogram, 'count' | 'buckets' | 'bounds'>;
}

interface Sample {
  readonly at: number;
  readonly total: Counts;
  readonly upstreams: ReadonlyMap<string, Counts>;
  readonly listeners: ReadonlyMap<string, Counts>;
}

const CLUSTER = 'envoy_cluster_name';
const NO_TIMES = { count: 0, buckets: [], bounds: [] };

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
    if (now() - at < MIN_INTERVAL_MS) return;
    await refresh?.();
    samples = samples.filter((each) => now() - each.at < MAX_AGE_MS).slice(1 - KEPT);
    // Only the newest need the counts of upstreams.
    const old = samples.slice(0, -RATE_SPAN).map((each) => ({ ...each, upstreams: new Map<string, Counts>() }));
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

/** A counter that decreased was reset. */
function ratesOf(from: Counts | undefined, to: Counts, seconds: number): Rates {
  const rate = (name: 'requests' | 'clientErrors' | 'serverErrors'): number => {
    const difference = to[name] - (from?.[name] ?? 0);
    return (difference < 0 ? to[name] : difference) / seconds;
  };
  const times = timesBetween(from?.times ?? NO_TIMES, to.times);
  return {
    requests: rate('requests'),
    clientErrors: rate('clientErrors'),
    serverErrors: rate('serverErrors'),
    p50: quantile(times, 50),
    p99: quantile(times, 99),
  };
}

function timesBetween(from: Counts['times'], to: Counts['times']): Counts['times'] {
  if (to.count < from.count) return to;
  return {
    count: to.count - from.count,
    bounds: to.bounds,
    buckets: to.buckets.map((each, i) => each - (from.buckets[i] ?? 0)),
  };
}

function countsIn(metrics: Metrics): Omit<Sample, 'at'> {
  return {
    total: {
      requests: sumOf(metrics, 'envoy_http_downstream_rq_total'),
      clientErrors: classOf(metrics, 'envoy_http_downstream_rq_xx', '4'),
      serverErrors: classOf(metrics, 'envoy_http_downstream_rq_xx', '5'),
      times: histogramOf(metrics, 'envoy_http_downstream_rq_time'),
    },
    upstreams: upstreamsIn(metrics),
    listeners: listenersIn(metrics),
  };
}

function upstreamsIn(metrics: Metrics): ReadonlyMap<string, Counts> {
  const found = countsBy(
    CLUSTER,
    { total: 'envoy_cluster_upstream_rq_total', xx: 'envoy_cluster_upstream_rq_xx' },
    metrics,
  );
  for (const { name, type, stat } of metrics.families().get('envoy_cluster_upstream_rq_time') ?? []) {
    const counts = found.get(name.labels?.[CLUSTER] ?? '');
    if (counts && type === 'histogram') counts.times = copyOf(stat);
  }
  return found;
}

/** Statistics write the colons of an address as underscores. */
function listenersIn(metrics: Metrics): ReadonlyMap<string, Counts> {
  const [total, xx] = ['envoy_listener_http_downstream_rq_completed', 'envoy_listener_http_downstream_rq_xx'];
  const found = countsBy('envoy_listener_address', { total, xx }, metrics);
  return new Map(Array.from(found, ([label, counts]) => [label.replaceAll('_', ':'), counts]));
}

type MutableCounts = { -readonly [Name in keyof Counts]: Counts[Name] };

/** Returns the counts of two families by the value of a label, without those that had no requests. */
function countsBy(
  label: string,
  { total, xx }: { readonly total: string; readonly xx: string },
  metrics: Metrics,
): Map<string, MutableCounts> {
  const found = new Map<string, MutableCounts>();
  const families = metrics.families();
  for (const { name, type, stat } of families.get(total) ?? []) {
    if (type === 'histogram' || stat.value === 0) continue;
    const counts = { requests: stat.value, clientErrors: 0, serverErrors: 0, times: NO_TIMES };
    found.set(name.labels?.[label] ?? '', counts);
  }
  for (const { name, type, stat } of families.get(xx) ?? []) {
    const counts = found.get(name.labels?.[label] ?? '');
    if (!counts || type === 'histogram') continue;
    const kind = name.labels?.['envoy_response_code_class'];
    if (kind === '4') counts.clientErrors = stat.value;
    if (kind === '5') counts.serverErrors = stat.value;
  }
  return found;
}

function sumOf(metrics: Metrics, family: string): number {
  let sum = 0;
  for (const { type, stat } of metrics.families().get(family) ?? []) if (type !== 'histogram') sum += stat.value;
  return sum;
}

function classOf(metrics: Metrics, family: string, kind: string): number {
  let sum = 0;
  for (const { name, type, stat } of metrics.families().get(family) ?? [])
    if (type !== 'histogram' && name.labels?.['envoy_response_code_class'] === kind) sum += stat.value;
  return sum;
}

function histogramOf(metrics: Metrics, family: string): Counts['times'] {
  for (const { type, stat } of metrics.families().get(family) ?? []) if (type === 'histogram') return copyOf(stat);
  return NO_TIMES;
}

function copyOf({ count, buckets, bounds }: Histogram): Counts['times'] {
  return { count, buckets: [...buckets], bounds };
}
