import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { adoptProxied } from '../format/proxied.ts';
import { asksForWebSocket } from '../check/check-head.ts';
import type { ClientError } from './refuse/client-error.ts';
import { closeGracefully, trackConnection, type Connection } from './connection.ts';
import type { OnConnection } from './connection-log.ts';
import type { ListenStats } from './listen-stats.ts';
import type { Serve } from './request-events.ts';
import type { ListenLimits } from './limits.ts';
import type { TlsFront } from './tls/tls-front.ts';

/**
 * The HTTP server behind an accepting socket. Its settings are fixed: new settings or certificates require a new front for
 * new connections, while connections of the old one stay unchanged.
 */
export type Front = ReturnType<typeof createFront>;

export interface FrontParts {
  readonly limits: ListenLimits;
  readonly serve: Serve;
  readonly stats: ListenStats;
  readonly upgrades: boolean;
  readonly tls?: TlsFront;
  /** True if connections begin with a PROXY header. */
  readonly readsProxyHeader: boolean;
  /** Missing if connections are not logged. */
  readonly onConnection?: OnConnection | undefined;
}

export function createFront({ limits, serve, stats, upgrades, tls, readsProxyHeader, onConnection }: FrontParts) {
  const connections = new Set<Connection>();
  const options = serverOptions(limits, upgrades);
  const server: Server | TlsServer = tls ? createTlsServer({ ...tls.options, ...options }) : createServer(options);
  let retired = false;
  let drainGraceMs: number | undefined;
  // The check of a request counts headers, because some versions of the parser silently drop those above a limit.
  server.maxHeadersCount = 0;
  server.timeout = limits.streamIdleTimeoutMs;

  function follow(socket: Socket): void {
    if (socket.destroyed) return;
    const connection = trackConnection(socket, limits);
    connections.add(connection);
    if (drainGraceMs !== undefined) closeGracefully(connection, drainGraceMs);
    // Its handshake was in progress when the front retired.
    if (retired && connections.size === 1) watchTimeouts(server);
    stats.http1Total.value++;
    socket.once('end', () => stats.destroyRemote.value++);
    if (onConnection) logWhenClosed(socket, onConnection);
    const lifetime = limits.maxConnectionDurationMs;
    const timer = lifetime > 0 ? setTimeout(closeGracefully, lifetime, connection, 0).unref() : undefined;
    socket.once('close', () => {
      clearTimeout(timer);
      connections.delete(connection);
      if (retired && connections.size === 0) server.close();
    });
  }

  if (tls) {
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      if (readsProxyHeader) adoptProxied(socket);
      if (tls.admit(socket, stats)) return follow(socket);
      if (onConnection) logWhenClosed(socket, onConnection, 'client_certificate_rejected');
      socket.destroy();
    });
    const stapler = tls.stapler(stats);
    if (stapler) server.on('OCSPRequest', stapler);
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      stats.handshakeError.value++;
      if (readsProxyHeader) adoptProxied(socket);
      onConnection?.(socket)(`tls_error: ${error.code ?? error.message}`);
      socket.destroy();
    });
  } else server.prependListener('connection', follow);
  wire(server, serve);
  watchTimeouts(server);

  return {
    accept: (socket: Socket) => void server.emit('connection', socket),
    connections: connections as ReadonlySet<Connection>,
    /** Closes each connection, including those in a handshake, with its next response or after this many idle milliseconds. */
    drain(graceMs: number): void {
      drainGraceMs = graceMs;
      for (const connection of connections) closeGracefully(connection, graceMs);
    },
    /** Replaces the key of session tickets. */
    setTicketKeys(key: Buffer): void {
      if (tls) (server as TlsServer).setTicketKeys(key);
    },
    /** Ends adding connections; the timers are released with the last connection. */
    retire(): void {
      retired = true;
      if (connections.size === 0) server.close();
    },
  };
}

function logWhenClosed(socket: Socket, onConnection: OnConnection, termination = ''): void {
  const closed = onConnection(socket);
  socket.once('close', () => closed(termination));
}

/** `node:http` starts its timeout checks when it listens; this server never does, because connections are passed to it. */
function watchTimeouts(server: Server | TlsServer): void {
  server.emit('listening');
}

function wire(server: Server | TlsServer, serve: Serve): void {
  server.on('request', serve.request);
  server.on('checkContinue', serve.expecting);
  server.on('checkExpectation', serve.request);
  server.on('upgrade', serve.upgrade);
  server.on('connect', serve.connect);
  server.on('clientError', (error: Error, socket) => serve.clientError(error as ClientError, socket));
  server.on('timeout', serve.timeout);
}

function serverOptions(limits: ListenLimits, upgrades: boolean): ServerOptions {
  const { headTimeoutMs, requestTimeoutMs } = limits;
  return {
    connectionsCheckingInterval: limits.checkIntervalMs,
    headersTimeout:
      requestTimeoutMs > 0 ? Math.min(headTimeoutMs || requestTimeoutMs, requestTimeoutMs) : headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    // Twice the limit, so that the check can distinguish a long target from long headers.
    maxHeaderSize: 2 * Math.max(limits.maxHeadBytes, limits.maxTargetBytes),
    optimizeEmptyRequests: true,
    requireHostHeader: false,
    shouldUpgradeCallback: (req) => upgrades && asksForWebSocket(req),
  };
}
