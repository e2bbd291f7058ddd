import type { RateLimit } from '@edge-gateway/core/schema';

/** How requests are counted. */
export type Algorithm = 'FIXED_WINDOW' | 'SLIDING_WINDOW' | 'TOKEN_BUCKET';

/** A number of requests per unit of time. */
export interface Limit {
  /** Requests per unit; 0 rejects every request. */
  readonly requests: number;
  readonly unit: NonNullable<RateLimit['unit']>;
  /** Length of the unit in milliseconds. */
  readonly unitMs: number;
  readonly algorithm: Algorithm;
  /** Capacity of a token bucket. Default: `requests`. */
  readonly burst: number;
}
