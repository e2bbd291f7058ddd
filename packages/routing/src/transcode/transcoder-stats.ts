import { httpStat, type Counter, type Metrics } from '@edge-gateway/core';

const NAMES = { transcoded: 'transcoded', passed: 'passed_through', rejected: 'rejected' } as const;

/** The statistics of transcoders. */
export type TranscoderStats = Readonly<Record<keyof typeof NAMES, Counter>>;

export function createTranscoderStats(metrics: Metrics): TranscoderStats {
  const entries = Object.entries(NAMES).map(([key, name]) => {
    return [key, metrics.counter(httpStat(`grpc_json_transcoder.${name}`))];
  });
  return Object.fromEntries(entries) as TranscoderStats;
}
