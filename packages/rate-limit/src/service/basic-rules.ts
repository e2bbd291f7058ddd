import type { VirtualHost } from '@edge-gateway/core';
import type { RateLimitBasic, RouteOptions } from '@edge-gateway/core/schema';

/** The `ratelimitBasic` of a virtual host or of a route, and the name of its counters. */
export interface NamedBasic {
  readonly name: string;
  readonly basic: RateLimitBasic;
}

/** Returns every `ratelimitBasic` of a virtual host and its routes. */
export function basicLimitsOf({ name, options, routes }: VirtualHost): NamedBasic[] {
  const limits: NamedBasic[] = [];
  if (options.ratelimitBasic) limits.push({ name, basic: options.ratelimitBasic });
  for (const [{ ratelimitBasic: basic }, names] of routesByOptions({ name, routes })) {
    if (basic) limits.push({ name: names.join(','), basic });
  }
  return limits;
}

/** Routes with the same options share their counters. */
function routesByOptions({ name: host, routes }: Pick<VirtualHost, 'name' | 'routes'>): Map<RouteOptions, string[]> {
  const names = new Map<RouteOptions, string[]>();
  for (const { name, options } of routes) {
    const own = `${host}.${routeName(name, host)}`;
    const others = names.get(options);
    if (others) others.push(own);
    else names.set(options, [own]);
  }
  return names;
}

/** Returns the name of a route in its resource, or the position of a route without one. */
function routeName(name: string, host: string): string {
  const prefix = `${host}-route-`;
  return name.startsWith(prefix) ? name.slice(prefix.length).replace(/^\d+-/, '') : name;
}
