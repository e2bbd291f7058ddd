import { createRequire } from 'node:module';
import type { Registry } from 'prom-client';
import { metricHelp } from './metric-help.ts';
import { isBelow } from './path-prefix.ts';

const require = createRequire(import.meta.url);

/** A number that only grows. Hot code does `counter.value++`. */
export interface Counter {
  value: number;
}

/** A number that can increase and decrease. */
export interface Gauge {
  value: number;
}

/** A distribution, in milliseconds unless its bounds have another unit. */
export interface Histogram {
  observe(amount: number): void;
  /** Upper bounds of the buckets, rising. */
  readonly bounds: readonly number[];
  readonly count: number;
  readonly sum: number;
  /** Samples at or below each of the bounds, cumulative, without the last (`+Inf`). */
  readonly buckets: readonly number[];
}

/** Upper bounds in milliseconds. */
export const HISTOGRAM_BUCKETS = [0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000] as const;

/** The same in seconds. */
export const SECONDS_BUCKETS: readonly number[] = HISTOGRAM_BUCKETS.map((milliseconds) => milliseconds / 1000);

/**
 * A statistic by both its names: `path` as in `/stats` (`cluster.a_gw-system.upstream_rq_total`), `metric` and `labels`
 * as in Prometheus (`envoy_cluster_upstream_rq_total{envoy_cluster_name="a_gw-system"}`).
 */
