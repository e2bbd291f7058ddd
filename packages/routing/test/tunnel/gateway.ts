import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import {
  createContext,
  type ActionKind,
  type Concern,
  type Context,
  type Listener,
  type Route,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { createListeners, createRouter, type ListenLimits, type Listeners, type Router } from '../../src/index.ts';
import { listen, until, whenDone } from '../forward/harness.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';

/** The target of the CONNECT requests of the tests. */
export const TARGET = 'db.example:5432';
export const CONNECT_REQUEST = `CONNECT ${TARGET} HTTP/1.1\r\nHost: ${TARGET}\r\n\r\n`;

export interface TunnelGateway {
  readonly port: number;
  readonly router: Router;
  readonly listeners: Listeners;
  /** The access log, one line a request. */
  readonly log: readonly string[];
  /** The value of a statistic; 0 if it does not exist. */
  stat(path: string): number;
}

export interface TunnelGatewayParts {
  /** Port of the upstream. */
  readonly port: number;
  readonly upstream?: Partial<SnapshotUpstream>;
  readonly routes?: readonly Partial<Route>[];
  readonly listener?: Partial<Listener>;
  readonly limits?: Partial<ListenLimits>;
  readonly concerns?: readonly Concern[];
  readonly actions?: readonly ActionKind[];
}

/** A route of CONNECT requests. */
export function connectRoute(options: Route['options'] = { upgrades: [{ connectTerminate: {} }] }): Partial<Route> {
  return { matchers: [{ connectMatcher: {} }], options };
}

/** Forwards CONNECT requests as such. */
export const FORWARDED = connectRoute({ upgrades: [{ connect: {} }] });

/** A gateway in front of one upstream: its routes for CONNECT requests and others. */
export async function tunnelGateway(parts: TunnelGatewayParts): Promise<TunnelGateway> {
  const log: string[] = [];
  const context: Context = createContext();
  const router = createRouter({
    context,
    accessLog: 'none',
    concerns: parts.concerns ?? [],
    actions: parts.actions ?? [],
  });
  const routes = parts.routes ?? [connectRoute(), {}];
  const snapshot = snapshotOf(
    [hostOf(routes.map((route, i) => routeOf({ name: `route-${i}`, ...route })))],
    [{ ...upstreamOf([endpointOf(parts.port)]), ...parts.upstream }],
    parts.listener,
  );
  router.apply(snapshot);
  const listeners = createListeners({
    router,
    context,
    host: '127.0.0.1',
    portOf: () => 0,
    limits: { ...parts.limits },
  });
  const [result] = await listeners.apply(snapshot);
  whenDone(async () => {
    await listeners.close();
    await router.close();
  });
  return {
    port: result!.port!,
    router,
    listeners,
    log,
    stat(path) {
      const found = context.metrics.list().find(({ name }) => name.path === path);
      return found && found.type !== 'histogram' ? found.stat.value : 0;
    },
  };
}

/** What one end of a connection has received. */
export interface End {
  readonly socket: Socket;
  text: string;
  ended: boolean;
  closed: boolean;
  error: NodeJS.ErrnoException | undefined;
}

/** Records what a socket receives. */
export function endOf(socket: Socket): End {
  const end: End = { socket, text: '', ended: false, closed: false, error: undefined };
  socket.on('data', (chunk: Buffer) => (end.text += chunk.toString('latin1')));
  socket.on('end', () => (end.ended = true)).on('close', () => (end.closed = true));
  socket.on('error', (error) => (end.error = error));
  return end;
}

/** A TCP server that records its connections. */
export async function tcpServer(serve: (end: End) => void = () => {}): Promise<{ port: number; ends: End[] }> {
  const ends: End[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const end = endOf(socket);
    ends.push(end);
    serve(end);
  });
  const port = await listen(server);
  whenDone(() => {
    for (const { socket } of ends) socket.destroy();
    server.close();
  });
  return { port, ends };
}

/** Opens a connection of HTTP/1.1 and sends bytes. */
export function http1Client(port: number, bytes = ''): End {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  whenDone(() => void socket.destroy());
  if (bytes !== '') socket.write(bytes, 'latin1');
  return endOf(socket);
}

/** Sends a request over HTTP/1.1 and waits for the head of the response. */
export async function http1Request(port: number, bytes = CONNECT_REQUEST): Promise<End & { readonly head: string }> {
  const end = http1Client(port, bytes);
  await until(() => end.text.includes('\r\n\r\n') || end.closed, 'response head');
  const at = end.text.indexOf('\r\n\r\n');
  const head = end.text.slice(0, at);
  end.text = end.text.slice(at + 4);
  return Object.assign(end, { head });
}

/** A stream of a client and what it has received. */
export interface StreamEnd {
  readonly stream: ClientHttp2Stream;
  status: number | undefined;
  headers: Readonly<Record<string, unknown>>;
  text: string;
  ended: boolean;
  closed: boolean;
}

/** Opens an HTTP/2 connection whose settings have arrived. */
export async function http2Session(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  whenDone(() => session.destroy());
  await once(session, 'remoteSettings');
  return session;
}

/** Opens a stream without waiting for a response. */
export function openStream(session: ClientHttp2Session, headers: Record<string, string>, bytes = ''): StreamEnd {
  const stream = session.request(headers, { endStream: false });
  const end: StreamEnd = { stream, status: undefined, headers: {}, text: '', ended: false, closed: false };
  stream.on('response', (head) => {
    end.status = Number(head[':status']);
    end.headers = head;
  });
  stream.on('data', (chunk: Buffer) => (end.text += chunk.toString('latin1')));
  stream.on('end', () => (end.ended = true)).on('close', () => (end.closed = true));
  stream.on('error', () => {});
  if (bytes !== '') stream.write(bytes, 'latin1');
  return end;
}

/** Opens a stream and waits for the head of the response, or the end of the stream. */
export async function http2Request(
  port: number,
  headers: Record<string, string> = { ':method': 'CONNECT', ':authority': TARGET },
): Promise<StreamEnd> {
  const end = openStream(await http2Session(port), headers);
  await until(() => end.status !== undefined || end.closed, 'response head');
  return end;
}

/** The head of a WebSocket over HTTP/2. */
export function webSocketHead(more: Record<string, string> = {}): Record<string, string> {
  return {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':scheme': 'http',
    ':authority': 'a.example',
    ':path': '/chat?room=1',
    'sec-websocket-version': '13',
    ...more,
  };
}
