import type { Listener, Route, VirtualHost } from '../contract/snapshot.ts';
import { inEffect } from '../schema/in-effect.ts';
import { rateLimitsOfHost } from './dumped-limits.ts';
import type { Reasons } from './hand-over.ts';
import { guardRoute, handedOverRoute, rejectedRoute } from './handed-over-route.ts';
import { headerMutations } from './headers.ts';
import { filtersOfHost, filtersOfRoute, type HostFilters } from './http-filters.ts';
import { routeMatch } from './match.ts';
import { message, routeConfigName, typed, type EnvoyMessage } from './message.ts';
import { routeAction } from './route-action-message.ts';
import type { MessageContext } from './translation-context.ts';

/** Namespace of the metadata with the origin of a route and its problems. */
const METADATA = 'io.edge-gateway';

/** The context in which virtual hosts are created. */
export interface HostContext extends HostFilters {
  /** Why Envoy does not serve the routes itself, by index; missing in a dump. */
  readonly reasons?: readonly Reasons[];
  /** Cluster of the Node proxies for the listener; missing without any. */
  readonly nodeCluster?: string;
}

/** The routes of a listener as RouteConfiguration, with these virtual hosts. */
export function routeConfiguration(
  listener: Listener,
  virtual_hosts: Iterable<EnvoyMessage> | undefined,
  { services }: MessageContext,
): EnvoyMessage {
  const options = inEffect('RouteConfigOptions', listener.routeOptions);
  return typed('envoy.config.route.v3.RouteConfiguration', {
    name: routeConfigName(listener),
    virtual_hosts,
    max_direct_response_body_size_bytes: options.maxDirectResponseBodySizeBytes,
    most_specific_header_mutations_wins: options.mostSpecificHeaderMutationsWins,
    ...(services && { ignore_port_in_host_matching: options.ignorePortInHostMatching || undefined }),
  });
}

/** A virtual host as VirtualHost. */
export function virtualHost(host: VirtualHost, context: HostContext): EnvoyMessage {
  const { name, domains, options, routes } = host;
  const { services, settings, reasons } = context;
  // Then each route needs something else than the virtual host, see `reasonsOfRoutes`.
  const isHandedOver = services && routes.every((_, index) => reasons?.[index]?.length);
  return message({
    name,
    domains,
    routes: [
      ...(services ? [guardRoute(context.filters ?? NO_FILTERS)] : []),
      ...routes.flatMap((route, index) => routesOf(route, host, { ...context, own: reasons?.[index] ?? [] })),
    ],
    rate_limits: services ? undefined : rateLimitsOfHost(host, settings),
    ...filtersOfHost(host, context),
    ...(isHandedOver ? {} : headerMutations(options.headerManipulation, context)),
    ...(services && !isHandedOver && servedFields(options)),
  });
}

/** Returns a virtual host whose requests are all handed over, or rejected without Node proxies, as if each route had these reasons. */
export function handedOverHost(
  { name, domains }: VirtualHost,
  { filters = NO_FILTERS, nodeCluster }: HostContext,
  reasons: Reasons,
): EnvoyMessage {
  const common = {
    ...(nodeCluster === undefined ? rejectedRoute(filters) : handedOverRoute(nodeCluster, filters)),
    metadata: { filter_metadata: { [METADATA]: { handed_over: reasons } } },
  };
  const routes = [{ prefix: '/' }, { connect_matcher: {} }].map((match) => ({ match, ...common }));
  return { name, domains, routes: [guardRoute(filters), ...routes] };
}

function servedFields(options: VirtualHost['options']): EnvoyMessage {
  return {
    include_request_attempt_count: options.includeRequestAttemptCount || undefined,
    include_attempt_count_in_response: options.includeAttemptCountInResponse || undefined,
    virtual_clusters: options.stats?.virtualClusters?.map(({ name, pattern = '', method }) => ({
      name,
      headers: [
        { name: ':path', string_match: { safe_regex: { regex: pattern } } },
        ...(method ? [{ name: ':method', string_match: { exact: method } }] : []),
      ],
    })),
  };
}

/** One for each matcher. */
function routesOf(route: Route, host: VirtualHost, context: HostContext & { readonly own: Reasons }): EnvoyMessage[] {
  const common = message({
    ...contentOf(route, host, context),
    metadata: { filter_metadata: metadata(route, context) },
  });
  return route.matchers.map((matcher, i) => ({
    name: `${route.name}-matcher-${i}`,
    match: routeMatch(inEffect('Matcher', matcher), context),
    ...common,
  }));
}

function contentOf(route: Route, host: VirtualHost, context: HostContext & { readonly own: Reasons }): EnvoyMessage {
  const { own, nodeCluster, filters = NO_FILTERS } = context;
  if (own.length > 0) return nodeCluster === undefined ? rejectedRoute(filters) : handedOverRoute(nodeCluster, filters);
  return {
    ...routeAction(route, host, context),
    ...filtersOfRoute(route, host, context),
    ...headerMutations(route.options.headerManipulation, context),
  };
}

const NO_FILTERS: ReadonlySet<string> = new Set();

function metadata(
  { action, logName, source, options }: Route,
  { services, own }: HostContext & { readonly own: Reasons },
): EnvoyMessage {
  const destinations = action.type === 'forward' ? action.destinations : [];
  const broken = destinations.flatMap(({ upstream, broken }) => (broken ? [{ cluster: upstream, ...broken }] : []));
  return {
    ...(services && (options.envoyMetadata as EnvoyMessage | undefined)),
    [METADATA]: message({
      source: `${source.kind} ${source.namespace}.${source.name}`,
      log_name: logName || undefined,
      replaced: action.type === 'replacement' || undefined,
      broken,
      handed_over: own,
    }),
  };
}
