import type { Destination, Route, RouteAction, VirtualHost } from '../contract/snapshot.ts';
import { DEFAULTS } from '../schema/defaults.ts';
import { inEffect } from '../schema/in-effect.ts';
import type { Retries } from '../schema/route/retries.ts';
import { rateLimitsOfRoute } from './dumped-limits.ts';
import { headerMutations } from './headers.ts';
import { filtersOfDestination, type HostFilters } from './http-filters.ts';
import { message, protoDuration, renamed, type EnvoyMessage } from './message.ts';
import { servedLimitsOf } from './served-limits.ts';
import { mirrorsOf } from './traffic-filters.ts';
import { shownPath, shownText, type TranslationContext } from './translation-context.ts';

type Forward = Extract<RouteAction, { type: 'forward' }>;
type Redirect = Extract<RouteAction, { type: 'redirect' }>['redirect'];

/** What a route does: one of `route`, `redirect`, `direct_response`. */
export function routeAction(route: Route, host: VirtualHost, context: HostFilters): EnvoyMessage {
  const { action } = route;
  if (action.type === 'forward') {
    const [only] = action.destinations;
    if (context.services && only?.broken && action.destinations.length === 1)
      return directResponse(only.broken.status, only.broken.body, context);
    const limits = context.services
      ? servedLimitsOf(route, host, context)
      : rateLimitsOfRoute(route, host, context.settings);
    return { route: { ...forward(action, route, host, context), ...limits } };
  }
  if (action.type === 'redirect') return { redirect: redirect(inEffect('RedirectAction', action.redirect), context) };
  if (action.type === 'graphql') return { filter_action: {} };
  return directResponse(action.status, action.body, context);
}

/** Returns a response without an upstream. */
export function directResponse(
  status: number,
  body: string,
  context: Pick<TranslationContext, 'services'>,
): EnvoyMessage {
  const text = body ? { inline_string: shownText(body, context) } : undefined;
  return { direct_response: message({ status, body: text }) };
}

function forward({ destinations }: Forward, route: Route, host: VirtualHost, context: HostFilters): EnvoyMessage {
  const options = inEffect('RouteOptions', route.options);
  const { hostRewrite, autoHostRewrite, hostRewriteHeader, hostRewritePathRegex, prefixRewrite, regexRewrite } =
    options;
  const rewritesHost = Boolean(hostRewrite || autoHostRewrite || hostRewriteHeader || hostRewritePathRegex);
  return message({
    ...target(destinations, context),
    timeout: protoDuration(options.timeout ?? DEFAULTS.routeTimeout),
    idle_timeout: protoDuration(options.idleTimeout),
    prefix_rewrite: prefixRewrite ? shownPath(prefixRewrite, context) : undefined,
    regex_rewrite: regexRewriteOf(regexRewrite, context),
    host_rewrite_literal: hostRewrite || undefined,
    auto_host_rewrite: autoHostRewrite || undefined,
    host_rewrite_header: hostRewriteHeader || undefined,
    host_rewrite_path_regex: regexRewriteOf(hostRewritePathRegex as Redirect['regexRewrite'], context),
    append_x_forwarded_host: rewritesHost ? appendsHost(options, context) : undefined,
    request_mirror_policies: mirrorsOf(options),
    upgrade_configs: upgrades(options.upgrades),
    cluster_not_found_response_code: 'SERVICE_UNAVAILABLE',
    ...(context.services && upstreamBehaviour(options, options.retries ?? host.options.retries)),
  });
}

function appendsHost(
  { appendXForwardedHost }: Route['options'],
  { services }: TranslationContext,
): boolean | undefined {
  return services ? (appendXForwardedHost ?? true) : appendXForwardedHost;
}

/** Returns the retries, the hashes and the limits of a route. */
function upstreamBehaviour(
  { lbHash, maxStreamDuration }: Route['options'],
  retries: Retries | undefined,
): EnvoyMessage {
  return {
    retry_policy: retries && retryPolicy(retries),
    hash_policy: lbHash?.hashPolicies?.map(({ header, cookie, sourceIp, terminal }) =>
      message({
        header: header === undefined ? undefined : { header_name: header },
        cookie:
          cookie && message({ name: cookie.name, ttl: protoDuration(cookie.ttl), path: cookie.path || undefined }),
        connection_properties: sourceIp ? { source_ip: true } : undefined,
        terminal: terminal || undefined,
      }),
    ),
    max_stream_duration:
      maxStreamDuration &&
      message({
        max_stream_duration: protoDuration(maxStreamDuration.maxStreamDuration),
        grpc_timeout_header_max: protoDuration(maxStreamDuration.grpcTimeoutHeaderMax),
        grpc_timeout_header_offset: protoDuration(maxStreamDuration.grpcTimeoutHeaderOffset),
      }),
  };
}

