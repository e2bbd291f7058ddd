import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { nodeDelay, type DynamicDestination, type Handler } from '@edge-gateway/core';
import type { UpstreamReply } from '../forward/forward.ts';
import { forward } from '../forward/forward-request.ts';
import { parsedBody } from '../forward/parsed-body.ts';
import { forwardUpgrade } from '../forward/upgrade/forward-upgrade.ts';
import { endToEndHeaders } from '../forward/upgrade/relay.ts';
import { isTunnelRequest, checkOwnUpgrade } from '../check/check-head.ts';
import { checkOwnTunnel } from '../check/check-request.ts';
import type { CompiledDestination, ForwardAction } from '../route/compile/route.ts';
import { idleLimitOf, suspendIdleTimeout } from '../listen/connection.ts';
import { DEFAULT_LIMITS } from '../listen/limits.ts';
import { streamLimitsOf, type StreamLimits, type StreamPolicy } from '../route/options/stream-limits.ts';
import { DEFAULT_UPGRADES, type UpgradeKind } from '../route/options/upgrades.ts';
import type { Upstream, Upstreams } from '../upstream/upstream.ts';
import { applyRequestChanges, prepareUpstream, type EndpointPicker, type SendProblem } from './outgoing-request.ts';
import { findHeader } from '../http1/flat-headers.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { ForwardProxies } from '../upstream/dynamic/forward-proxies.ts';
import { runPostRouting } from './post-routing.ts';
import type { WebSocketTunnel } from '../websocket/websocket-tunnel.ts';
import { textReply } from './reply.ts';
import type { RoutedRequest, UpgradeSocket } from './routed-request.ts';

export interface SendTarget {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  readonly upstreams: Upstreams;
  readonly proxies: ForwardProxies;
}

/**
 * Sends a request upstream, or responds if it cannot be sent. Throws `ERR_ROUTING_BODY_CONSUMED` if a body parser in
 * front consumed a body that cannot be restored.
 */
export function sendUpstream(request: RoutedRequest, target: SendTarget): void {
  const upstream = prepare(request, target, undefined);
  if (!upstream) return;
  if (upstream === HOST_FROM_REQUEST) sendToNamedHost(request, target);
  else pass(request, upstream as Upstream);
}

// Functions of their own: a function that creates a callback allocates its context in each call, also where it needs none.
function sendToNamedHost(request: RoutedRequest, { proxies }: SendTarget): void {
  sendToHost(request, proxies, (host) => pass(request, host));
}

function pass(request: RoutedRequest, upstream: Upstream): void {
  if (request.route.plan.postRouting) forwardAfterPostRouting(request, request.route.plan.postRouting, upstream);
  else forwardTo(request, upstream);
}

function forwardAfterPostRouting(request: RoutedRequest, handlers: readonly Handler[], upstream: Upstream): void {
  runPostRouting(request, { handlers, upstream }, () => forwardTo(request, upstream));
}

function forwardTo(request: RoutedRequest, upstream: Upstream): void {
  const policy = request.policy!;
  request.body = parsedBody(request.req);
  if (policy.stream) limitStream(request, policy.stream);
  request.sending();
  policy.shadow?.copy(request);
  forward(request.req, request.res, upstream, request);
  request.release();
}

function limitStream(request: RoutedRequest, policy: StreamPolicy): void {
  request.streamLimits = streamLimitsOf(policy, request.head.headers);
  if (policy.idleMs !== undefined) suspendIdleTimeout(request.req, request.res, policy.idleMs);
}

/** Sends an upgrade upstream, or responds if it is not allowed or cannot be sent. */
export function sendUpgrade(request: RoutedRequest, target: SendTarget, { socket, head }: UpgradeSocket): void {
  const kind = isTunnelRequest(request.req) ? 'connect' : 'websocket';
  const refused = kind === 'connect' ? checkOwnTunnel(request.req) : checkOwnUpgrade(request.req);
  if (refused) return request.refuse(refused.code);
  const upgrade = { socket, head };
  const upstream = prepare(request, target, kind);
  if (!upstream) return;
  if (upstream === HOST_FROM_REQUEST)
    sendToHost(request, target.proxies, (host) => passUpgrade(request, host, upgrade));
  else passUpgrade(request, upstream as Upstream, upgrade);
}

function passUpgrade(request: RoutedRequest, upstream: Upstream, upgrade: UpgradeSocket): void {
  const { postRouting } = request.route.plan;
  if (postRouting)
    runPostRouting(request, { handlers: postRouting, upstream }, () => forwardSocket(request, upstream, upgrade));
  else forwardSocket(request, upstream, upgrade);
}

