import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  connect,
  createServer as createNetServer,
  type AddressInfo,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { createContext, type Context, type SnapshotUpstream } from '@edge-gateway/core';
import { forward } from '../../src/forward/forward-request.ts';
import type { ForwardHead, ForwardOutcome } from '../../src/forward/forward.ts';
import type { Lookup } from '../../src/upstream/dns/lookup.ts';
import type { Http2Client } from '../../src/upstream/cluster.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import type { Upstreams } from '../../src/upstream/upstream.ts';

export { until, untilStill } from '../../../../test/parts/until.ts';

const closers: (() => unknown)[] = [];

/** Closes everything this file opened. Call it in `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

export function whenDone(close: () => unknown): void {
  closers.push(close);
}

export async function listen(server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** An upstream that answers each request head with whatever it is told, byte for byte. */
export interface RawUpstream {
  readonly port: number;
  /** Request heads with what came of their bodies, in the order of arrival. */
  readonly requests: string[];
  readonly sockets: Set<Socket>;
  connections: number;
}

export type RawAnswer = (socket: Socket, request: string, index: number) => void;

export async function rawUpstream(answer: RawAnswer): Promise<RawUpstream> {
  const upstream: RawUpstream = { port: 0, requests: [], sockets: new Set(), connections: 0 };
  const server = createNetServer((socket) => {
    upstream.connections++;
    upstream.sockets.add(socket);
    socket.on('error', () => {}).on('close', () => upstream.sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end + 4);
        text = text.slice(end + 4);
        answer(socket, head, upstream.requests.push(head) - 1);
      }
    });
  });
  const port = await listen(server);
  closers.push(async () => {
    for (const socket of upstream.sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return Object.assign(upstream, { port });
}

/** An upstream of `node:http`. */
export async function httpUpstream(handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<number> {
  const server = createServer(handler);
  const port = await listen(server);
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return port;
}

export function snapshotOf(port: number, parts: Partial<SnapshotUpstream> = {}): SnapshotUpstream {
  return {
    name: 'echo_gw-system',
    ref: { name: 'echo', namespace: 'gw-system' },
    spec: {},
    endpoints: [{ address: '127.0.0.1', port, weight: 1 }],
    tls: false,
    ...parts,
  } as SnapshotUpstream;
}

export interface Gateway {
  readonly port: number;
  readonly url: string;
  readonly outcomes: ForwardOutcome[];
  readonly upstreams: Upstreams;
  readonly context: Context;
  readonly server: Server;
  /** Value of a statistic of the upstream. */
  stat(name: string): number;
}

export interface GatewayOptions {
  readonly upstream: SnapshotUpstream;
  readonly context?: Context;
  /** Resolves the names of endpoints. Default: as in production. */
  readonly lookup?: Lookup;
  /** Changes the head that goes upstream. */
  head?(req: IncomingMessage): Partial<ForwardHead>;
}

let http2Client: Http2Client | undefined;

/** The client that the tests of this block use, for their routers. */
export const http2ClientOption = (): { readonly http2Client?: Http2Client } => (http2Client ? { http2Client } : {});

/** Starts gateways that use this client of HTTP/2. */
export async function startWith<T>(client: Http2Client, start: () => Promise<T>): Promise<T> {
  http2Client = client;
  try {
    return await start();
  } finally {
    http2Client = undefined;
  }
}

/** Describes tests once with each client of HTTP/2. */
export function forEachHttp2Client(describeTests: () => void): void {
  for (const client of ['node', 'direct'] as const) {
    describe(`with the client ${client}`, () => {
      before(() => (http2Client = client));
      after(() => (http2Client = undefined));
      describeTests();
    });
  }
}

/** A gateway in its smallest form: every request goes to the one upstream by `forward`. */
export async function gateway({ upstream, context = createContext(), lookup, head }: GatewayOptions): Promise<Gateway> {
  const upstreams = createUpstreams(context, lookup, http2Client);
  upstreams.apply([upstream]);
  const outcomes: ForwardOutcome[] = [];
  const server = createServer((req, res) => {
    forward(req, res, upstreams.get(upstream.name)!, {
      method: req.method!,
      path: req.url!,
      headers: endToEnd(req.rawHeaders),
      timeoutMs: 15_000,
      onResponseHead: (_status, headers) => headers,
      ...head?.(req),
      onDone(outcome) {
        outcomes.push(outcome);
        if (!outcome.failure) return;
        res.writeHead(outcome.failure.status, { 'content-type': 'text/plain' }).end(outcome.failure.message);
      },
    });
  });
  const port = await listen(server);
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await upstreams.close();
  });
  const stat = (name: string): number => {
    const found = context.metrics.list().find((each) => each.name.path === `cluster.${upstream.name}.${name}`);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };
  return { port, url: `http://127.0.0.1:${port}`, outcomes, upstreams, context, server, stat };
}

function endToEnd(raw: readonly string[]): string[] {
  const dropped = new Set([
    'connection',
    'keep-alive',
    'transfer-encoding',
    'content-length',
    'te',
    'upgrade',
    'expect',
  ]);
  return raw.filter((_, i) => !dropped.has(raw[i - (i % 2)]!.toLowerCase()));
}

/** Sends bytes over a raw socket and gives all that comes back until the other side closes, and whether it was a reset. */
export async function rawClient(port: number, bytes: string): Promise<{ text: string; reset: boolean }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let reset = false;
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => (reset = true));
  socket.write(bytes, 'latin1');
  await once(socket, 'close').catch(() => {});
  return { text, reset };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly raw: readonly string[];
  readonly body: string;
  /** True when the body ended as its framing says. */
  readonly complete: boolean;
}

/** One request by `node:http` on a connection of its own. */
export function get(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method: options.method ?? 'GET', headers: options.headers, agent: false }, (res) => {
      let body = '';
      res.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
      res.on('error', () => {});
      res.on('close', () =>
        resolve({ status: res.statusCode!, headers: res.headers, raw: res.rawHeaders, body, complete: res.complete }),
      );
    });
    req.on('error', reject);
    req.end(options.body);
  });
}

/** A port of 127.0.0.1 that nothing listens on. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  return port;
}
