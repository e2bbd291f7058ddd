import type { Csrf } from '@edge-gateway/core/schema';

type Fraction = NonNullable<Csrf['filterEnabled']>;

const DENOMINATORS = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 } as const;

/** Returns the share of requests from 0 to 1; 0 if it is not set. */
export function shareOf(fraction: Fraction | undefined): number {
  const { numerator = 0, denominator = 'HUNDRED' } = fraction?.defaultValue ?? {};
  return numerator / DENOMINATORS[denominator];
}

/** Returns true for this share of calls, at random. */
export function isChosen(share: number): boolean {
  return share >= 1 || (share > 0 && Math.random() < share);
}
