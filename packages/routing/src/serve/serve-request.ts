import { factsOf, GatewayError, type Next } from '@edge-gateway/core';
import type { CompiledAction } from '../route/compile/route.ts';
import { parseAbsoluteTarget } from '../listen/check/check-host.ts';
import { canonicalPath, type PathSettings } from '../route/match/canonical-path.ts';
import { findRoute } from '../route/match/route-index.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import type { ManagerSettings } from '../route/options/manager-settings.ts';
import { locationOf } from '../route/options/redirect.ts';
import { chooseByWeight } from '../route/options/weighted-choice.ts';
import { matchedLength } from '../route/match/matcher.ts';
import { respond } from './respond.ts';
import { failureReply, redirectReply, replyTo, textReply } from './reply.ts';
import { applyFacts, setPath } from './request-changes.ts';
import { takeIn } from '../route/downstream-head.ts';
import type { RequestExits } from './request-exits.ts';
import type { RoutedRequest } from './routed-request.ts';
import { takeRecorded } from './upstream-head.ts';

/** Takes a request through the router: head, virtual host, path, route, concerns, action. Never throws. */
export function serve(request: RoutedRequest, exits: RequestExits): void {
  try {
    const found = match(request, exits);
    if (found === 'passOn') exits.passOn!();
    else if (found === 'matched') enter(request, exits);
  } catch (error) {
    fail(request, exits, error);
  }
}

/** Finds the route; where there is none the request is answered here, unless it may be passed on. */
function match(request: RoutedRequest, exits: RequestExits): 'matched' | 'answered' | 'passOn' {
  const { listener, req } = request;
  const mayPassOn = exits.passOn !== undefined;
  const taken = takeIn(req.rawHeaders, request, listener.settings);
  request.headers = taken.headers;
  request.authority = taken.authority;
  request.requestId = taken.requestId;
  request.clientAddress = taken.clientAddress;
  request.scheme = taken.scheme;
  applyHeaderOps(request.headers, listener.settings.earlyHeaders, request);
  request.host = listener.findHost(request.authority)?.value;
  if (!request.host && mayPassOn) return 'passOn';
  const canonical = canonicalPath(originForm(request), pathSettings(listener.settings, exits));
  if ('path' in canonical && taken.refuse === undefined && listener.failed === undefined) {
    setPath(request, canonical.path);
    request.entry = request.host && findRoute(request.host.index, request);
    if (request.entry) {
      request.begin();
      return 'matched';
    }
    if (mayPassOn) return 'passOn';
  }
  request.begin();
  if (listener.failed !== undefined) request.refuse('ERR_ROUTING_ROUTE');
  else if (taken.refuse !== undefined) request.refuse(taken.refuse);
  else if ('refuse' in canonical) request.refuse(canonical.refuse);
  else if ('redirect' in canonical) request.reply(redirectReply(canonical.status, canonical.redirect));
  else notFound(request);
  return 'answered';
}

/** Returns settings that, in a user's own server, reject paths that are not canonical: rewriting them would bypass earlier handlers. */
function pathSettings({ path, embeddedPath }: ManagerSettings, { embedded }: RequestExits): PathSettings {
  return embedded ? embeddedPath : path;
}

/** The target as a path; the host in an absolute one was compared with `Host` by then, or is here. */
function originForm(request: RoutedRequest): string {
  const target = request.path;
  if (target.startsWith('/')) return target;
  const absolute = parseAbsoluteTarget(target);
  const written = request.authority.toLowerCase();
  const { settings } = request.listener;
  if (absolute && (absolute.authority.toLowerCase() === written || settings.stripAnyHostPort)) return absolute.path;
  return target;
}

function notFound(request: RoutedRequest): void {
  request.environment.stats.noRoute.value++;
  request.flags = 'NR';
  request.details = 'route_not_found';
  request.reply(failureReply(404, ''));
}

/** Chooses the destination, so that its options hold, then asks the concerns. */
function enter(request: RoutedRequest, exits: RequestExits): void {
  const { action } = request.entry!.route.compiled;
  request.environment.stats.routed.value++;
  if (!choose(request, exits, action)) return;
  if (request.plan.chain.length === 0) return act(request, exits);
  request.hold();
  // A concern may answer by itself; then the end of the response is the end of the request.
  request.res.once('close', () => closed(request));
  step(request, exits, 0);
}

/** Settles destination and plan; answers and gives false where there is none. */
function choose(request: RoutedRequest, exits: RequestExits, action: CompiledAction): boolean {
  if (action.type === 'failed') {
    request.refuse('ERR_ROUTING_ROUTE');
    return false;
  }
  request.destination = undefined;
  if (action.type === 'forward') {
    request.destination = chooseByWeight(action.destinations, Math.random() * action.total);
    if (!request.destination) {
      noCluster(request);
      return false;
    }
    request.plan = request.destination;
  } else {
    request.plan = action.plan;
  }
  // Where nobody reads or writes facts, there are none to make.
  if (exits.embedded || request.facts || request.plan.chain.length > 0 || action.type === 'respond')
    shareFacts(request);
  return true;
}

