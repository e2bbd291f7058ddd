import type { Listener, Route, VirtualHost } from '@edge-gateway/core';
import type { TokenBucket } from '@edge-gateway/core/schema';
import { pickLocal } from '../local/pick-local.ts';

/** The local limits of a route: counted in each proxy instance, before authentication. Plain data. */
export interface ExplainedLocalLimits {
  /** The bucket for requests; that of the most specific level. */
  readonly http?: ExplainedBucket;
  /** The bucket for new connections. */
  readonly network?: TokenBucket;
}

/** A bucket and the level that it belongs to. */
export interface ExplainedBucket {
  readonly level: 'listener' | 'virtual host' | 'route';
  readonly bucket: TokenBucket;
  /** True if each connection has its own bucket. */
  readonly perConnection: boolean;
}

/**
 * Returns the local limits of a route; `undefined` if there are none.
 *
 * @example
 * explainLocalLimits({ listener, virtualHost, route })?.http?.bucket.maxTokens;
 */
export function explainLocalLimits(place: {
  readonly listener: Listener;
  readonly virtualHost: VirtualHost;
  readonly route: Route;
}): ExplainedLocalLimits | undefined {
  const { listener, virtualHost, route } = place;
  const { networkLocalRatelimit, httpLocalRatelimit = {} } = listener.httpOptions;
  const perConnection = httpLocalRatelimit.localRateLimitPerDownstreamConnection ?? false;
  const own = pickLocal([virtualHost.options, route.options]);
  const level = own ? (own.route ? 'route' : 'virtual host') : 'listener';
  const bucket = own?.bucket ?? httpLocalRatelimit.defaultLimit;
  if (!bucket && !networkLocalRatelimit) return undefined;
  return {
    ...(bucket && { http: { level, bucket, perConnection } }),
    ...(networkLocalRatelimit && { network: networkLocalRatelimit }),
  };
}
