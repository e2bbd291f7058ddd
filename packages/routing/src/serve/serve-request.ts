import { chargeComplexity, type DynamicDestination, type Next } from '@edge-gateway/core';
import { removeHeader } from '../http1/flat-headers.ts';
import { resolveAction, type CompiledAction, type Plan } from '../route/compile/route.ts';
import { destinationAt } from '../route/destination-at.ts';
import { routeAgain, routeRequest, type RouteDecision, type RoutingMode } from '../route/route-request.ts';
import { isHealthPath, respondHealth } from './health-path.ts';
import { withGrpcWeb } from './grpc-web.ts';
import { failureReply, redirectReply, textReply } from './reply.ts';
import { respond } from './respond.ts';
import type { RequestExits, RoutedRequest } from './routed-request.ts';
import { shareFacts, applyRequestChanges } from './outgoing-request.ts';
import { newRequestId } from '../request-id.ts';

const LISTENING: RoutingMode = { embedded: false, newRequestId };
const EMBEDDED: RoutingMode = { ...LISTENING, embedded: true };

/** Serves a request: route, concerns, action. Never throws. */
export function serve(request: RoutedRequest, exits: RequestExits): void {
  try {
    if (isHealthPath(request.listener, request.req)) return respondHealth(request);
    const decision = routeRequest(request, request.listener, exits.embedded ? EMBEDDED : LISTENING);
    request.adopt(decision);
    if (exits.passOn && isUnmatched(decision)) return exits.passOn();
    request.begin();
    if (decision.entry) enter(request, exits);
    else respondWithout(request, exits, decision);
  } catch (error) {
    request.fail(exits, error);
  }
}

/** Returns true if no virtual host or route matches. Without a virtual host, a rejection is passed on too. */
function isUnmatched({ host, entry, rejected, redirect }: RouteDecision): boolean {
  return host === undefined || (entry === undefined && rejected === undefined && redirect === undefined);
}

function respondWithout(request: RoutedRequest, exits: RequestExits, { rejected, redirect }: RouteDecision): void {
  if (rejected !== undefined) request.refuse(rejected);
  else if (redirect) request.reply(redirectReply(redirect.status, redirect.location));
  else if (request.listener.unrouted) enterUnrouted(request, exits, request.listener.unrouted.plan);
  else notFound(request);
}

/** Runs the concerns of the listener that apply to requests without a route. */
function enterUnrouted(request: RoutedRequest, exits: RequestExits, plan: Plan): void {
  request.route.plan = plan;
  shareFacts(request);
  run(request, exits);
}

function notFound(request: RoutedRequest): void {
  request.environment.stats.noRoute.value++;
  request.result.flags = 'NR';
  request.result.details = 'route_not_found';
  if (!request.route.host) request.environment.onUnknownHost(request.listener, request.head.authority);
  if (request.head.method === 'CONNECT') return request.refuse('ERR_ROUTING_METHOD_NOT_ALLOWED');
  request.reply(failureReply({ code: 'ERR_ROUTING_NO_ROUTE', status: 404 }, request.head.requestId));
}

/** Chooses the destination, so that its options apply, then runs the concerns. */
function enter(request: RoutedRequest, exits: RequestExits): void {
  const { action } = request.route.entry!.route;
  request.environment.stats.routed.value++;
  if (!choose(request, exits, action)) return;
  const { chain, postRouting } = request.route.plan;
  if (chain.length === 0 && !postRouting) return act(request, exits);
  run(request, exits);
}

function run(request: RoutedRequest, exits: RequestExits): void {
  request.pinUpstreams();
  // A concern may respond itself; then the request ends with its response.
  request.res.on('close', () => request.closed());
  step(request, exits, 0);
}

/** Chooses destination and plan; responds and returns false if there is none. */
function choose(request: RoutedRequest, exits: RequestExits, action: CompiledAction): boolean {
  const { route } = request;
  if (action.type === 'failed') {
    request.refuse(action.code);
    return false;
  }
  route.destination = undefined;
  if (action.type === 'forward') {
    route.destination = destinationAt(action.destinations, Math.random() * action.total);
    if (!route.destination) {
      request.noCluster();
      return false;
    }
    route.plan = route.destination;
    if (route.destination.dynamic) sanitizeClusterHeader(request, route.destination.dynamic);
  } else {
    route.plan = action.plan;
  }
  if (request.head.grpc !== undefined && request.listener.translatesGrpcWeb) translateGrpcWeb(request);
  if (route.plan.filters) request.filterResponse(route.plan.filters);
  else if (request.filters) request.filterResponse([]);
  // Facts are created only if a concern reads or writes them.
  if (
    exits.embedded ||
    request.facts ||
    route.plan.chain.length > 0 ||
    route.plan.postRouting ||
    action.type === 'respond'
  )
    shareFacts(request);
  if (action.type === 'respond') {
    request.facts!.complexityCharges ??= [];
    if (exits.upgrade) request.facts!.operationCharges ??= [];
  }
  return true;
}

