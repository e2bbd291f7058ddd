import {
  DEFAULTS,
  inEffect,
  redactPath,
  redactText,
  type Destination,
  type Route,
  type RouteAction,
  type Secrets,
  type SnapshotSettings,
  type VirtualHost,
} from '@edge-gateway/core';
import { headerMutations } from './headers.ts';
import { filtersOfDestination } from './http-filters.ts';
import { rateLimitsOfRoute } from './rate-limits.ts';
import { mirrorsOf } from './traffic-filters.ts';
import { message, protoDuration, type Message } from './json.ts';

type Forward = Extract<RouteAction, { type: 'forward' }>;
type Redirect = Extract<RouteAction, { type: 'redirect' }>['redirect'];

/** What actions are created with. */
interface ActionContext {
  readonly secrets: Secrets;
  readonly settings: SnapshotSettings;
}

/** What a route does: one of `route`, `redirect`, `direct_response`. */
export function routeAction(route: Route, host: VirtualHost, { secrets, settings }: ActionContext): Message {
  const { action } = route;
  if (action.type === 'forward') {
    return { route: { ...forward(action, route, secrets), ...rateLimitsOfRoute(route, host, settings) } };
  }
  if (action.type === 'redirect') return { redirect: redirect(inEffect('RedirectAction', action.redirect)) };
  if (action.type === 'graphql') return { filter_action: {} };
  const { status, body } = action;
  return { direct_response: message({ status, body: body ? { inline_string: redactText(body) } : undefined }) };
}

function forward({ destinations }: Forward, route: Route, secrets: Secrets): Message {
  const options = inEffect('RouteOptions', route.options);
  const { hostRewrite, autoHostRewrite, hostRewriteHeader, hostRewritePathRegex, prefixRewrite, regexRewrite } =
    options;
  const rewritesHost = Boolean(hostRewrite || autoHostRewrite || hostRewriteHeader || hostRewritePathRegex);
  return message({
    ...target(destinations, secrets),
    timeout: protoDuration(options.timeout ?? DEFAULTS.routeTimeout),
    idle_timeout: protoDuration(options.idleTimeout),
    prefix_rewrite: prefixRewrite || undefined,
    regex_rewrite: regexRewriteOf(regexRewrite),
    host_rewrite_literal: hostRewrite || undefined,
    auto_host_rewrite: autoHostRewrite || undefined,
    host_rewrite_header: hostRewriteHeader || undefined,
    host_rewrite_path_regex: regexRewriteOf(hostRewritePathRegex as Redirect['regexRewrite']),
    append_x_forwarded_host: rewritesHost ? options.appendXForwardedHost : undefined,
    request_mirror_policies: mirrorsOf(options),
    upgrade_configs: upgrades(options.upgrades),
    cluster_not_found_response_code: 'SERVICE_UNAVAILABLE',
  });
}

function target(destinations: readonly Destination[], secrets: Secrets): Message {
  const [only] = destinations;
  if (only?.dynamic?.type === 'clusterHeader') return { cluster_header: only.dynamic.header };
  if (only && destinations.length === 1 && Object.keys(only.options).length === 0) return { cluster: only.upstream };
  const clusters = destinations.map((destination) => ({
    name: destination.upstream,
    weight: destination.weight,
    ...headerMutations(destination.options.headerManipulation, secrets),
    ...filtersOfDestination(destination),
  }));
  return { weighted_clusters: { clusters } };
}

/** Returns the `upgrade_configs` of a route. */
function upgrades(list: Route['options']['upgrades'] = []): Message[] {
  return list.flatMap(({ websocket, connect, connectTerminate }) => [
    ...(websocket ? [{ upgrade_type: 'websocket', enabled: websocket.enabled ?? true }] : []),
    ...(connect ? [{ upgrade_type: 'CONNECT', enabled: connect.enabled ?? true }] : []),
    ...(connectTerminate ? [{ upgrade_type: 'CONNECT', connect_config: {} }] : []),
  ]);
}

function redirect({ pathRedirect, prefixRewrite, regexRewrite, ...rest }: Redirect): Message {
  return message({
    https_redirect: rest.httpsRedirect || undefined,
    scheme_redirect: rest.httpsRedirect ? undefined : rest.schemeRedirect,
    host_redirect: rest.hostRedirect,
    port_redirect: rest.portRedirect || undefined,
    path_redirect: pathRedirect && redactPath(pathRedirect),
    prefix_rewrite: prefixRewrite,
    regex_rewrite: regexRewriteOf(regexRewrite),
    response_code: rest.responseCode ?? 'MOVED_PERMANENTLY',
    strip_query: rest.stripQuery || undefined,
  });
}

function regexRewriteOf(rewrite: Redirect['regexRewrite']): Message | undefined {
  return rewrite && { pattern: { regex: rewrite.pattern?.regex ?? '' }, substitution: rewrite.substitution ?? '' };
}
