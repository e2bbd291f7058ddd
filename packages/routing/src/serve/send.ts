import type { Socket } from 'node:net';
import { forward } from '../forward/forward-request.ts';
import { parsedBody } from '../forward/parsed-body.ts';
import { forwardUpgrade } from '../forward/upgrade.ts';
import { checkOwnUpgrade } from '../listen/check/check-upgrade.ts';
import type { CompiledDestination } from '../route/compile/route.ts';
import type { Upstream, Upstreams } from '../upstream/upstream.ts';
import { prepareUpstream, type SendProblem } from './prepare-request.ts';
import { textReply } from './reply.ts';
import type { ForwardAction, UpgradeSocket } from './request-exits.ts';
import type { RoutedRequest } from './routed-request.ts';
import { noCluster } from './serve-request.ts';
import { UpstreamRequest } from './upstream-request.ts';

/** Where a request goes. */
export interface Sending {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  readonly upstreams: Upstreams;
}

/**
 * Sends a request upstream, or responds where it cannot be sent. Throws `ERR_ROUTING_BODY_CONSUMED` where a body parser in
 * front has read what cannot be written again.
 */
export function sendUpstream(request: RoutedRequest, sending: Sending): void {
  const upstream = prepare(request, sending, false);
  if (!upstream) return;
  const body = parsedBody(request.req);
  request.sending();
  const { timeoutMs } = sending.action.policy;
  forward(request.req, request.res, upstream, new UpstreamRequest(request, timeoutMs, body));
  request.release();
}

/** Sends an upgrade upstream, or responds where it is not allowed or cannot be sent. */
export function sendUpgrade(request: RoutedRequest, sending: Sending, { socket, head }: UpgradeSocket): void {
  const refused = checkOwnUpgrade(request.req);
  if (refused) return request.refuse(refused.code);
  const upstream = prepare(request, sending, true);
  if (!upstream) return;
  request.sending();
  request.releaseSocket(socket as Socket);
  forwardUpgrade(request.req, socket, head, {
    upstream,
    path: request.head.path,
    headers: request.head.headers,
    endpoint: request.endpoint,
    onDone: (outcome) => {
      request.result.status = outcome.status;
      request.onDone({ ...outcome, upstreamMs: -1 });
    },
  });
  request.release();
}

function prepare(
  request: RoutedRequest,
  { destination, action, upstreams }: Sending,
  isUpgrade: boolean,
): Upstream | undefined {
  if (request.res.destroyed) {
    request.result.flags = 'DC';
    request.finish();
    return undefined;
  }
  const upstream = upstreams.get(destination.upstream);
  const problem = prepareUpstream(request, { destination, action, upstream, isUpgrade });
  if (!problem) return upstream;
  answerProblem(request, problem);
  return undefined;
}

function answerProblem(request: RoutedRequest, problem: SendProblem): void {
  if (problem.type === 'noCluster') return noCluster(request);
  if (problem.type === 'rejected') return request.refuse(problem.code);
  request.result.flags = 'NC';
  request.result.details = problem.by.reason;
  request.reply(textReply(problem.by.status, problem.by.body));
}
