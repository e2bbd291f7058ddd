import { httpStat, isBelow, type Metrics } from '@edge-gateway/core';
import type { NamedStat, StatNumbers, StatsReport } from './messages.ts';

/** Sums of the statistics of all workers, in the metrics of the parent. */
export interface StatSums {
  /** Adds what changed in a worker. */
  add(worker: number, report: StatsReport): void;
  /** Removes the gauges of a worker that has ended. What it counted stays. */
  remove(worker: number): void;
}

interface Known {
  readonly stat: NamedStat;
  last: StatNumbers;
}

/** Gauges that every worker has for the same things: the largest is shown, not the sum. */
const OF_THE_SAME = /\.(?:membership_\w+|ejections_active|health_check\.healthy|\w+_open)$/;

/** Shown for each worker, to see how they share the load. */
const REQUESTS = httpStat('downstream_rq_total').path;

/** Creates the sums. Numbers of the parent itself are part of them. */
export function createStatSums(metrics: Metrics): StatSums {
  const workers = new Map<number, Map<number, Known>>();
  /** Values of gauges of the same things, by path and worker. */
  const same = new Map<string, Map<number, number>>();

  function setLargest(path: string, worker: number, value: number | undefined): number {
    const values = same.get(path) ?? new Map<number, number>();
    same.set(path, values);
    if (value === undefined) values.delete(worker);
    else values.set(worker, value);
    return Math.max(0, ...values.values());
  }

  function update(worker: number, known: Known, now: StatNumbers | undefined): void {
    const { type, name, bounds } = known.stat;
    if (type === 'histogram') addSamples(metrics.histogram(name, bounds), known.last, now ?? known.last);
    else if (type === 'counter')
      metrics.counter(name).value += ((now ?? known.last) as number) - (known.last as number);
    else if (OF_THE_SAME.test(name.path))
      metrics.gauge(name).value = setLargest(name.path, worker, now as number | undefined);
    else metrics.gauge(name).value += ((now ?? 0) as number) - (known.last as number);
    if (now !== undefined) known.last = now;
  }

  function forget(stats: Map<number, Known>, removed: readonly string[]): void {
    if (removed.length === 0) return;
    // One pass for all of them: thousands of upstreams may go at once.
    const prefixes = new Set(removed);
    const others = removed.filter((prefix) => !prefix.endsWith('.'));
    const isGone = (path: string): boolean =>
      isBelow(path, prefixes) || others.some((prefix) => path.startsWith(prefix));
    for (const [id, { stat }] of stats) if (isGone(stat.name.path)) stats.delete(id);
    for (const path of same.keys()) if (isGone(path)) same.delete(path);
    for (const prefix of prefixes) metrics.remove(prefix);
  }

  function showWorker(
    worker: number,
    stats: ReadonlyMap<number, Known>,
    { residentBytes, cpuSeconds }: StatsReport['usage'],
  ): void {
    const labels = { worker: String(worker) };
    const at = (name: string) => ({ path: `workers.${worker}.${name}`, metric: `workers_${name}`, labels });
    metrics.gauge(at('memory_physical_size')).value = residentBytes;
    metrics.counter(at('cpu_seconds_total')).value = cpuSeconds;
    for (const { stat, last } of stats.values())
      if (stat.name.path === REQUESTS) metrics.counter(at('downstream_rq_total')).value = last as number;
  }

  return {
    add(worker, { removed, named, values, usage }) {
      const stats = workers.get(worker) ?? new Map<number, Known>();
      workers.set(worker, stats);
      forget(stats, removed);
      for (const stat of named) {
        const known: Known = { stat, last: stat.type === 'histogram' ? [] : 0 };
        stats.set(stat.id, known);
        // Zeros are statistics too.
        update(worker, known, known.last);
      }
      for (const [id, numbers] of values) {
        const known = stats.get(id);
        if (known) update(worker, known, numbers);
      }
      showWorker(worker, stats, usage);
    },
    remove(worker) {
      for (const known of workers.get(worker)?.values() ?? [])
        if (known.stat.type === 'gauge') update(worker, known, undefined);
      workers.delete(worker);
      metrics.remove(`workers.${worker}.`);
    },
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function addSamples(histogram: Mutable<ReturnType<Metrics['histogram']>>, before: StatNumbers, now: StatNumbers): void {
  const [last, next] = [before as readonly number[], now as readonly number[]];
  const added = (i: number): number => (next[i] ?? 0) - (last[i] ?? 0);
  histogram.count += added(0);
  histogram.sum += added(1);
  const buckets = histogram.buckets as number[];
  for (let i = 0; i < buckets.length; i++) buckets[i]! += added(i + 2);
}
