import type { VirtualHost } from '@edge-gateway/core';
import type { RateLimitBasic } from '@edge-gateway/core/schema';
import { routeNamesOf } from '../descriptor/level-names.ts';

/** The `ratelimitBasic` of a virtual host or of a route, and the name of its counters. */
export interface NamedBasic {
  readonly name: string;
  readonly basic: RateLimitBasic;
}

/** Returns every `ratelimitBasic` of a virtual host and its routes. */
export function basicLimitsOf(virtualHost: VirtualHost): NamedBasic[] {
  const { name, options } = virtualHost;
  const own = options.ratelimitBasic ? [{ name, basic: options.ratelimitBasic }] : [];
  const ofRoutes = [...routeNamesOf(virtualHost)].flatMap(([{ ratelimitBasic: basic }, routes]) =>
    basic ? [{ name: routes, basic }] : [],
  );
  return [...own, ...ofRoutes];
}
