import type { TokenBucket } from '../schema/route/rate-limit.ts';
import { parseDuration } from '../syntax/duration.ts';

/** The tokens of a local limit. */
export interface LocalBucket {
  /** Takes a token. Returns false if there is none. */
  take(nowMs: number): boolean;
  readonly maxTokens: number;
  /** Whole tokens left at the last call of `take`; of a share, an estimate for all processes. */
  readonly remaining: number;
  /** Seconds from then until there is a token; 0 if there is one. */
  readonly resetSeconds: number;
}

/**
 * Creates a bucket that is full and fills continuously, as in Envoy. `nowMs` may be of any clock; one that goes back fills nothing. The
 * bucket is the share of one of `processes`, which holds at least one token.
 *
 * @example
 * const bucket = createLocalBucket({ maxTokens: 10, tokensPerFill: 1, fillInterval: '1s' });
 * if (!bucket.take(performance.now())) socket.destroy();
 */
export function createLocalBucket(
  { maxTokens = 1, tokensPerFill = 1, fillInterval = '1s' }: TokenBucket,
  processes = 1,
): LocalBucket {
  const perMs = tokensPerFill / parseDuration(fillInterval) / processes;
  const capacity = Math.max(Math.min(maxTokens, 1), maxTokens / processes);
  const scale = capacity > 0 ? maxTokens / capacity : 1;
  let tokens = capacity;
  let filledMs: number | undefined;
  return {
    maxTokens,
    take(nowMs) {
      if (filledMs !== undefined && nowMs > filledMs) tokens = Math.min(capacity, tokens + (nowMs - filledMs) * perMs);
      filledMs = nowMs;
      if (tokens < 1 - ROUNDING) return false;
      tokens = Math.max(0, tokens - 1);
      return true;
    },
    get remaining() {
      return Math.floor(tokens * scale + ROUNDING);
    },
    get resetSeconds() {
      return Math.max(0, Math.ceil((1 - tokens) / perMs / 1000 - ROUNDING));
    },
  };
}

/** Sums of fractions of tokens are not exact. */
const ROUNDING = 1e-9;
