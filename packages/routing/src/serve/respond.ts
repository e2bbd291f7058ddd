import type { Socket } from 'node:net';
import type { Next, Responder } from '@edge-gateway/core';
import type { CompiledAction } from '../route/compile/route.ts';
import { hasBody } from '../http1/request-body.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import type { RoutedRequest } from './routed-request.ts';
import type { UpgradeSocket } from './request-exits.ts';
import { rewritePath, takeForDestination } from './upstream-head.ts';

/** How a request that an action answers may end otherwise. */
export interface RespondExits {
  readonly upgrade?: UpgradeSocket;
  fail(request: RoutedRequest, error: unknown): void;
  closed(request: RoutedRequest): void;
}

type RespondAction = Extract<CompiledAction, { readonly type: 'respond' }>;

/** Hands a request to what answers it, changed as it would be on its way upstream. */
export function respond(
  request: RoutedRequest,
  exits: RespondExits,
  { responder, prefixRewrite, websocket, retries }: RespondAction,
): void {
  const { req, res } = request;
  const facts = request.facts!;
  takeForDestination(request.headers, facts);
  applyHeaderOps(request.headers, request.plan.headers.request, request);
  if (!rewritePath(request, prefixRewrite)) return request.refuse('ERR_ROUTING_DOT_SEGMENT');
  facts.path = request.path;
  if (exits.upgrade && !websocket) return request.refuse('ERR_ROUTING_UPGRADE');
  if (exits.upgrade) return respondUpgrade(request, exits.upgrade, responder);
  res.once('close', () => exits.closed(request));
  countBody(request);
  const writeHead = (status: number, headers: readonly string[]): void => request.writeHead(status, headers);
  let called = false;
  const next: Next = (error) => {
    if (called || request.finished) return;
    called = true;
    exits.fail(request, error ?? new Error('the action gave no answer'));
  };
  responder({ req, res, writeHead, retries }, next);
}

/** Counts the bytes of the body while the action reads it. */
function countBody(request: RoutedRequest): void {
  const { req } = request;
  if (!hasBody(req)) return;
  if (req.readableEnded) {
    request.bytesReceived = Number(req.headers['content-length'] ?? 0);
    return;
  }
  request.bytesReceived = req.readableLength;
  if (req.complete) return;
  const push = req.push.bind(req);
  req.push = (chunk: Buffer | null) => {
    request.bytesReceived += chunk?.length ?? 0;
    return push(chunk);
  };
}

function respondUpgrade(request: RoutedRequest, { socket, head }: UpgradeSocket, responder: Responder): void {
  if (!responder.upgrade) return request.refuse('ERR_ROUTING_UPGRADE');
  request.releaseSocket(socket as Socket);
  socket.once('close', () => request.finish());
  request.status = responder.upgrade(request.req, socket, head) ?? 101;
}
