const DENOMINATORS = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 } as const;

/** A share as it is written in resources. */
export interface Fraction {
  /** Default 0. */
  readonly numerator?: number;
  /** Default `HUNDRED`. */
  readonly denominator?: keyof typeof DENOMINATORS;
}

/**
 * Returns a fraction as a number: 0 is never, 1 is always. Default 0.
 *
 * @example
 * shareOf({ numerator: 5 }); // 0.05
 * shareOf({ numerator: 5, denominator: 'MILLION' }); // 0.000005
 */
export function shareOf({ numerator = 0, denominator = 'HUNDRED' }: Fraction = {}): number {
  return numerator / DENOMINATORS[denominator];
}
