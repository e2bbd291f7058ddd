import type { Socket } from 'node:net';
import type { CompiledDestination } from '../route/compile/route.ts';
import type { RoutedRequest } from './routed-request.ts';
import { parsedBody } from '../forward/parsed-body.ts';
import { forward } from '../forward/forward-request.ts';
import { checkOwnUpgrade } from '../listen/check/check-upgrade.ts';
import { forwardUpgrade } from '../forward/upgrade.ts';
import { textReply } from './reply.ts';
import type { ForwardAction, UpgradeSocket } from './request-exits.ts';
import { noCluster } from './serve-request.ts';
import { makeUpstreamHead } from './upstream-head.ts';
import type { Upstream, Upstreams } from '../upstream/upstream.ts';

/** Where a request goes. */
export interface Sending {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  readonly upstreams: Upstreams;
}

/**
 * Sends a request upstream, or answers it where that cannot be. Throws `ERR_ROUTING_BODY_CONSUMED` where a body parser in
 * front has read what cannot be written again.
 */
export function sendUpstream(request: RoutedRequest, sending: Sending): void {
  const upstream = prepare(request, sending);
  if (!upstream) return;
  request.body = parsedBody(request.req);
  request.sending();
  forward(request.req, request.res, upstream, request);
  request.release();
}

/** Hands an upgrade upstream, or answers it where that is not allowed or cannot be. */
export function sendUpgrade(request: RoutedRequest, sending: Sending, { socket, head }: UpgradeSocket): void {
  const refused = checkOwnUpgrade(request.req);
  if (refused) return request.refuse(refused.code);
  if (!sending.action.policy.websocket) return request.refuse('ERR_ROUTING_UPGRADE');
  const upstream = prepare(request, sending);
  if (!upstream) return;
  request.sending();
  request.releaseSocket(socket as Socket);
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
  request.release();
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
