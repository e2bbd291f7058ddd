import type { RateLimitLevel, RouteOptions, VirtualHostOptions } from '@edge-gateway/core/schema';

/** The rate limits of a virtual host and of one of its routes. */
export interface LimitBlock {
  readonly host: RateLimitLevel;
  readonly route: RateLimitLevel;
  /** The options of the route, which identify it. */
  readonly routeOptions: RouteOptions;
}

const OPTIONS = [
  'ratelimitBasic',
  'ratelimit',
  'rateLimitConfigs',
  'ratelimitEarly',
  'rateLimitEarlyConfigs',
  'ratelimitRegular',
  'rateLimitRegularConfigs',
] as const satisfies readonly (keyof RateLimitLevel)[];

/** Blocks by the options of the virtual host and of the route, so that those of a route are compiled once. */
const blocks = new WeakMap<object, WeakMap<object, LimitBlock>>();

/** Returns the rate limits of the levels, the same object for the same levels; `undefined` if they have none. */
export function pickLimits(levels: readonly object[]): LimitBlock | undefined {
  const [host = NO_OPTIONS, route = NO_OPTIONS] = levels as readonly [VirtualHostOptions?, RouteOptions?];
  if (!hasLimits(host) && !hasLimits(route)) return undefined;
  let byRoute = blocks.get(host);
  if (!byRoute) blocks.set(host, (byRoute = new WeakMap()));
  let block = byRoute.get(route);
  if (!block) byRoute.set(route, (block = { host, route, routeOptions: route }));
  return block;
}

const NO_OPTIONS = Object.freeze({});

function hasLimits(level: RateLimitLevel): boolean {
  return OPTIONS.some((option) => level[option] !== undefined);
}
