import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { protect } from '@edge-gateway/core';
import { buildSchema, GraphQLError } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { serve, serveHandler, type TestServer } from '../servers.ts';
import { until } from '../../../../test/parts/until.ts';

export { until } from '../../../../test/parts/until.ts';

export const SCHEMA_TEXT = `
  type Query { hello: String }
  type Mutation { hello: String }
  type Subscription { count(to: Int!): Int ticks: Int forbidden: Int }
`;

/** A server that has subscriptions over WebSocket, and what it saw. */
export interface SocketUpstream extends TestServer {
  readonly sockets: WebSocketServer;
  /** The upgrades it got. */
  readonly upgrades: IncomingMessage[];
  /** Payloads of `connection_init`. */
  readonly inits: unknown[];
}

/** A server of `graphql-ws`; it answers POST with what Apollo Server does, a 400 with an error. */
export async function socketUpstream(): Promise<SocketUpstream> {
  const http = await serve((_req, res) => {
    res.writeHead(400, { 'content-type': 'application/json' });
    res.end('{"errors":[{"message":"Subscriptions are not supported over HTTP."}]}');
  });
  const sockets = new WebSocketServer({ server: http.server });
  const upgrades: IncomingMessage[] = [];
  const inits: unknown[] = [];
  http.server.on('upgrade', (req) => upgrades.push(req));
  const roots = {
    subscription: {
      async *count({ to }: { to: number }) {
        for (let i = 1; i <= to; i++) yield { count: i };
      },
      async *ticks() {
        for (let i = 1; ; i++) {
          yield { ticks: i };
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      },
      forbidden() {
        throw new GraphQLError('not for you', { extensions: { code: 'NOT_YOU' } });
      },
    },
  };
  useServer(
    {
      schema: buildSchema(SCHEMA_TEXT),
      roots: roots as never,
      onConnect: (context) => void inits.push(context.connectionParams),
    },
    sockets,
  );
  return { ...http, sockets, upgrades, inits, close: () => closed(http, sockets) };
}

/** A server that does with each WebSocket whatever it is told. POST is answered with 405. */
export async function rawSocketUpstream(
  take: (webSocket: WebSocket, req: IncomingMessage) => void,
  options: { readonly handleProtocols?: () => false } = {},
): Promise<TestServer & { readonly sockets: WebSocketServer }> {
  const http = await serve((_req, res) => void res.writeHead(405).end());
  const sockets = new WebSocketServer({ server: http.server, ...options });
  sockets.on('connection', take);
  return { ...http, sockets, close: () => closed(http, sockets) };
}

function closed(http: TestServer, sockets: WebSocketServer): Promise<void> {
  for (const client of sockets.clients) client.terminate();
  return http.close();
}

/** Acknowledges, and calls back with the id and the payload of the first subscription. */
export function acknowledge(webSocket: WebSocket, then: (id: string, payload: any) => void): void {
  webSocket.on('error', () => {});
  webSocket.on('message', (data) => {
    const { type, id, payload } = JSON.parse(String(data));
    if (type === 'connection_init') webSocket.send('{"type":"connection_ack"}');
    if (type === 'subscribe') then(id, payload);
  });
}

/** An API in front of a server. */
export interface Front extends TestServer {
  /** Client connections that are open. */
  readonly open: Set<Socket>;
  drain(): void;
}

/** Serves an API with its upgrades. */
export async function frontOf(options: GraphQLApiOptions): Promise<Front> {
  const handler = graphqlApi(options);
  const front = await serveHandler(handler);
  const open = new Set<Socket>();
  front.server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  front.server.on('upgrade', (req, socket, head) => protect(handler).upgrade(req, socket, head));
  return {
    ...front,
    open,
    drain: () => handler.drain!(),
    async close() {
      await handler.close?.();
      for (const socket of open) socket.destroy();
      await front.close();
    },
  };
}

/** An API that hands subscriptions on to a server at this URL. */
export function remoteFront(url: string, options: Partial<GraphQLApiOptions> = {}): Promise<Front> {
  return frontOf({
    schemaDefinition: SCHEMA_TEXT,
    remote: { upstreamRef: { name: 'a' } },
    upstreams: { a: url },
    ...options,
  });
}

/** Subscribes by events and gives all that comes until the end. */
export async function events(
  url: string,
  query: string,
  headers: Record<string, string> = {},
  variables?: object,
): Promise<{ status: number; text: string; results: any[]; complete: boolean }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  const text = await response.text();
  const results = [...text.matchAll(/event: next\ndata: (.*)\n\n/g)].map(([, data]) => JSON.parse(data!));
  return { status: response.status, text, results, complete: text.endsWith('event: complete\ndata:\n\n') };
}

/** A client that writes messages itself, and what it got. */
export interface RawClient {
  readonly webSocket: WebSocket;
  readonly messages: any[];
  /** The code it was closed with. */
  readonly closed: Promise<number>;
  send(message: unknown): void;
  /** Waits for a message of a type. */
  message(type: string, id?: string): Promise<any>;
}

/** Connects; rejects with `Error('Unexpected server response: …')` where the upgrade is refused. */
export async function rawClient(
  url: string,
  { headers, protocol = 'graphql-transport-ws' }: { headers?: Record<string, string>; protocol?: string } = {},
): Promise<RawClient> {
  const webSocket = new WebSocket(url.replace('http', 'ws'), protocol === '' ? [] : protocol, { headers });
  const messages: any[] = [];
  webSocket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => webSocket.once('close', resolve));
  await new Promise((resolve, reject) => webSocket.once('open', resolve).once('error', reject));
  webSocket.on('error', () => {});
  return {
    webSocket,
    messages,
    closed,
    send: (message) => webSocket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async message(type, id) {
      const find = (): any => messages.find((each) => each.type === type && (id === undefined || each.id === id));
      await until(() => find() !== undefined, `${type} ${id ?? ''}`);
      return find();
    },
  };
}

/** A client that was acknowledged. */
export async function readyClient(url: string, headers: Record<string, string> = {}): Promise<RawClient> {
  const client = await rawClient(url, { headers });
  client.send({ type: 'connection_init' });
  await client.message('connection_ack');
  return client;
}
