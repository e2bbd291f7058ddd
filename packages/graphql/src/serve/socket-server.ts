import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import { refusal, type Refusal } from '../errors/refusal.ts';
import type { Slots } from './slots.ts';
import { serveSocket, type SocketParts } from './serve-socket.ts';

interface SocketServerOptions extends SocketParts {
  /** Origins whose pages may open WebSockets, in addition to the own one. */
  readonly allowedOrigins: readonly string[];
  readonly slots: Slots;
}

/** Maximum time for a client to acknowledge the closing of the connection, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1000;

/** Creates the server of `graphql-transport-ws`. Rejects what is not allowed before the upgrade. */
export function createSocketServer(given: SocketServerOptions) {
  const { answerer, limits, allowedOrigins, slots, drain, now } = given;
  const options = {
    noServer: true,
    maxPayload: limits.maxBodyBytes,
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: () => GRAPHQL_TRANSPORT_WS_PROTOCOL,
  };
  const sockets = new WebSocketServer(options);

  function refuse(socket: Duplex, refused: Refusal): number {
    const { status, body } = answerer.refuse(refused, { type: 'application/json', lenient: false });
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.on('error', () => {});
    socket.once('finish', () => socket.destroy());
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    return status;
  }

  return {
    /** Returns the status of a rejected upgrade. */
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): number | undefined {
      if (isForeign(req, allowedOrigins)) return refuse(socket, refusal('ERR_GRAPHQL_ORIGIN'));
      if (!offersProtocol(req)) return refuse(socket, refusal('ERR_GRAPHQL_PROTOCOL'));
      if (!slots.acquire()) return refuse(socket, refusal('ERR_GRAPHQL_CONNECTIONS'));
      socket.once('close', slots.release);
      sockets.handleUpgrade(req, socket, head, (webSocket) =>
        serveSocket(webSocket, req, { answerer, limits, drain, now }),
      );
      return undefined;
    },
    close() {
      for (const client of sockets.clients) client.close(1001);
      sockets.close();
    },
  };
}

function offersProtocol({ headers }: IncomingMessage): boolean {
  const offered = headers['sec-websocket-protocol'] ?? '';
  return offered.split(',').some((each) => each.trim() === GRAPHQL_TRANSPORT_WS_PROTOCOL);
}

/**
 * Returns true for a request by a page of another origin. Browsers open WebSockets for every page and send cookies, without
 * a preflight as for `POST` with JSON. Requests without `Origin` are not made by pages. `allowed` holds origins; `*` is any.
 */
export function isForeign({ headers, socket }: IncomingMessage, allowed: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false;
  const page = URL.parse(origin);
  if (!page || !/^https?:$/.test(page.protocol)) return true;
  // If TLS is terminated in front of this server, only the origin shows it.
  if ((socket as TLSSocket).encrypted && page.protocol !== 'https:') return true;
  return URL.parse(`${page.protocol}//${host}`)?.host !== page.host;
}
