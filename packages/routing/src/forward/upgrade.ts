import { Agent, STATUS_CODES, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyMiddleware, type RequestHandler } from 'http-proxy-middleware';
import type { Endpoint } from '@edge-gateway/core';
import { Cluster } from '../upstream/cluster.ts';
import type { ConnectionPool } from '../upstream/pool.ts';
import type { ForwardUpgrade, UpgradeTarget } from '../upstream/upstream.ts';
import { explain, failureOf, UpstreamProtocolError } from './failure.ts';
import type { ForwardFailure } from './forward.ts';
import { linger } from './lingering-close.ts';

/** How long an upstream may take to answer an upgrade, in milliseconds. */
const UPGRADE_TIMEOUT_MS = 15_000;

/** One upgrade on its way, as the events of the proxy find it again. */
interface Upgrade {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly protocol: string;
  /** Ends it before there is a tunnel, with an answer of ours. */
  fail(failure: ForwardFailure, flags: string, details?: string): void;
  /** An answer is on its way to the client. */
  answered(status: number): void;
  connected: boolean;
}

const upgrades = new WeakMap<object, Upgrade>();
const proxies = new WeakMap<ConnectionPool, RequestHandler>();
/** http-proxy-middleware asks a request for its server and does nothing without one. */
const SERVER = {};

/**
 * Hands an upgrade to an endpoint of an upstream and joins the two connections until either side ends. An answer other
 * than 101 is relayed and the connection closed; a refused, slow (15 s) or senseless upstream is answered with 503, 504
 * or 502. Nothing throws but a `TypeError` for an upstream that is not of `createUpstreams`.
 */
export const forwardUpgrade: ForwardUpgrade = (req, duplex, head, to) => {
  const { upstream } = to;
  if (!(upstream instanceof Cluster)) throw new TypeError('forwardUpgrade takes upstreams of createUpstreams');
  const socket = duplex as Socket;
  socket.on('error', () => {});
  const endpoint = upstream.unusable === undefined ? (to.endpoint ?? upstream.pick()) : undefined;
  const upgrade = createUpgrade({ req, socket, to, upstream, endpoint });
  if (!endpoint) return upgrade.fail(failureOf('ERR_ROUTING_NO_ENDPOINT'), 'UH', upstream.unusable);
  const proxied = {
    method: 'GET',
    url: to.path,
    headers: { ...collect(to.headers), connection: 'Upgrade', upgrade: 'websocket' },
    httpVersionMajor: 1,
    socket: { server: SERVER },
  };
  upgrades.set(proxied, upgrade);
  try {
    proxyOf(upstream.pool(endpoint), endpoint).upgrade(proxied as unknown as IncomingMessage, socket, head);
  } catch (error) {
    const { failure, flags, details } = explain(error as Error, 'connecting');
    upgrade.fail(failure, flags, details);
  }
};

interface UpgradeParts {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly to: UpgradeTarget;
  readonly upstream: Cluster;
  readonly endpoint: Endpoint | undefined;
}

function createUpgrade({ req, socket, to, upstream, endpoint }: UpgradeParts): Upgrade {
  const before = { read: socket.bytesRead, written: socket.bytesWritten };
  const { stats } = upstream;
  let status = 0;
  let flags = '';
  let details: string | undefined;
  stats.rqTotal.value++;
  stats.rqActive.value++;
  const upgrade: Upgrade = {
    req,
    socket,
    protocol: req.headers.upgrade ?? 'websocket',
    connected: false,
    fail(failure, flag, why) {
      if (status !== 0) return;
      upgrade.answered(failure.status);
      flags = flag;
      details = why;
      refuse(socket, failure);
    },
    answered(answer) {
      status = answer;
      stats.answered(answer);
    },
  };
  const done = (): void => {
    stats.rqActive.value--;
    stats.rqCompleted.value++;
    if (status === 0) stats.rqCancelled.value++;
    to.onDone?.({
      status,
      flags: status === 0 ? 'DC' : flags,
      details,
      endpoint: endpoint && `${endpoint.address}:${endpoint.port}`,
      bytesSent: socket.bytesWritten - before.written,
      bytesReceived: socket.bytesRead - before.read,
    });
  };
  if (socket.destroyed) process.nextTick(done);
  else socket.once('close', done);
  return upgrade;
}