const PREVIOUS_PRIORITIES = 'envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig';

function retryPolicy(retries: Retries): EnvoyMessage {
  const { previousPriorities, retryBackOff, rateLimitedRetryBackOff: limited } = retries;
  return message({
    retry_on: retries.retryOn,
    num_retries: retries.numRetries || 1,
    per_try_timeout: protoDuration(retries.perTryTimeout),
    retry_back_off:
      retryBackOff &&
      message({
        base_interval: protoDuration(retryBackOff.baseInterval ?? '25ms'),
        max_interval: protoDuration(retryBackOff.maxInterval),
      }),
    retriable_status_codes: retries.retriableStatusCodes,
    rate_limited_retry_back_off:
      limited &&
      message({
        reset_headers: limited.resetHeaders?.map((each) => message(renamed(each, ['name', 'format']))),
        max_interval: protoDuration(limited.maxInterval),
      }),
    retry_priority: previousPriorities && {
      name: 'envoy.retry_priorities.previous_priorities',
      typed_config: {
        '@type': `type.googleapis.com/${PREVIOUS_PRIORITIES}`,
        update_frequency: previousPriorities.updateFrequency ?? 1,
      },
    },
  });
}

function target(destinations: readonly Destination[], context: HostFilters): EnvoyMessage {
  const [only] = destinations;
  if (only?.dynamic?.type === 'clusterHeader') return { cluster_header: only.dynamic.header };
  if (only && destinations.length === 1 && Object.keys(only.options).length === 0)
    return { cluster: only.upstream, ...subsetOf(only, context) };
  const clusters = destinations.map((destination) => ({
    name: destination.upstream,
    weight: destination.weight,
    ...subsetOf(destination, context),
    ...headerMutations(destination.options.headerManipulation, context),
    ...filtersOfDestination(destination, context),
  }));
  return { weighted_clusters: { clusters } };
}

function subsetOf({ subset }: Destination, { services }: TranslationContext): EnvoyMessage {
  if (!subset || !services) return {};
  return { metadata_match: { filter_metadata: { 'envoy.lb': subset } } };
}

/** Returns the `upgrade_configs` of a route. */
function upgrades(list: Route['options']['upgrades'] = []): EnvoyMessage[] {
  return list.flatMap(({ websocket, connect, connectTerminate }) => [
    ...(websocket ? [{ upgrade_type: 'websocket', enabled: websocket.enabled ?? true }] : []),
    ...(connect ? [{ upgrade_type: 'CONNECT', enabled: connect.enabled ?? true }] : []),
    ...(connectTerminate ? [terminated(connectTerminate)] : []),
  ]);
}

function terminated({ enabled }: { readonly enabled?: boolean }): EnvoyMessage {
  return { upgrade_type: 'CONNECT', ...(enabled === false && { enabled }), connect_config: {} };
}

function redirect({ pathRedirect, prefixRewrite, regexRewrite, ...rest }: Redirect, context: TranslationContext) {
  return message({
    https_redirect: rest.httpsRedirect || undefined,
    scheme_redirect: rest.httpsRedirect ? undefined : rest.schemeRedirect,
    host_redirect: rest.hostRedirect,
    port_redirect: rest.portRedirect || undefined,
    path_redirect: pathRedirect && shownPath(pathRedirect, context),
    prefix_rewrite: prefixRewrite && shownPath(prefixRewrite, context),
    regex_rewrite: regexRewriteOf(regexRewrite, context),
    response_code: rest.responseCode ?? 'MOVED_PERMANENTLY',
    strip_query: rest.stripQuery || undefined,
  });
}

function regexRewriteOf(
  rewrite: Redirect['regexRewrite'],
  context: Pick<TranslationContext, 'services'>,
): EnvoyMessage | undefined {
  const substitution = shownPath(rewrite?.substitution ?? '', context);
  return rewrite && { pattern: { regex: rewrite.pattern?.regex ?? '' }, substitution };
}