function forwardSocket(request: RoutedRequest, upstream: Upstream, { socket, head }: UpgradeSocket): void {
  const isTunnel = isTunnelRequest(request.req);
  const { upgrades = DEFAULT_UPGRADES, stream } = request.policy ?? {};
  limitUpgrade(request, stream, socket);
  request.sending();
  const takeBack = request.detachSocket(socket as Socket);
  const { webSockets, stats } = request.environment;
  stats.upgrades.value++;
  stats.upgradesActive.value++;
  const { name } = request.listener.source;
  let opened: WebSocketTunnel | undefined;
  forwardUpgrade(request.req, socket, head, {
    upstream,
    path: request.head.path,
    headers: request.head.headers,
    endpoint: request.endpoint,
    pickContext: request.pickContext,
    timeoutMs: request.timeoutMs,
    now: request.environment.now,
    streamLimits: request.streamLimits,
    retries: request.retries,
    tunnel: isTunnel && upgrades.connect !== 'refused' ? upgrades.connect : undefined,
    isHttp2: request.req.httpVersionMajor > 1,
    onRetry: (attempt, host, elapsedMs) => request.onRetry(attempt, host, elapsedMs),
    onTunnel: (status, headers, host) => request.onTunnelHead(status, headers, host),
    onResponse(response, host) {
      takeBack();
      limitResponse(request, response, socket as Socket);
      respondInstead(request, response, host);
    },
    onFailure(failure, outcome) {
      stats.upgradesActive.value--;
      takeBack();
      request.onDone({ ...outcome, failure });
    },
    onOpen(tunnel) {
      request.responded();
      opened = tunnel;
      webSockets.add(name, tunnel);
    },
    onDone: (outcome) => {
      stats.upgradesActive.value--;
      if (opened) webSockets.remove(name, opened);
      request.result.status = outcome.status;
      request.onDone(outcome);
    },
  });
  request.release();
}

/** The listener does not enforce its idle timeout on upgraded connections, so it is applied here. */
function limitUpgrade(request: RoutedRequest, policy: StreamPolicy | undefined, socket: Duplex): void {
  const { idleMs, durationMs }: StreamLimits = policy
    ? streamLimitsOf(policy, request.head.headers)
    : { idleMs: undefined, durationMs: 0 };
  request.streamLimits = { idleMs: idleMs ?? idleLimitOf(socket), durationMs };
  suspendIdleTimeout(request.req, request.res, request.streamLimits.idleMs);
}

/** Ends a response that pauses for too long, or whose client has left: nothing else reads the connection of the client. */
function limitResponse({ res, streamLimits }: RoutedRequest, response: UpstreamReply, socket: Socket): void {
  const end = (): void => void res.destroy();
  response.setTimeout(nodeDelay(streamLimits?.idleMs || DEFAULT_LIMITS.streamIdleTimeoutMs), end);
  socket.on('end', end).resume();
  res.once('close', () => socket.off('end', end));
}

/** Writes the response of an upstream that does not upgrade, with the changes and filters of the route. */
function respondInstead(request: RoutedRequest, response: UpstreamReply, host: Host): void {
  const { res } = request;
  const { statusCode: status = 502 } = response;
  try {
    res.writeHead(status, request.onResponseHead(status, endToEndHeaders(response), host));
  } catch {
    return void res.destroy();
  }
  response.pipe(res);
  // A body that ends early must not look complete.
  response.once('error', () => res.destroy()).once('close', () => response.readableEnded || res.destroy());
  res.once('close', () => response.destroy());
}

/** Prepares the request for its upstream and returns that; responds if it cannot be sent. */
function prepare(
  request: RoutedRequest,
  target: SendTarget,
  upgrade: UpgradeKind | undefined,
): EndpointPicker | undefined {
  if (isGone(request)) return undefined;
  const { destination, action, upstreams } = target;
  const { dynamic } = destination;
  const upstream = dynamic ? dynamicUpstream(request, dynamic, upstreams) : upstreams.get(destination.upstream);
  const problem = prepareUpstream(request, { destination, action, upstream, upgrade });
  if (!problem) return upstream;
  respondToProblem(request, problem);
  return undefined;
}

/** Returns true if the client has disconnected; the request is then finished. */
function isGone(request: RoutedRequest): boolean {
  if (!request.res.destroyed) return false;
  request.result.flags = 'DC';
  request.finish();
  return true;
}

/** The host of a request is known only when its name is resolved. */
const HOST_FROM_REQUEST: EndpointPicker = { pick: () => undefined };

/** Returns the cluster that a header names, which concerns may have set. */
function dynamicUpstream(
  request: RoutedRequest,
  dynamic: DynamicDestination,
  upstreams: Upstreams,
): EndpointPicker | undefined {
  if (dynamic.type === 'host') return HOST_FROM_REQUEST;
  if (request.facts) applyRequestChanges(request.head.headers, request.facts);
  const name = findHeader(request.head.headers, dynamic.header) ?? '';
  request.route.chosen = name;
  return upstreams.get(name);
}

/** Resolves the host of a request, and sends the request to it if it is allowed. */
function sendToHost(request: RoutedRequest, proxies: ForwardProxies, use: (upstream: Upstream) => void): void {
  const proxy = proxies.get(request.listener.source.httpOptions.dynamicForwardProxy);
  if (!proxy) return request.noCluster();
  proxy.choose(findHeader(request.head.headers, 'host') ?? '', (chosen) => {
    if (isGone(request)) return;
    if ('cluster' in chosen) {
      try {
        use(chosen.cluster);
      } catch (error) {
        request.fail({ passOn: undefined }, error);
      }
    } else request.onDone({ ...chosen.failure, attempts: 0, bytesSent: 0, bytesReceived: 0 });
  });
}

function respondToProblem(request: RoutedRequest, problem: SendProblem): void {
  if (problem.type === 'noCluster') return request.noCluster();
  if (problem.type === 'rejected') return request.refuse(problem.code);
  request.result.flags = 'NC';
  request.result.details = problem.by.reason;
  request.reply(textReply(problem.by.status, problem.by.body));
}
