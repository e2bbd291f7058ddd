import { createMetrics, type Metrics, type Stat } from '@edge-gateway/core';
import type { NamedStat, StatNumbers, StatsReport } from './messages.ts';

/** The statistics of a worker, and reports of their changes. */
export interface ReportedMetrics {
  readonly metrics: Metrics;
  /** Returns the changes since the last report. */
  report(): StatsReport;
}

interface Reported {
  readonly id: number;
  /** Of a histogram the number of samples. */
  value: number;
}

/** Creates the statistics of a worker. */
export function createReportedMetrics(): ReportedMetrics {
  const own = createMetrics();
  const reported = new WeakMap<object, Reported>();
  let removed: string[] = [];
  let ids = 0;
  const metrics: Metrics = {
    ...own,
    remove(pathPrefix) {
      removed.push(pathPrefix);
      own.remove(pathPrefix);
    },
  };
  return {
    metrics,
    report() {
      const named: NamedStat[] = [];
      const values: [number, StatNumbers][] = [];
      for (const family of own.families().values()) {
        for (const stat of family) {
          const value = stat.type === 'histogram' ? stat.stat.count : stat.stat.value;
          let known = reported.get(stat.stat);
          if (!known) {
            reported.set(stat.stat, (known = { id: ++ids, value: 0 }));
            named.push(nameOf(known.id, stat));
          }
          if (value === known.value) continue;
          known.value = value;
          values.push([known.id, numbersOf(stat)]);
        }
      }
      const gone = removed;
      removed = [];
      const { user, system } = process.cpuUsage();
      const usage = { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
      return { removed: gone, named, values, usage };
    },
  };
}

function nameOf(id: number, stat: Stat): NamedStat {
  const bounds = stat.type === 'histogram' && { bounds: stat.stat.bounds };
  return { id, type: stat.type, name: stat.name, ...bounds };
}

function numbersOf(stat: Stat): StatNumbers {
  return stat.type === 'histogram' ? [stat.stat.count, stat.stat.sum, ...stat.stat.buckets] : stat.stat.value;
}
