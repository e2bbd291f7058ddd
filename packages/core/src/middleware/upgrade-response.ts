import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { http } from '../http/node-http.ts';
import { linger } from '../http/lingering-close.ts';

/** Headers of the handshake or of the connection. */
const HANDSHAKE_HEADERS = /^(?:connection|upgrade|date|keep-alive|content-length|transfer-encoding|sec-websocket-.*)$/;

/**
 * Returns a response on the socket of an upgrade, to reject it. The socket is closed afterwards. Returns `undefined`, and closes the socket at
 * once, while an earlier request on it has no response: clients may not send an upgrade before (RFC 9112 §9.3.2).
 */
export function createUpgradeResponse(req: IncomingMessage, socket: Socket): ServerResponse | undefined {
  // Node removes its own error listener from a socket that it detaches; without one an error would end the process.
  socket.on('error', () => {});
  const res = new http.ServerResponse(req);
  res.shouldKeepAlive = false;
  try {
    res.assignSocket(socket);
  } catch {
    socket.destroy();
    return undefined;
  }
  res.once('finish', () => {
    res.detachSocket(socket);
    linger(socket);
  });
  return res;
}

/**
 * Detaches the socket from its response, so that it can be upgraded. Headers that were set on the response, such as renewed
 * cookies, are added to the response of the upgrade. Returns the function that assigns the socket to the response again, if nothing was
 * written to it.
 */
export function releaseSocket(res: ServerResponse, socket: Socket): () => void {
  res.detachSocket(socket);
  const lines = Object.entries(res.getHeaders())
    .filter(([name]) => !HANDSHAKE_HEADERS.test(name))
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}\r\n`));
  const undo = lines.length > 0 ? addToHead(socket, lines.join('')) : undefined;
  return () => {
    undo?.();
    res.assignSocket(socket);
  };
}

/** Returns the function that leaves the head unchanged after all. */
function addToHead(socket: Socket, lines: string): () => void {
  const write = socket.write;
  const isOwn = Object.hasOwn(socket, 'write');
  const restore = (): void => {
    if (isOwn) socket.write = write;
    else delete (socket as Partial<Socket>).write;
  };
  socket.write = function first(this: Socket, chunk: string | Uint8Array, ...rest: never[]): boolean {
    restore();
    const head = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');
    const end = head.indexOf('\r\n') + 2;
    if (!/^HTTP\/1\.\d \d{3} ?[^\r\n]*\r\n/.test(head)) return socket.write(chunk, ...rest);
    const full = head.slice(0, end) + lines + head.slice(end);
    return socket.write(typeof chunk === 'string' ? full : Buffer.from(full, 'latin1'), ...rest);
  } as Socket['write'];
  return restore;
}