function refuse(socket: Socket, { status, message }: ForwardFailure): void {
  if (socket.destroyed || !socket.writable) return;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: text/plain',
    `content-length: ${Buffer.byteLength(message)}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${message}`);
  linger(socket);
}

function proxyOf(pool: ConnectionPool, endpoint: Endpoint): RequestHandler {
  let proxy = proxies.get(pool);
  if (!proxy) {
    proxy = createProxyMiddleware({
      // The agent speaks TLS where the upstream does, so that a target is always a plain one.
      target: { protocol: 'http:', host: endpoint.address, port: endpoint.port },
      agent: createAgent(pool, endpoint),
      ejectPlugins: true,
      plugins: [
        (server) => {
          server.on('proxyReqWs', (proxyReq, req) => watch(proxyReq, upgrades.get(req)!));
          server.on('error', (error, req) => failed(error, upgrades.get(req!)!));
        },
      ],
    });
    proxies.set(pool, proxy);
  }
  return proxy;
}

/** Connections for upgrades: made like those of the pool, but never shared or kept. */
function createAgent(pool: ConnectionPool, { address, port }: Endpoint): Agent {
  const { stats } = pool;
  const { protocol } = new URL(pool.origin);
  const createConnection: Agent['createConnection'] = (_options, callback) => {
    pool.connect({ hostname: address, protocol, port: String(port) }, (error, socket) => {
      if (!socket) {
        stats.cxConnectFail.value++;
        callback?.(error, undefined as never);
        return;
      }
      stats.cxTotal.value++;
      stats.cxHttp1Total.value++;
      stats.cxActive.value++;
      socket.once('close', () => {
        stats.cxActive.value--;
        stats.cxDestroy.value++;
      });
      callback?.(null, socket);
    });
    return undefined;
  };
  return Object.assign(new Agent({ keepAlive: false, maxSockets: Infinity }), { createConnection });
}

function watch(proxyReq: ClientRequest, upgrade: Upgrade): void {
  const { socket } = upgrade;
  proxyReq.setHeader('upgrade', upgrade.protocol);
  const giveUp = (): void => {
    proxyReq.destroy();
    socket.destroy();
  };
  const timer = setTimeout(() => {
    upgrade.fail(failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'), 'UT', 'no answer to the upgrade');
    proxyReq.destroy();
  }, UPGRADE_TIMEOUT_MS);
  // A connection that nobody reads does not tell that its other side has left.
  const peek = (): void => void socket.read(0);
  const settle = (): void => {
    clearTimeout(timer);
    socket.off('readable', peek).off('end', giveUp).off('close', giveUp);
  };
  socket.on('readable', peek).on('end', giveUp).on('close', giveUp);
  proxyReq.once('socket', () => (upgrade.connected = true));
  proxyReq.once('close', settle);
  proxyReq.once('response', (answer) => {
    settle();
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status <= 599) {
      upgrade.answered(status);
      socket.once('finish', () => linger(socket));
    } else failed(new UpstreamProtocolError(`unexpected status ${status}`), upgrade);
  });
  proxyReq.once('upgrade', (_answer, tunnel: Socket) => {
    settle();
    upgrade.answered(101);
    socket.once('close', () => tunnel.destroy());
    // What the upstream sent before it closed is still written; a client that never closes is not waited for.
    tunnel.once('close', () => (tunnel.readableEnded ? socket.destroySoon() : socket.destroy()));
    if (socket.destroyed) tunnel.destroy();
  });
}

function failed(error: Error, upgrade: Upgrade): void {
  const reason = explain(error, upgrade.connected ? 'sent' : 'connecting');
  upgrade.fail(reason.failure, reason.flags, reason.details);
}

function collect(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    const known = headers[name];
    headers[name] = known === undefined ? flat[i + 1]! : [...[known].flat(), flat[i + 1]!];
  }
  return headers;
}
