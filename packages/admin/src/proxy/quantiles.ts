import type { Histogram } from '@edge-gateway/core';

/** The quantiles that statistics show, in percent. */
export const QUANTILES = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 100] as const;

/**
 * A quantile (in percent) of all samples, interpolated within its bucket; `undefined` without samples.
 * Samples above the last bound count as the last bound.
 */
export function quantile({ count, buckets, bounds }: Histogram, percent: number): number | undefined {
  if (count === 0) return undefined;
  const rank = Math.max((percent / 100) * count, Number.MIN_VALUE);
  const i = buckets.findIndex((cumulative) => cumulative >= rank);
  if (i < 0) return bounds.at(-1)!;
  const below = i === 0 ? 0 : buckets[i - 1]!;
  const from = i === 0 ? 0 : bounds[i - 1]!;
  const share = (rank - below) / (buckets[i]! - below);
  return Number((from + share * (bounds[i]! - from)).toPrecision(6));
}

/** Samples in each bucket alone, the last one above all bounds. */
export function disjoint({ count, buckets }: Histogram): number[] {
  return [...buckets, count].map((cumulative, i) => cumulative - (i === 0 ? 0 : buckets[i - 1]!));
}
