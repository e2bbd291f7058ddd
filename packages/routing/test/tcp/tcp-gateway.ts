import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createContext,
  type ConnectionMatch,
  type Context,
  type Listener,
  type ListenerPart,
  type SnapshotUpstream,
  type TcpHost,
} from '@edge-gateway/core';
import { createListeners, createRouter, type ListenLimits, type Listeners, type Router } from '../../src/index.ts';
import { LISTENER, snapshotOf, upstreamOf } from '../snapshots.ts';

const closers: (() => unknown)[] = [];

/** Closes what the tests opened. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

export const whenDone = (close: () => unknown): void => void closers.push(close);

export const ANY: ConnectionMatch = { tls: false, serverNames: [], sourceRanges: [], passthroughCiphers: [] };

/** A host that forwards to one upstream, but for what `parts` say. */
export function tcpHost(parts: Partial<TcpHost> = {}): TcpHost {
  return {
    name: 'host',
    destinations: [{ upstream: 'up_gw-system', weight: 1 }],
    forwardsServerName: false,
    sslConfigurations: [],
    options: {},
    ...parts,
  };
}

let names = 0;
export function tcpPart(host: Partial<TcpHost> = {}, match: Partial<ConnectionMatch> = {}): ListenerPart {
  return { name: `part-${++names}`, match: { ...ANY, ...match }, tcp: tcpHost(host) };
}

export interface TcpGateway {
  readonly port: number;
  readonly context: Context;
  readonly router: Router;
  readonly listeners: Listeners;
  /** The lines of the access log. */
  log(): string[];
  stat(path: string): number;
  apply(parts: readonly ListenerPart[], upstreams: readonly SnapshotUpstream[]): Promise<void>;
}

const FORMAT =
  '%ROUTE_NAME% %UPSTREAM_CLUSTER% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %UPSTREAM_REQUEST_ATTEMPT_COUNT% %REQUESTED_SERVER_NAME% %CONNECTION_TERMINATION_DETAILS%\n';

/** Serves the parts on a free port. */
export async function tcpGateway(
  parts: readonly ListenerPart[],
  upstreams: readonly SnapshotUpstream[],
  given: { context?: Context; listener?: Partial<Listener>; limits?: Partial<ListenLimits>; format?: string } = {},
): Promise<TcpGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'tcp-'));
  const path = join(folder, 'log');
  whenDone(() => rmSync(folder, { recursive: true }));
  const context = given.context ?? createContext();
  const router = createRouter({ context });
  const listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0, limits: given.limits });
  whenDone(() => router.close());
  whenDone(() => listeners.close());
  const options = {
    accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat: given.format ?? FORMAT } }] },
    ...given.listener?.options,
  };
  async function apply(now: readonly ListenerPart[], served: readonly SnapshotUpstream[]): Promise<void> {
    const snapshot = snapshotOf([], served, { ...given.listener, options, parts: now });
    router.apply(snapshot);
    const [result] = await listeners.apply(snapshot);
    if (result?.error) throw result.error;
  }
  await apply(parts, upstreams);
  return {
    port: listeners.addresses().find(({ name }) => name === LISTENER)!.port,
    context,
    router,
    listeners,
    log: () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []),
    stat(name) {
      const found = context.metrics.list().find((each) => each.name.path === name);
      return found && found.type !== 'histogram' ? found.stat.value : 0;
    },
    apply,
  };
}

/** A TCP server; `onSocket` serves its connections. */
export async function tcpServer(
  onSocket: (socket: Socket) => void,
): Promise<{ port: number; server: Server; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  whenDone(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, server, sockets };
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const { port, server } = await tcpServer(() => {});
  server.close();
  await once(server, 'close');
  return port;
}

/** A server that sends its name, then what it receives. */
export function echoServer(name = ''): ReturnType<typeof tcpServer> {
  return tcpServer((socket) => {
    if (name) socket.write(`${name}:`);
    socket.pipe(socket);
  });
}

export const upstreamAt = (...ports: number[]): SnapshotUpstream =>
  upstreamOf(ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 })));

/** Opens a connection that may be half closed. */
export async function client(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  whenDone(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Sends a text, ends, and returns all that comes back. */
export async function talk(socket: Socket, text: string): Promise<string> {
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  socket.end(text);
  await new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
  return received;
}
