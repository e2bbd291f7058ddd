import type { Route, VirtualHost } from '@edge-gateway/core';
import type { RouteOptions } from '@edge-gateway/core/schema';
import { routeScope } from './compile-basic.ts';

const names = new WeakMap<readonly Route[], ReadonlyMap<RouteOptions, string>>();

/**
 * Returns the name of each route of a virtual host, by its options: part of its counters. Routes with the same options have one name, and
 * share their counters.
 */
export function routeNamesOf({
  name,
  routes,
}: Pick<VirtualHost, 'name' | 'routes'>): ReadonlyMap<RouteOptions, string> {
  let known = names.get(routes);
  if (!known) names.set(routes, (known = namesByOptions(name, routes)));
  return known;
}

function namesByOptions(host: string, routes: readonly Route[]): ReadonlyMap<RouteOptions, string> {
  const byOptions = Map.groupBy(routes, ({ options }) => options);
  return new Map(
    [...byOptions].map(([options, same]) => [
      options,
      same.map(({ name }) => routeScope(host, ownName(name, host))).join(','),
    ]),
  );
}

/** Returns the name in the resource, or the position of a route without one. */
function ownName(name: string, host: string): string {
  return name.startsWith(`${host}-route-`) ? name.slice(host.length + '-route-'.length).replace(/^\d+-/, '') : name;
}
