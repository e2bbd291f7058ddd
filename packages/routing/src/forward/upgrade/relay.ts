import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from '@edge-gateway/core';
import { isHopByHop, namedByConnection } from '../../http1/hop-by-hop.ts';
import type { UpstreamReply } from '../forward.ts';

/** Returns the headers of a response for the client, flat, with names in lower case. */
export function endToEndHeaders({ statusCode, rawHeaders, headers }: UpstreamReply): string[] {
  const named = new Set(namedByConnection(headers.connection ?? ''));
  return rawHeaders.flatMap((name, i) => {
    const lower = name.toLowerCase();
    // RFC 9110 §8.6: a 204 must not have a length.
    const isDropped = isHopByHop(lower) || named.has(lower) || (statusCode === 204 && lower === 'content-length');
    return i % 2 === 1 || isDropped ? [] : [lower, rawHeaders[i + 1]!];
  });
}

/** Relays a response to the client, and closes its connection. */
export function relay(response: UpstreamReply, req: IncomingMessage, socket: Socket): void {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.sendDate = false;
  res.assignSocket(socket);
  try {
    res.writeHead(response.statusCode ?? 502, endToEndHeaders(response));
  } catch {
    return void socket.destroy();
  }
  res.once('finish', () => linger(socket));
  // A body that ends early must not look complete.
  response.once('error', () => socket.destroy()).once('close', () => response.readableEnded || socket.destroy());
  socket.once('close', () => response.destroy());
  response.pipe(res);
}
