import {
  inEffect,
  type Listener,
  type Route,
  type Secrets,
  type SnapshotSettings,
  type VirtualHost,
} from '@edge-gateway/core';
import { headerMutations } from './headers.ts';
import { filtersOfHost, filtersOfRoute } from './http-filters.ts';
import { lazyList, message, typed, type Message } from './json.ts';
import { routeMatch } from './match.ts';
import { rateLimitsOfHost } from './rate-limits.ts';
import { routeAction } from './route-action.ts';

/** Namespace of the metadata with the origin of a route and its problems. */
const METADATA = 'io.edge-gateway';

/** What parts of the dump are created with. */
export interface DumpContext {
  readonly secrets: Secrets;
  readonly settings: SnapshotSettings;
}

/** `<listener>-routes`. */
export function routeConfigName(listener: Listener): string {
  return `${listener.name}-routes`;
}

/** The routes of a listener as RouteConfiguration. */
export function routeConfiguration(listener: Listener, context: DumpContext): Message {
  const options = inEffect('RouteConfigOptions', listener.routeOptions);
  return typed('envoy.config.route.v3.RouteConfiguration', {
    name: routeConfigName(listener),
    virtual_hosts: lazyList(listener.virtualHosts, (host) => virtualHost(host, context)),
    max_direct_response_body_size_bytes: options.maxDirectResponseBodySizeBytes,
    most_specific_header_mutations_wins: options.mostSpecificHeaderMutationsWins,
  });
}

function virtualHost(host: VirtualHost, { secrets, settings }: DumpContext): Message {
  const { name, domains, options, routes } = host;
  return message({
    name,
    domains,
    routes: routes.flatMap((route) => routesOf(route, host, { secrets, settings })),
    rate_limits: rateLimitsOfHost(host, settings),
    ...filtersOfHost(host, settings),
    ...headerMutations(options.headerManipulation, secrets),
  });
}

/** One for each matcher. */
function routesOf(route: Route, host: VirtualHost, { secrets, settings }: DumpContext): Message[] {
  const common = message({
    ...routeAction(route, host, { secrets, settings }),
    ...filtersOfRoute(route, host),
    metadata: { filter_metadata: { [METADATA]: metadata(route) } },
    ...headerMutations(route.options.headerManipulation, secrets),
  });
  return route.matchers.map((matcher, i) => ({
    name: `${route.name}-matcher-${i}`,
    match: routeMatch(inEffect('Matcher', matcher)),
    ...common,
  }));
}

function metadata({ action, logName, source }: Route): Message {
  const destinations = action.type === 'forward' ? action.destinations : [];
  const broken = destinations.flatMap(({ upstream, broken }) => (broken ? [{ cluster: upstream, ...broken }] : []));
  return message({
    source: `${source.kind} ${source.namespace}.${source.name}`,
    log_name: logName || undefined,
    replaced: action.type === 'replacement' || undefined,
    broken,
  });
}
