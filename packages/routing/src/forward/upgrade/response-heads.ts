import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from '@edge-gateway/core';
import { findHeader } from '../../http1/flat-headers.ts';
import { fieldLines } from '../../http1/request-head.ts';
import type { ForwardFailure } from '../../upstream/failure.ts';
import { acceptOf } from '../../websocket/accept.ts';

/** Headers of an HTTP/1.1 handshake that are not copied from the upstream. */
const OWN_OF_HANDSHAKE = /^(?:connection|upgrade|content-length|sec-websocket-accept)$/i;

/** Returns the head of a response. Throws for a header that is unsafe to send. */
export function responseHead(status: number, headers: readonly string[]): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'OK'}\r\n${fieldLines(headers)}\r\n`;
}

/** Returns the response to a handshake of HTTP/1.1 for a WebSocket that was opened over HTTP/2. */
export function handshakeHead(request: readonly string[], headers: readonly string[]): string {
  const accept = acceptOf(findHeader(request, 'sec-websocket-key') ?? '');
  const own = ['connection', 'Upgrade', 'upgrade', 'websocket', 'sec-websocket-accept', accept];
  const kept = headers.filter((_text, i) => !OWN_OF_HANDSHAKE.test(headers[i - (i % 2)]!));
  return responseHead(101, [...own, ...kept]);
}

/** Responds with a short text, and closes the connection. */
export function refuse(socket: Socket, { status, message }: ForwardFailure): void {
  if (socket.destroyed || !socket.writable) return;
  const length = String(Buffer.byteLength(message));
  const headers = ['content-type', 'text/plain', 'content-length', length, 'connection', 'close'];
  socket.write(`${responseHead(status, headers)}${message}`);
  linger(socket);
}