/**
 * Chooses the route again, by what the concerns up to `i` left. Of the new route all those run that this request has not
 * met yet, so that no change of route goes round a policy.
 */
function reroute(request: RoutedRequest, exits: RequestExits, i: number): void {
  request.enterHost(request.listener.findHost(request.authority)?.value);
  const entry = request.host && findRoute(request.host.index, request);
  if (entry === request.entry) return step(request, exits, i + 1);
  request.entry = entry;
  if (!entry) return notFound(request);
  const met = (request.met ??= new Set());
  for (const handler of request.plan.chain.slice(0, i + 1)) met.add(handler);
  if (!choose(request, exits, entry.route.compiled.action)) return;
  const { plan } = request;
  request.plan = { ...plan, chain: plan.chain.filter((handler) => !met.has(handler)) };
  step(request, exits, 0);
}

/** Takes on what a concern changed of method, path and host, and where it asks for it, of the route. */
function onward(request: RoutedRequest, exits: RequestExits, i: number): void {
  const facts = request.facts!;
  applyFacts(request, facts);
  if (!facts.reroute) return step(request, exits, i + 1);
  facts.reroute = false;
  takeRecorded(request.headers, facts);
  reroute(request, exits, i);
}

function shareFacts(request: RoutedRequest): void {
  const facts = factsOf(request.req);
  facts.requestId = request.requestId;
  facts.path = request.path;
  facts.method = request.method;
  facts.headers = request.headers;
  facts.connection = request;
  facts.routeName = request.routeName;
  facts.upstream = request.upstream;
  request.facts = facts;
}

/** Runs the concern at `i`, and what follows when it lets the request pass. */
function step(request: RoutedRequest, exits: RequestExits, i: number): void {
  const handler = request.plan.chain[i];
  if (!handler) return act(request, exits);
  let called = false;
  // Each concern has its own `next`: one that calls twice must not step over the one behind it.
  const next: Next = (error) => {
    if (called) return;
    called = true;
    if (error !== undefined) return fail(request, exits, error);
    try {
      if (!request.finished) onward(request, exits, i);
    } catch (failure) {
      fail(request, exits, failure);
    }
  };
  try {
    const pending = handler(request.req, request.res, next) as unknown;
    if (pending instanceof Promise) pending.catch((error: unknown) => next(error ?? new Error('rejected')));
  } catch (error) {
    next(error ?? new Error('thrown'));
  }
}

function act(request: RoutedRequest, exits: RequestExits): void {
  const { action } = request.entry!.route.compiled;
  try {
    if (action.type === 'forward') exits.send(request, request.destination!, action);
    else if (action.type === 'redirect') redirect(request, action);
    else if (action.type === 'reply') {
      request.details = action.details;
      request.reply(textReply(action.status, action.body));
    } else if (action.type === 'respond') {
      respond(request, { upgrade: exits.upgrade, closed, fail: (failed, error) => fail(failed, exits, error) }, action);
    }
  } catch (error) {
    fail(request, exits, error);
  }
}

function redirect(request: RoutedRequest, action: Extract<CompiledAction, { readonly type: 'redirect' }>): void {
  const matched = matchedLength(request.entry!.matcher, request.pathname);
  const { scheme, authority, path, pathname } = request;
  const location = locationOf(action.redirect, { scheme, authority, path, pathname, matched });
  if (location === undefined) return request.refuse('ERR_ROUTING_DOT_SEGMENT');
  request.environment.stats.redirect.value++;
  request.details = 'direct_response';
  request.reply(redirectReply(action.redirect.status, location));
}

/** 503: the cluster of a route does not exist, or no share of it is more than 0. */
export function noCluster(request: RoutedRequest): void {
  request.environment.stats.noCluster.value++;
  request.flags = 'NC';
  request.details = 'cluster_not_found';
  request.reply(failureReply(503, ''));
}

function fail(request: RoutedRequest, exits: RequestExits, error: unknown): void {
  const reply = error instanceof GatewayError ? error.reply : undefined;
  request.details ||= reply?.details ?? (error instanceof Error ? error.message : String(error));
  request.flags ||= reply?.flags ?? '';
  if (!exits.passOn) return request.reply(replyTo(error, request.requestId));
  request.status = 500;
  request.finish();
  exits.passOn(error);
}

function closed(request: RoutedRequest): void {
  if (request.finished || request.sent) return;
  request.status = request.res.headersSent ? request.res.statusCode : 0;
  if (!request.res.writableFinished) request.flags ||= 'DC';
  request.finish();
}