function translateGrpcWeb(request: RoutedRequest): void {
  if (request.head.grpc === 'grpc') return;
  request.translatesGrpcWeb = true;
  request.route.plan = withGrpcWeb(request.route.plan);
}

/** Removes the header that chooses the cluster, unless a concern sets it later, with `sanitizeClusterHeader`. */
function sanitizeClusterHeader({ head, listener }: RoutedRequest, dynamic: DynamicDestination): void {
  if (dynamic.type !== 'clusterHeader' || !listener.source.httpOptions.sanitizeClusterHeader) return;
  removeHeader(head.headers, dynamic.header);
}

/**
 * Chooses the route again, after the changes of the concerns up to `i`. All concerns of the new route run that this request has not
 * met yet, so that no change of route bypasses a policy.
 */
function reroute(request: RoutedRequest, exits: RequestExits, i: number): void {
  const { route } = request;
  const { host, entry } = routeAgain(request.head, request.listener);
  request.enterHost(host?.value);
  if (entry === route.entry) return step(request, exits, i + 1);
  route.entry = entry;
  if (!entry) return notFound(request);
  const met = (request.met ??= new Set());
  for (const handler of route.plan.chain.slice(0, i + 1)) met.add(handler);
  if (!choose(request, exits, entry.route.action)) return;
  route.plan = { ...route.plan, chain: route.plan.chain.filter((handler) => !met.has(handler)) };
  const { filters = [] } = route.plan;
  const kept = [...met].filter((handler) => handler.outlivesRoute && !filters.includes(handler));
  if (kept.length > 0) request.filterResponse([...filters, ...kept]);
  step(request, exits, 0);
}

/** Applies a concern's changes of method, path and host, and chooses the route again if the concern requires it. */
function onward(request: RoutedRequest, exits: RequestExits, i: number): void {
  const facts = request.facts!;
  request.head.applyFacts(facts);
  if (!facts.reroute) return step(request, exits, i + 1);
  facts.reroute = false;
  applyRequestChanges(request.head.headers, facts);
  reroute(request, exits, i);
}

/** Runs the concern at `i`, and the following ones if it accepts the request. */
function step(request: RoutedRequest, exits: RequestExits, i: number): void {
  const handler = request.route.plan.chain[i];
  if (!handler) return act(request, exits);
  let called = false;
  // Each concern has its own `next`: one that calls it twice must not skip the following one.
  const next: Next = (error) => {
    if (called) return;
    called = true;
    request.trace?.endStage();
    request.recording?.endStage();
    if (error !== undefined) return request.fail(exits, error);
    try {
      if (!request.finished) onward(request, exits, i);
    } catch (failure) {
      request.fail(exits, failure);
    }
  };
  request.trace?.beginStage(handler.name);
  request.recording?.beginStage(handler.name);
  try {
    const pending = handler(request.req, request.res, next) as unknown;
    if (pending instanceof Promise) pending.catch((error: unknown) => next(error ?? new Error('rejected')));
  } catch (error) {
    next(error ?? new Error('thrown'));
  }
}

/** Runs the action. One that computes no complexity after a change of the route is charged as 1. */
function act(request: RoutedRequest, exits: RequestExits): void {
  const { entry } = request.route;
  if (!entry) return notFound(request);
  const isCharged = request.facts?.complexityCharges && entry.route.action.type !== 'respond';
  const charging = isCharged ? chargeComplexity(request.facts!, 1) : undefined;
  if (!charging) return actOn(request, exits);
  const proceed = (): void => void (request.finished || actOn(request, exits));
  charging.then(proceed, (error: unknown) => request.fail(exits, error));
}

function actOn(request: RoutedRequest, exits: RequestExits): void {
  try {
    const action = resolveAction(request.head, request.route.entry!);
    if (action.type === 'forward') exits.send(request, request.route.destination!, action);
    else if (action.type === 'redirected') redirect(request, action);
    else if (action.type === 'rejected') request.refuse(action.code);
    else if (action.type === 'reply') {
      request.result.details = action.details;
      request.reply(textReply(action.status, action.body));
    } else if (action.type === 'respond') {
      respond(request, exits, action);
    }
  } catch (error) {
    request.fail(exits, error);
  }
}

function redirect(
  request: RoutedRequest,
  { status, location }: { readonly status: number; readonly location: string },
): void {
  request.environment.stats.redirect.value++;
  request.result.details = 'direct_response';
  request.reply(redirectReply(status, location));
}
