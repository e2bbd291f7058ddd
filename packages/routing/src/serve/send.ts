import type { Socket } from 'node:net';
import { forward } from '../forward/forward-request.ts';
import { parsedBody } from '../forward/parsed-body.ts';
import { forwardUpgrade } from '../forward/upgrade.ts';
import { checkOwnUpgrade } from '../check/check-head.ts';
import type { CompiledDestination, ForwardAction } from '../route/compile/route.ts';
import type { Upstream, Upstreams } from '../upstream/upstream.ts';
import { sessionHeader } from './host-choice.ts';
import { prepareUpstream, shareFacts, type SendProblem } from './outgoing-request.ts';
import { runPostRouting } from './post-routing.ts';
import { textReply } from './reply.ts';
import type { RoutedRequest, UpgradeSocket } from './routed-request.ts';

export interface SendTarget {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  readonly upstreams: Upstreams;
}

/**
 * Sends a request upstream, or responds if it cannot be sent. Throws `ERR_ROUTING_BODY_CONSUMED` if a body parser in
 * front consumed a body that cannot be restored.
 */
export function sendUpstream(request: RoutedRequest, target: SendTarget): void {
  const upstream = prepare(request, target, false);
  if (!upstream) return;
  const { late } = request.route.plan;
  if (late) runPostRouting(request, { handlers: late, upstream }, () => forwardTo(request, upstream, target.action));
  else forwardTo(request, upstream, target.action);
}

function forwardTo(request: RoutedRequest, upstream: Upstream, { policy }: ForwardAction): void {
  request.body = parsedBody(request.req);
  request.policy = policy;
  policy.shadow?.copy(request);
  request.sending();
  forward(request.req, request.res, upstream, request);
  request.release();
}

/** Sends an upgrade upstream, or responds if it is not allowed or cannot be sent. */
export function sendUpgrade(request: RoutedRequest, target: SendTarget, { socket, head }: UpgradeSocket): void {
  const refused = checkOwnUpgrade(request.req);
  if (refused) return request.refuse(refused.code);
  const upstream = prepare(request, target, true);
  if (!upstream) return;
  const { late } = request.route.plan;
  if (late)
    runPostRouting(request, { handlers: late, upstream }, () => forwardSocket(request, upstream, { socket, head }));
  else forwardSocket(request, upstream, { socket, head });
}

function forwardSocket(request: RoutedRequest, upstream: Upstream, { socket, head }: UpgradeSocket): void {
  if (request.settings.session) bindSession(request, upstream);
  request.sending();
  request.releaseSocket(socket as Socket);
  forwardUpgrade(request.req, socket, head, {
    upstream,
    path: request.head.path,
    headers: request.head.headers,
    endpoint: request.endpoint,
    pickContext: request.pickContext,
    onDone: (outcome) => {
      request.result.status = outcome.status;
      request.onDone({ ...outcome, attempts: 1, upstreamMs: -1 });
    },
  });
  request.release();
}

/** The response of an upgrade is written by the upstream: its host is picked first, so that the header can name it. */
function bindSession(request: RoutedRequest, upstream: Upstream): void {
  const host = (request.endpoint ??= upstream.pick(request.pickContext));
  const [name, value] = (host && sessionHeader(request, request.pickContext, host)) ?? [];
  if (name === undefined || value === undefined) return;
  (request.facts ?? shareFacts(request)).responseChanges.push({ op: 'append', name, value });
}

function prepare(
  request: RoutedRequest,
  { destination, action, upstreams }: SendTarget,
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
  respondToProblem(request, problem);
  return undefined;
}

function respondToProblem(request: RoutedRequest, problem: SendProblem): void {
  if (problem.type === 'noCluster') return request.noCluster();
  if (problem.type === 'rejected') return request.refuse(problem.code);
  request.result.flags = 'NC';
  request.result.details = problem.by.reason;
  request.reply(textReply(problem.by.status, problem.by.body));
}