export interface StatName {
  readonly path: string;
  readonly metric: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Returns the name of a statistic of the HTTP manager: `rbac.allowed` is `http.http.rbac.allowed`. */
export function httpStat(name: string): StatName {
  const metric = `envoy_http_${name.replaceAll('.', '_')}`;
  return { path: `http.http.${name}`, metric, labels: { envoy_http_conn_manager_prefix: 'http' } };
}

/** A statistic with its name and type. */
export type Stat = { readonly name: StatName } & (
  | { readonly type: 'counter'; readonly stat: Counter }
  | { readonly type: 'gauge'; readonly stat: Gauge }
  | { readonly type: 'histogram'; readonly stat: Histogram }
);

/** The statistics of one process. Repeated calls with the same path return the same object. */
export interface Metrics {
  counter(name: StatName): Counter;
  gauge(name: StatName): Gauge;
  /** Registers a gauge whose value is computed when it is read; replaces one of the same path. */
  computed(name: StatName, read: () => number): void;
  /** `bounds` of the first call are used. Default: {@link HISTOGRAM_BUCKETS}. */
  histogram(name: StatName, bounds?: readonly number[]): Histogram;
  /** Removes every statistic whose path starts with this prefix, e.g. those of a removed upstream. */
  remove(pathPrefix: string): void;
  /** All statistics, sorted by path. */
  list(): readonly Stat[];
  /** All statistics by metric name, unsorted and not copied: cheap to iterate. */
  families(): ReadonlyMap<string, ReadonlySet<Stat>>;
  /** The Prometheus registry of the same numbers. */
  readonly registry: Registry;
}

function createHistogram(bounds: readonly number[] = HISTOGRAM_BUCKETS): Histogram {
  const buckets = new Array<number>(bounds.length).fill(0);
  const histogram = {
    count: 0,
    sum: 0,
    bounds,
    buckets,
    observe(amount: number): void {
      histogram.count++;
      histogram.sum += amount;
      for (let i = bounds.length - 1; i >= 0 && amount <= bounds[i]!; i--) buckets[i]!++;
    },
  };
  return histogram;
}

/** One sample of a statistic, as in Prometheus. */
export interface Sample {
  value: number;
  labels: Record<string, string>;
  /** Default: the metric of the statistic. */
  metricName?: string;
}

/** Returns the numbers of a statistic: one of a counter or gauge, those of the buckets, sum and count of a histogram. */
export function samplesOf({ name, type, stat }: Stat): Sample[] {
  const labels = { ...name.labels };
  if (type !== 'histogram') return [{ value: stat.value, labels }];
  const bucket = (le: string, value: number): Sample => ({
    value,
    labels: { ...labels, le },
    metricName: `${name.metric}_bucket`,
  });
  return [
    ...stat.bounds.map((bound, i) => bucket(String(bound), stat.buckets[i]!)),
    bucket('+Inf', stat.count),
    { value: stat.sum, labels, metricName: `${name.metric}_sum` },
    { value: stat.count, labels, metricName: `${name.metric}_count` },
  ];
}

/**
 * Creates the statistics of one process. Counting costs one property write; the Prometheus text is rendered on demand.
 *
 * @example
 * const metrics = createMetrics();
 * const total = metrics.counter({ path: 'http.http.downstream_rq_total', metric: 'envoy_http_downstream_rq_total' });
 * total.value++;
 */
export function createMetrics(): Metrics {
  const stats = new Map<string, Stat>();
  /** Created at its first use, because its library is large. */
  let registry: Registry | undefined;
  const families = new Map<string, Set<Stat>>();
  /** Prefixes to remove. One pass removes all of them: thousands of upstreams may go at once. */
  const removed = new Set<string>();

  function sweep(): void {
    if (removed.size === 0) return;
    for (const path of stats.keys()) if (isBelow(path, removed)) forget(path);
    removed.clear();
  }

  function register(stat: Stat): void {
    stats.set(stat.name.path, stat);
    const family = families.get(stat.name.metric) ?? new Set();
    if (family.size === 0) {
      families.set(stat.name.metric, family);
      family.add(stat);
      if (registry) addTo(registry, family);
      return;
    }
    family.add(stat);
  }

  function forget(path: string): void {
    const stat = stats.get(path);
    if (!stat) return;
    stats.delete(path);
    const family = families.get(stat.name.metric)!;
    family.delete(stat);
    if (family.size > 0) return;
    families.delete(stat.name.metric);
    registry?.removeSingleMetric(stat.name.metric);
  }

  function ask<S>(type: Stat['type'], name: StatName, create: () => S): S {
    if (removed.size > 0 && isBelow(name.path, removed)) sweep();
    const known = stats.get(name.path);
    if (known?.type === type) return known.stat as S;
    const stat = create();
    register({ name, type, stat } as unknown as Stat);
    return stat;
  }

  return {
    counter: (name) => ask('counter', name, () => ({ value: 0 })),
    gauge: (name) => ask('gauge', name, () => ({ value: 0 })),
    computed(name, read) {
      if (removed.size > 0 && isBelow(name.path, removed)) sweep();
      forget(name.path);
      register({ name, type: 'gauge', stat: Object.defineProperty({ value: 0 }, 'value', { get: read }) });
    },
    histogram: (name, bounds) => ask('histogram', name, () => createHistogram(bounds)),
    remove(pathPrefix) {
      if (!pathPrefix.endsWith('.')) {
        for (const path of stats.keys()) if (path.startsWith(pathPrefix)) forget(path);
        return;
      }
      if (removed.size === 0) queueMicrotask(sweep);
      removed.add(pathPrefix);
    },
    list() {
      sweep();
      return [...stats.values()].sort((a, b) => (a.name.path < b.name.path ? -1 : 1));
    },
    families() {
      sweep();
      return families;
    },
    get registry() {
      sweep();
      if (!registry) {
        const client = require('prom-client') as typeof import('prom-client');
        registry = new client.Registry();
        for (const family of families.values()) addTo(registry, family);
      }
      return registry;
    },
  };
}

/** Registers a metric that reads a family whenever it is rendered. The type is that of its first statistic. */
function addTo(registry: Registry, family: ReadonlySet<Stat>): void {
  const [{ name, type }] = [...family] as [Stat];
  const { metric } = name;
  const get = async (): Promise<object> => ({
    name: metric,
    help: metricHelp(metric),
    type,
    aggregator: 'sum',
    values: [...family].flatMap(samplesOf),
  });
  registry.registerMetric({ name: metric, get } as never);
}
