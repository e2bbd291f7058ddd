import type { Unit } from '../rules/limit.ts';

/** `RateLimitUnit` and `RateLimitResponse.RateLimit.Unit` on the wire. */
export const UNIT_NUMBERS: Readonly<Record<Unit, number>> = {
  SECOND: 1,
  MINUTE: 2,
  HOUR: 3,
  DAY: 4,
  MONTH: 5,
  YEAR: 6,
  WEEK: 7,
};

const BY_NUMBER = new Map(Object.entries(UNIT_NUMBERS).map(([unit, number]) => [number, unit as Unit]));

/** Returns the unit with this number; `undefined` if there is none. */
export function unitOfNumber(number: number): Unit | undefined {
  return BY_NUMBER.get(number);
}
