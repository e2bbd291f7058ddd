import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocketServer, type WebSocket } from 'ws';

/** Events of one stream. */
export const EVENTS = 5;
const EVENT_PAUSE_MS = 60;

/** The application behind the gateways. It says of each request for whom it came, as the gateway told it. */
export interface Upstream {
  readonly port: number;
  /** How often each body was posted. */
  readonly posted: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const whoOf = ({ headers }: IncomingMessage): unknown => headers['x-claim-email'] ?? headers['x-email'] ?? null;

export async function startUpstream(): Promise<Upstream> {
  const posted = new Map<string, number>();
  const server = createServer((req, res) => serve(req, res, posted));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket: WebSocket, req: IncomingMessage) => {
    socket.on('message', (data: Buffer) => socket.send(JSON.stringify({ who: whoOf(req), echo: data.toString() })));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    posted,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Starts the same application over HTTP/2 with prior knowledge, without WebSockets. */
export async function startHttp2Upstream(): Promise<Upstream> {
  const posted = new Map<string, number>();
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server((req, res) =>
    serve(req as unknown as IncomingMessage, res as unknown as ServerResponse, posted),
  );
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    posted,
    async close() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function serve(req: IncomingMessage, res: ServerResponse, posted: Map<string, number>): void {
  if (req.url?.includes('/events')) return void stream(req, res);
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    if (req.method === 'POST') posted.set(body, (posted.get(body) ?? 0) + 1);
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ who: whoOf(req), asked: `${req.method} ${req.url}`, body }));
  });
}

async function stream(req: IncomingMessage, res: ServerResponse): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let i = 0; i < EVENTS; i++) {
    if (i > 0) await wait(EVENT_PAUSE_MS);
    res.write(`data: ${JSON.stringify({ who: whoOf(req), number: i })}\n\n`);
  }
  res.end();
}
