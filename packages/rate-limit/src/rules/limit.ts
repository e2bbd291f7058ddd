import type { RateLimit } from '@edge-gateway/core/schema';
import { rateLimitError } from '../error-codes.ts';

/** How requests are counted. */
export type Algorithm = 'FIXED_WINDOW' | 'SLIDING_WINDOW' | 'TOKEN_BUCKET';

/** A unit of time. */
export type Unit = Exclude<NonNullable<RateLimit['unit']>, 'UNKNOWN'>;

/** A number of requests per unit of time. */
export interface Limit {
  /** Requests per unit; 0 rejects every request. */
  readonly requests: number;
  readonly unit: Unit;
  /** Length of the unit in milliseconds; 30 days for a month, 365 days for a year. Windows are in {@link windowAt}. */
  readonly unitMs: number;
  readonly algorithm: Algorithm;
  /** Capacity of a token bucket. Default: `requests`. */
  readonly burst: number;
}

/** Length of each unit in milliseconds; 30 days for a month, 365 days for a year. */
export const UNIT_MS: Readonly<Record<Unit, number>> = {
  SECOND: 1000,
  MINUTE: 60_000,
  HOUR: 3_600_000,
  DAY: 86_400_000,
  WEEK: 604_800_000,
  MONTH: 2_592_000_000,
  YEAR: 31_536_000_000,
};

/** The largest number of requests per unit. */
export const MAX_REQUESTS = 4_294_967_295;

const ALGORITHMS: ReadonlySet<string> = new Set<Algorithm>(['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET']);

/** True for the name of a unit. */
export function isUnit(name: unknown): name is Unit {
  return typeof name === 'string' && Object.hasOwn(UNIT_MS, name);
}

/** True for an integer from 0 to {@link MAX_REQUESTS}. */
export function isRequests(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_REQUESTS;
}

/**
 * Returns the limit of a resource; without a number every request is rejected. Throws `ERR_RATE_LIMIT_RULES` for an unknown unit or
 * algorithm, and for numbers that are not integers from 0 to 4294967295.
 */
export function toLimit(fields: RateLimit): Limit {
  const { requestsPerUnit: requests = 0, unit, algorithm = 'FIXED_WINDOW', burst = requests } = fields;
  if (!isUnit(unit)) {
    throw rateLimitError(
      'ERR_RATE_LIMIT_RULES',
      `invalid unit "${unit}": must be one of ${Object.keys(UNIT_MS).join(', ')}`,
    );
  }
  if (!ALGORITHMS.has(algorithm)) {
    throw rateLimitError(
      'ERR_RATE_LIMIT_RULES',
      `invalid algorithm "${algorithm}": must be one of ${[...ALGORITHMS].join(', ')}`,
    );
  }
  if (!isRequests(requests))
    throw rateLimitError('ERR_RATE_LIMIT_RULES', `invalid requestsPerUnit ${requests}: ${RANGE}`);
  if (!isRequests(burst)) throw rateLimitError('ERR_RATE_LIMIT_RULES', `invalid burst ${burst}: ${RANGE}`);
  return { requests, unit, unitMs: UNIT_MS[unit], algorithm, burst };
}

const RANGE = `must be an integer from 0 to ${MAX_REQUESTS}`;
