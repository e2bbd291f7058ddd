import type { Socket } from 'node:net';
import type { CompiledDestination, ForwardPolicy } from './compile/route.ts';
import { findHeader, setHeader } from './flat-headers.ts';
import { matchedLength } from './match/matcher.ts';
import { applyHeaderOps } from './options/header-manipulation.ts';
import { hostOfEndpoint, type HostRewrite } from './options/host-rewrite.ts';
import { rewritePrefix } from './options/prefix-rewrite.ts';
import { applyRecorded, removeLookalikes } from './response-headers.ts';
import type { RoutedRequest } from './routed-request.ts';
import { forward } from './forward/undici.ts';
import { forwardUpgrade } from './forward/upgrade.ts';
import { textReply } from './reply.ts';
import { noCluster, type ForwardAction, type UpgradeSocket } from './serve.ts';
import type { Upstream, Upstreams } from './upstream/upstream.ts';

/** Where a request goes. */
export interface Sending {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  readonly upstreams: Upstreams;
}

/** Sends a request upstream, or answers it where that cannot be. */
export function sendUpstream(request: RoutedRequest, sending: Sending): void {
  const upstream = prepare(request, sending);
  if (!upstream) return;
  request.sending();
  forward(request.req, request.res, upstream, request);
}

/** Hands an upgrade upstream, or answers it where that is not allowed or cannot be. */
export function sendUpgrade(request: RoutedRequest, sending: Sending, { socket, head }: UpgradeSocket): void {
  if (!sending.action.policy.websocket) return request.refuse('ERR_ROUTING_UPGRADE');
  const upstream = prepare(request, sending);
  if (!upstream) return;
  request.sending();
  request.res.detachSocket(socket as Socket);
  forwardUpgrade(request.req, socket, head, {
    upstream,
    path: request.path,
    headers: request.headers,
    endpoint: request.endpoint,
    onDone: (outcome) => {
      request.status = outcome.status;
      request.onDone({ ...outcome, upstreamMs: -1 });
    },
  });
}

function prepare(request: RoutedRequest, { destination, action, upstreams }: Sending): Upstream | undefined {
  if (request.res.destroyed) {
    request.flags = 'DC';
    request.finish();
    return undefined;
  }
  const { broken } = destination;
  if (broken) {
    request.flags = 'NC';
    request.details = broken.reason;
    request.reply(textReply(broken.status, broken.body));
    return undefined;
  }
  const upstream = upstreams.get(destination.upstream);
  if (!upstream) noCluster(request);
  else if (makeUpstreamHead(request, action.policy, upstream)) return upstream;
  else request.refuse('ERR_ROUTING_DOT_SEGMENT');
  return undefined;
}

/**
 * Makes the head that the upstream gets, in place: recorded changes, header manipulation, host, path, limit.
 * Gives false when the path cannot be rewritten safely.
 */
export function makeUpstreamHead(request: RoutedRequest, policy: ForwardPolicy, upstream: Upstream): boolean {
  const { headers, facts } = request;
  if (facts && facts.requestChanges.length > 0) {
    const set = facts.requestChanges.filter(({ op }) => op !== 'append').map(({ name }) => name);
    removeLookalikes(headers, set);
    applyRecorded(headers, facts.requestChanges);
  }
  applyHeaderOps(headers, request.plan.headers.request, request);
  rewriteHost(request, policy.host, upstream);
  if (!rewritePath(request, policy.prefixRewrite)) return false;
  if (policy.timeoutHeader !== '') setHeader(headers, 'x-envoy-expected-rq-timeout-ms', policy.timeoutHeader);
  request.timeoutMs = policy.timeoutMs;
  return true;
}

function rewriteHost(request: RoutedRequest, rewrite: HostRewrite, upstream: Upstream): void {
  if (rewrite.auto) request.endpoint = upstream.pick();
  const host = rewrite.literal ?? (rewrite.auto ? hostOfEndpoint(request.endpoint) : undefined);
  if (host === undefined || host === request.authority) return;
  const { headers, authority } = request;
  setHeader(headers, 'host', host);
  if (!rewrite.appendForwardedHost || authority === '') return;
  const before = findHeader(headers, 'x-forwarded-host');
  setHeader(headers, 'x-forwarded-host', before === undefined ? authority : `${before},${authority}`);
}

function rewritePath(request: RoutedRequest, prefix: string): boolean {
  if (prefix === '') return true;
  const { matcher } = request.entry!;
  const rewritten = rewritePrefix(request.path, matchedLength(matcher, request.pathname), prefix);
  if (rewritten === undefined) return false;
  if (rewritten === request.path) return true;
  if (!request.listener.settings.suppressEnvoyHeaders) {
    setHeader(request.headers, 'x-envoy-original-path', request.path);
  }
  request.path = rewritten;
  return true;
}
