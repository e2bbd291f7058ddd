import type { Histogram } from '@edge-gateway/core';

/** The samples of a histogram, or of a part of its time. */
export type Samples = Pick<Histogram, 'count' | 'buckets' | 'bounds'>;

/**
 * Returns a quantile (in percent) of samples, interpolated within its bucket; `undefined` without samples.
 * Samples above the last bound count as the last bound.
 */
export function quantile({ count, buckets, bounds }: Samples, percent: number): number | undefined {
  if (count === 0) return undefined;
  const rank = Math.max((percent / 100) * count, Number.MIN_VALUE);
  const i = buckets.findIndex((cumulative) => cumulative >= rank);
  if (i < 0) return bounds.at(-1)!;
  const [below, from] = [buckets[i - 1] ?? 0, bounds[i - 1] ?? 0];
  const share = (rank - below) / (buckets[i]! - below);
  return Number((from + share * (bounds[i]! - from)).toPrecision(6));
}
