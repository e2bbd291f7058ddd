import type { RateLimitLevel, RouteOptions, TokenBucket } from '@edge-gateway/core/schema';

/** The local limit of a virtual host or a route. */
export class LocalLevel {
  readonly bucket: TokenBucket;
  /** Set if the limit is that of a route. */
  readonly route: RouteOptions | undefined;

  constructor(bucket: TokenBucket, route: RouteOptions | undefined) {
    this.bucket = bucket;
    this.route = route;
  }
}

/** Levels by options, so that a limit is compiled once. */
const known = new WeakMap<object, LocalLevel>();

/** Returns the local limit of the most specific level that has one; the same object for the same levels. */
export function pickLocal(levels: readonly object[]): LocalLevel | undefined {
  for (const [i, level] of [...levels.slice(0, 2).entries()].toReversed()) {
    const { ratelimit, ratelimitEarly } = level as RateLimitLevel;
    const bucket = ratelimitEarly?.localRatelimit ?? ratelimit?.localRatelimit;
    if (!bucket) continue;
    let found = known.get(level);
    if (!found) known.set(level, (found = new LocalLevel(bucket, i === 1 ? level : undefined)));
    return found;
  }
  return undefined;
}
