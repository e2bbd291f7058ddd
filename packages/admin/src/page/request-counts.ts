import type { Histogram, Metrics } from '@edge-gateway/core';

/** Requests since the start of the process, or of a time span. */
export interface Counts {
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly times: Pick<Histogram, 'count' | 'buckets' | 'bounds'>;
  /** Sum of their durations in microseconds. */
  readonly timeUs: number;
}

/** The requests of a process. Only the total and upstreams have times, and only routes the sum of theirs. */
export interface RequestCounts {
  readonly total: Counts;
  readonly upstreams: ReadonlyMap<string, Counts>;
  /** By address. */
  readonly listeners: ReadonlyMap<string, Counts>;
  /** By name of the route. */
  readonly routes: ReadonlyMap<string, Counts>;
}

const CLUSTER = 'envoy_cluster_name';
const NO_TIMES = { count: 0, buckets: [], bounds: [] };
export const NO_REQUESTS: Counts = { requests: 0, clientErrors: 0, serverErrors: 0, times: NO_TIMES, timeUs: 0 };

/** Returns the requests between two counts; a counter that decreased was reset. */
export function countsBetween(from: Counts = NO_REQUESTS, to: Counts): Counts {
  const since = (name: Exclude<keyof Counts, 'times'>): number =>
    to[name] < from[name] ? to[name] : to[name] - from[name];
  return {
    requests: since('requests'),
    clientErrors: since('clientErrors'),
    serverErrors: since('serverErrors'),
    times: timesBetween(from.times, to.times),
    timeUs: since('timeUs'),
  };
}

/** Returns the requests of two time spans. */
export function sumOfCounts(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    clientErrors: a.clientErrors + b.clientErrors,
    serverErrors: a.serverErrors + b.serverErrors,
    times: {
      count: a.times.count + b.times.count,
      bounds: b.times.bounds.length > 0 ? b.times.bounds : a.times.bounds,
      buckets: Array.from(
        { length: Math.max(a.times.buckets.length, b.times.buckets.length) },
        (_, i) => (a.times.buckets[i] ?? 0) + (b.times.buckets[i] ?? 0),
      ),
    },
    timeUs: a.timeUs + b.timeUs,
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

/** Returns the current counts. */
export function countsIn(metrics: Metrics): RequestCounts {
  return {
    total: {
      requests: sumOf(metrics, 'envoy_http_downstream_rq_total'),
      clientErrors: classOf(metrics, 'envoy_http_downstream_rq_xx', '4'),
      serverErrors: classOf(metrics, 'envoy_http_downstream_rq_xx', '5'),
      times: histogramOf(metrics, 'envoy_http_downstream_rq_time'),
      timeUs: 0,
    },
    upstreams: upstreamsIn(metrics),
    listeners: listenersIn(metrics),
    routes: routesIn(metrics),
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

function routesIn(metrics: Metrics): ReadonlyMap<string, Counts> {
  const found = countsBy('envoy_route', namesOf('envoy_vhost_route_downstream_rq'), metrics);
  for (const { name, type, stat } of metrics.families().get('envoy_vhost_route_downstream_rq_time_us') ?? []) {
    const counts = found.get(name.labels?.['envoy_route'] ?? '');
    if (counts && type === 'counter') counts.timeUs = stat.value;
  }
  return found;
}

/** Statistics write the colons of an address as underscores. */
function listenersIn(metrics: Metrics): ReadonlyMap<string, Counts> {
  const found = countsBy('envoy_listener_address', namesOf('envoy_listener_http_downstream_rq'), metrics);
  return new Map(Array.from(found, ([label, counts]) => [label.replaceAll('_', ':'), counts]));
}

const namesOf = (metric: string) => ({ total: `${metric}_completed`, xx: `${metric}_xx` });

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
    const counts = { ...NO_REQUESTS, requests: stat.value };
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

/** Returns the sum of the statistics of a family. */
export function sumOf(metrics: Metrics, family: string): number {
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
