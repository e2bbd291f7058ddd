import {
  parseDuration,
  type Destination,
  type Handler,
  type Responder,
  type RetryPolicy,
  type Route,
  type RouteAction,
} from '@edge-gateway/core';
import { compileAttempts, compileRoutePolicy, expectedTimeoutMs, type AttemptPolicy } from '../options/attempts.ts';
import { compileStreamLimits, type StreamPolicy } from '../options/stream-limits.ts';
import { orderLevels, type HeaderOps } from '../options/header-manipulation.ts';
import { compileHostRewrite, type HostRewrite } from '../options/host-rewrite.ts';
import { compileLbHash, type RequestHash } from '../options/lb-hash.ts';
import { compilePathRewrite, type PathRewrite } from '../options/path-rewrite.ts';
import { compileUpgrades, type Upgrades } from '../options/upgrades.ts';
import type { Shadow } from '../options/shadowing.ts';
import { compileRedirect, locationOf, type CompiledRedirect } from '../options/redirect.ts';
import type { RoutingErrorCode } from '../../error-codes.ts';
import { DEFAULT_TIMEOUT_MS } from '../../upstream/cluster-settings.ts';
import type { DownstreamHead } from '../downstream-head.ts';
import { matchedLength } from '../match/matcher.ts';
import type { RouteEntry } from '../match/route-index.ts';
import type { CompiledRouteTracing } from '../../tracing/route-tracing.ts';
import type { OptionLevels } from './chain.ts';

/** The steps of a request: the concerns, then changes of headers. */
export interface Plan {
  readonly chain: readonly Handler[];
  readonly headers: HeaderOps;
  /** Handlers that run after the endpoint is chosen; `undefined` if there are none. */
  readonly postRouting: readonly Handler[] | undefined;
  /** Handlers that filter responses; `undefined` if there are none. */
  readonly filters: readonly Handler[] | undefined;
}

export interface CompiledDestination extends Plan {
  readonly upstream: string;
  readonly weight: number;
  /** Labels that the host must have. */
  readonly subset: Destination['subset'];
  /** Set if the share responds with a replacement. */
  readonly broken: Destination['broken'];
  /** Set if the request chooses the upstream. */
  readonly dynamic: Destination['dynamic'];
}

/** Changes and limits of a request to any destination of the route. */
export interface ForwardPolicy extends AttemptPolicy {
  /** The limit of the first attempt as sent upstream; empty if it is not sent. */
  readonly timeoutHeader: string;
  /** `undefined` keeps the path. */
  readonly path: PathRewrite | undefined;
  readonly host: HostRewrite;
  /** Set if streams have limits of their own. */
  readonly stream: StreamPolicy | undefined;
  readonly upgrades: Upgrades;
  readonly shadow: Shadow | undefined;
  readonly hash: RequestHash | undefined;
}

export interface ForwardAction {
  readonly type: 'forward';
  readonly destinations: readonly CompiledDestination[];
  readonly total: number;
  readonly policy: ForwardPolicy;
}

/** The action of a route that a package responds to. */
export interface RespondAction {
  readonly type: 'respond';
  readonly responder: Responder;
  readonly path: PathRewrite | undefined;
  readonly upgrades: Upgrades;
  /** For the requests that it makes. */
  readonly retries: RetryPolicy | undefined;
  readonly plan: Plan;
}

export type CompiledAction =
  | ForwardAction
  | RespondAction
  | { readonly type: 'redirect'; readonly redirect: CompiledRedirect; readonly plan: Plan }
  | {
      readonly type: 'reply';
      readonly status: number;
      readonly body: string;
      readonly details: string;
      readonly plan: Plan;
    }
  /** A route that cannot be compiled: it responds with an error, so that no later route matches the requests that it should guard. */
  | { readonly type: 'failed'; readonly reason: string; readonly code: FailedRouteCode };

/** Pending secrets are no failure of the route: it is compiled again when they are received. */
export type FailedRouteCode = 'ERR_ROUTING_ROUTE' | 'ERR_ROUTING_SECRETS_PENDING';

export interface CompiledRoute {
  readonly source: Route;
  /** Missing if the route has no tracing of its own. */
  readonly tracing?: CompiledRouteTracing | undefined;
  readonly action: CompiledAction;
}

/** One matcher of a compiled route. */
export interface MatchedRoute extends CompiledRoute {
  /** `<route>-matcher-<j>`. */
  readonly name: string;
}

