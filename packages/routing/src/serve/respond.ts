import type { Socket } from 'node:net';
import type { Next, Responder } from '@edge-gateway/core';
import { hasBody } from '../http1/request-body.ts';
import type { RespondAction } from '../route/compile/route.ts';
import { prepareResponder } from './outgoing-request.ts';
import type { RequestExits, RoutedRequest, UpgradeSocket } from './routed-request.ts';

/** Passes a request to its responder, with the same changes as a forwarded one. */
export function respond(request: RoutedRequest, exits: RequestExits, action: RespondAction): void {
  const { req, res } = request;
  const { responder, retries } = action;
  const rejected = prepareResponder(request, action, exits.upgrade && 'websocket');
  if (rejected !== undefined) return request.refuse(rejected);
  request.facts!.path = request.head.path;
  request.trace?.inject(request.head.headers);
  request.facts!.spans = request.trace;
  if (exits.upgrade) return respondUpgrade(request, exits.upgrade, responder);
  res.once('close', () => request.closed());
  countBody(request);
  const writeHead = (status: number, headers: readonly string[]): void => request.writeHead(status, headers);
  let called = false;
  const next: Next = (error) => {
    if (called || request.finished) return;
    called = true;
    request.fail(exits, error ?? new Error('the action did not respond'));
  };
  responder({ req, res, writeHead, retries }, next);
}

function countBody(request: RoutedRequest): void {
  const { req } = request;
  if (!hasBody(req)) return;
  if (req.readableEnded) {
    request.result.bytesReceived = Number(req.headers['content-length'] ?? 0);
    return;
  }
  request.result.bytesReceived = req.readableLength;
  if (req.complete) return;
  const push = req.push.bind(req);
  req.push = (chunk: Buffer | null) => {
    request.result.bytesReceived += chunk?.length ?? 0;
    return push(chunk);
  };
}

function respondUpgrade(request: RoutedRequest, { socket, head }: UpgradeSocket, responder: Responder): void {
  if (!responder.upgrade) return request.refuse('ERR_ROUTING_UPGRADE');
  request.releaseSocket(socket as Socket);
  socket.once('close', () => request.finish());
  request.result.status = responder.upgrade(request.req, socket, head) ?? 101;
}
