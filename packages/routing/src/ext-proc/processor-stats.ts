import { httpStat, type Counter, type Metrics } from '@edge-gateway/core';

const NAMES = {
  started: 'streams_started',
  sent: 'stream_msgs_sent',
  received: 'stream_msgs_received',
  closed: 'streams_closed',
  failed: 'streams_failed',
  allowed: 'failure_mode_allowed',
  timeouts: 'message_timeouts',
  rejected: 'rejected_header_mutations',
} as const;

/** The statistics of external processing. */
export type ProcessorStats = Readonly<Record<keyof typeof NAMES, Counter>>;

/** Returns the statistics with a prefix of the block, if it has one. */
export function createProcessorStats(metrics: Metrics, prefix: string): ProcessorStats {
  const path = prefix === '' ? 'ext_proc' : `ext_proc.${prefix}`;
  const entries = Object.entries(NAMES).map(([key, name]) => {
    const { labels, metric } = httpStat(`ext_proc.${name}`);
    return [
      key,
      metrics.counter({
        path: `http.http.${path}.${name}`,
        metric,
        labels: { ...labels, ...(prefix && { stat_prefix: prefix }) },
      }),
    ];
  });
  return Object.fromEntries(entries) as ProcessorStats;
}