export interface RouteEnvironment {
  plan(levels: OptionLevels): Plan;
  /** Returns the responder of a package. Throws if there is none, or it cannot be compiled. */
  respond(route: Route): Responder;
  /** Returns what copies requests to another upstream, if the options require it. */
  shadow(options: Route['options']): Shadow | undefined;
  readonly hostOptions: OptionLevels[number];
  /** Those of the listener. */
  readonly upgrades: Upgrades;
  readonly suppressEnvoyHeaders: boolean;
  /** Longest duration of a stream; 0 is no limit. */
  readonly maxStreamMs: number;
}

/** Compiles a route. Throws for an invalid option. */
export function compileAction(route: Route, environment: RouteEnvironment): CompiledAction {
  const { action } = route;
  const routeLevels: OptionLevels = [route.options, environment.hostOptions];
  if (action.type === 'forward') return compileForward(route, action.destinations, environment);
  const plan = environment.plan(routeLevels);
  if (action.type === 'redirect') return { type: 'redirect', redirect: compileRedirect(action.redirect), plan };
  if (action.type === 'graphql') {
    return {
      type: 'respond',
      responder: environment.respond(route),
      path: compilePathRewrite(route.options),
      upgrades: compileUpgrades(route.options.upgrades, environment.upgrades),
      retries: compileRoutePolicy(routeLevels),
      plan,
    };
  }
  return compileReply(action, plan);
}

function compileReply(action: Extract<RouteAction, { readonly body: string }>, plan: Plan): CompiledAction {
  const details = action.type === 'direct' ? 'direct_response' : 'route_replaced';
  return { type: 'reply', status: action.status, body: action.body, details, plan };
}

function compileForward(
  route: Route,
  destinations: readonly Destination[],
  environment: RouteEnvironment,
): CompiledAction {
  const compiled = destinations.map((destination): CompiledDestination => {
    const { upstream, weight, subset, broken, dynamic } = destination;
    const plan = environment.plan([destinationOptions(destination), route.options, environment.hostOptions]);
    return { upstream, weight, subset, broken, dynamic, ...plan };
  });
  const { timeout } = route.options;
  const timeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : Math.ceil(parseDuration(timeout));
  const attempts = compileAttempts([route.options, environment.hostOptions], timeoutMs);
  const expectedMs = expectedTimeoutMs(attempts, 0);
  const policy: ForwardPolicy = {
    ...attempts,
    timeoutHeader: expectedMs > 0 && !environment.suppressEnvoyHeaders ? String(expectedMs) : '',
    path: compilePathRewrite(route.options),
    host: compileHostRewrite(hostOptions(route.options, destinations[0])),
    stream: compileStreamLimits(route.options, environment.maxStreamMs),
    upgrades: compileUpgrades(route.options.upgrades, environment.upgrades),
    shadow: environment.shadow(route.options),
    hash: compileLbHash(route.options.lbHash),
  };
  return {
    type: 'forward',
    destinations: compiled,
    total: compiled.reduce((total, { weight }) => total + weight, 0),
    policy,
  };
}

/** Returns the options of a destination, with those of its upstream. */
function destinationOptions({ options, broken, rest, transcoder }: Destination): OptionLevels[number] {
  if (broken || (!rest && !transcoder)) return options;
  return { ...options, ...(rest && { restFunction: rest }), ...(transcoder && { grpcJsonTranscoder: transcoder }) };
}

/** A route to a host that the request names sends that host instead of the others. */
function hostOptions(options: Route['options'], destination: Destination | undefined): Route['options'] {
  const dynamic = destination?.dynamic;
  if (dynamic?.type !== 'host') return options;
  const { hostRewrite, hostRewriteHeader } = dynamic;
  return { hostRewrite, hostRewriteHeader, appendXForwardedHost: options.appendXForwardedHost ?? false };
}

export const EMPTY_PLAN: Plan = {
  chain: [],
  headers: orderLevels([], false),
  postRouting: undefined,
  filters: undefined,
};

/** What happens to a request that every concern accepted. */
export type ResolvedAction =
  | Exclude<CompiledAction, { readonly type: 'redirect' }>
  | { readonly type: 'redirected'; readonly status: number; readonly location: string }
  | { readonly type: 'rejected'; readonly code: RoutingErrorCode };

/** Resolves the action of a route for one request: a redirect becomes its location. */
export function resolveAction(head: DownstreamHead, { route, matcher }: RouteEntry<MatchedRoute>): ResolvedAction {
  const { action } = route;
  if (action.type !== 'redirect') return action;
  const { scheme, authority, path, pathname } = head;
  const matched = matchedLength(matcher, pathname);
  const location = locationOf(action.redirect, { scheme, authority, path, pathname, matched });
  if (location === undefined) return { type: 'rejected', code: 'ERR_ROUTING_DOT_SEGMENT' };
  return { type: 'redirected', status: action.redirect.status, location };
}
