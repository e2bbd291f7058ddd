import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { linger, type Endpoint } from '@edge-gateway/core';
import { DEFAULT_TIMEOUT_MS } from '../upstream/cluster-settings.ts';
import type { ConnectionPool } from '../upstream/pool.ts';
import { UpstreamProtocolError } from '../http1/errors.ts';
import { explain, failureOf } from '../upstream/failure.ts';
import type { ForwardFailure } from '../upstream/failure.ts';

/** How long an upstream may still send to a client that has finished sending, in milliseconds. */
const HALF_CLOSED_MS = 1000;

/** One upgrade on its way, as the events of the proxy find it again. */
export interface Upgrade {
  readonly socket: Socket;
  readonly protocol: string;
  /** Ends it before there is a tunnel, with a response of ours. */
  fail(failure: ForwardFailure, flags: string, details?: string): void;
  /** A response is on its way to the client. */
  onResponse(status: number): void;
  connected: boolean;
}

/** http-proxy-middleware asks a request for its server and does nothing without one. */
const SERVER = {};

export interface Handshake {
  readonly pool: ConnectionPool;
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly head: Buffer;
}

/** Sends a handshake over a connection of its own, and joins the two connections when the upstream agrees. */
export function sendUpgrade(upgrade: Upgrade, { pool, endpoint, path, headers, head }: Handshake): void {
  const proxied = {
    method: 'GET',
    url: path,
    headers: { ...headers, connection: 'Upgrade', upgrade: 'websocket' },
    httpVersionMajor: 1,
    socket: { server: SERVER },
  };
  const proxy = createProxyMiddleware({
    // The agent speaks TLS where the upstream does, so that a target is always a plain one.
    target: { protocol: 'http:', host: endpoint.address, port: endpoint.port },
    agent: createAgent(pool),
    ejectPlugins: true,
    plugins: [
      (server) => {
        server.on('proxyReqWs', (proxyReq) => watch(proxyReq, upgrade));
        server.on('error', (error) => failed(error, upgrade));
      },
    ],
  });
  proxy.upgrade(proxied as unknown as IncomingMessage, upgrade.socket, head);
}

/** Connections for upgrades: never shared or kept. */
function createAgent(pool: ConnectionPool): Agent {
  const createConnection: Agent['createConnection'] = (_options, callback) => {
    pool.connectUnpooled((error, socket) => callback?.(error, socket as Socket));
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
    settle();
    upgrade.fail(failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'), 'UT', 'no response to the upgrade');
    proxyReq.destroy();
  }, DEFAULT_TIMEOUT_MS);
  // A connection that nobody reads does not tell that its other side has left.
  const peek = (): void => void socket.read(0);
  const settle = (): void => {
    clearTimeout(timer);
    socket.off('readable', peek).off('end', giveUp).off('close', giveUp);
  };
  socket.on('readable', peek).on('end', giveUp).on('close', giveUp);
  proxyReq.once('socket', () => (upgrade.connected = true));
  // Before the failure is answered: a socket that is peeked at does not flow, and would not tell that the client has left.
  proxyReq.once('error', settle).once('close', settle);
  proxyReq.once('response', ({ statusCode: status = 0 }) => {
    settle();
    if (status >= 200 && status <= 599) {
      upgrade.onResponse(status);
      socket.once('finish', () => linger(socket));
    } else failed(new UpstreamProtocolError(`unexpected status ${status}`), upgrade);
  });
  proxyReq.once('upgrade', (_response, tunnel: Socket) => {
    settle();
    upgrade.onResponse(101);
    socket.once('close', () => tunnel.destroy());
    // A client that vanished looks like one that only finished sending: an upstream that does not close is not waited for.
    socket.once('end', () => setTimeout(() => socket.destroy(), HALF_CLOSED_MS).unref());
    // What the upstream sent before it closed is still written; a client that never closes is not waited for.
    tunnel.once('close', () => (tunnel.readableEnded ? socket.destroySoon() : socket.destroy()));
    if (socket.destroyed) tunnel.destroy();
  });
}

function failed(error: Error, upgrade: Upgrade): void {
  const reason = explain(error, upgrade.connected ? 'sent' : 'connecting');
  upgrade.fail(reason.failure, reason.flags, reason.details);
}
