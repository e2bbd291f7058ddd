import { nodeDelay, startTimer } from '@edge-gateway/core';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { adoptProxied } from '../format/proxied.ts';
import { Deadlines } from '../upstream/deadlines.ts';
import { asksForWebSocket } from '../check/check-head.ts';
import type { ClientError } from './refuse/client-error.ts';
import {
  closeGracefully,
  connectionOf,
  trackConnection,
  type CloseGrace,
  type Http1ClientConnection,
} from './connection.ts';
import type { OnConnection } from './connection-log.ts';
import { Http2Connection } from './http2/http2-connection.ts';
import { BodyRequest } from './http1/body-request.ts';
import { PlainConnection, type PlainConnectionParts } from './http1/plain-connection.ts';
import { isPreface, takeOver } from './http2/take-over.ts';
import type { ListenStats } from './listen-stats.ts';
import type { Serve } from './request-events.ts';
import type { ListenLimits } from './limits.ts';
import { beginHandshake, completeHandshake } from './tls/tls-handshake.ts';
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
  /** True if a route allows WebSockets. */
  readonly webSockets: boolean;
  readonly tls?: TlsFront;
  /** True if connections begin with a PROXY header. */
  readonly readsProxyHeader: boolean;
  /** Missing if connections are not logged. */
  readonly onConnection?: OnConnection | undefined;
}

/** Maximum time in milliseconds that an idle connection stays open for a request that is just being sent. */
export const IDLE_GRACE_MS = 500;
/**
 * Factor by which this time is longer for used connections of a listener that drains: 5 s, longer than many clients keep an idle connection.
 */
const USED_GRACES = 10;

/** A connection of either version of HTTP. */
type AnyConnection = Http1ClientConnection | Http2Connection;

export function createFront(parts: FrontParts) {
  const { limits, serve, stats, upgrades, webSockets, tls, readsProxyHeader, onConnection } = parts;
  const connections = new Set<AnyConnection>();
  const server = createServer(serverOptions(limits, upgrades));
  const deadlines = new Deadlines();
  const http2 = { limits, serve: serve.http2, stats, deadlines, webSockets };
  const plain: PlainConnectionParts | undefined =
    limits.http1Parser === 'plain'
      ? { server, deadlines, headTimeoutMs: headTimeoutOf(limits), serve: serve.plain, timeout: serve.timeout }
      : undefined;
  /** Clients learn that the connection ends: by `connection: close`, or by GOAWAY. */
  const endOfLife: CloseGrace = { idleMs: IDLE_GRACE_MS, announceMs: limits.drainTimeoutMs };
  let retired = false;
  let drainGrace: CloseGrace | undefined;
  // The check of a request counts headers, because some versions of the parser silently drop those above a limit.
  server.maxHeadersCount = 0;
  server.timeout = nodeDelay(limits.streamIdleTimeoutMs);

  const countRemote = (): void => void stats.destroyRemote.value++;

  /** Serves an accepted connection, after its TLS handshake. */
  function open(socket: Socket, isHttp2: boolean): void {
    if (socket.destroyed) return;
    socket.on('end', countRemote);
    if (onConnection) logWhenClosed(socket, onConnection);
    if (isHttp2) return openHttp2(socket);
    const connection = trackConnection(socket, limits);
    follow(socket, connection);
    if (!plain || !PlainConnection.open(connection, plain)) server.emit('connection', socket);
  }

  function openHttp2(socket: Socket): void {
    stats.http2Total.value++;
    follow(socket, new Http2Connection(socket, http2));
  }

  function follow(socket: Socket, connection: AnyConnection): void {
    connections.add(connection);
    if (drainGrace) close(connection, drainGrace);
    else if (retired) closeIfOutdated(connection);
    // Its handshake was in progress when the front retired.
    if (retired && connections.size === 1) watchTimeouts(server);
    const lifetime = limits.maxConnectionDurationMs;
    const timer = lifetime > 0 ? startTimer(() => close(connection, endOfLife), lifetime).unref() : undefined;
    socket.on('close', () => {
      if (timer) clearTimeout(timer);
      connections.delete(connection);
      if (retired && connections.size === 0) server.close();
    });
  }

  /** Closes a connection gracefully, unless it has become one of HTTP/2. */
  function close(connection: AnyConnection, grace: CloseGrace): void {
    if (!connections.has(connection)) return;
    // GOAWAY announces the end of an idle connection, too.
    if (connection instanceof Http2Connection) connection.closeGracefully(grace.announceMs ? 0 : grace.idleMs);
    else closeGracefully(connection, grace);
  }

  /** Requests on it would be rejected, so that its client has to connect again. */
  function closeIfOutdated(connection: AnyConnection): void {
    if (tls?.isCurrent(connection.socket as TLSSocket) === false) close(connection, { idleMs: IDLE_GRACE_MS });
  }

  /** A client that knows that the listener speaks HTTP/2 begins with its preface. */
  function onClientError(error: ClientError, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection && !connections.has(connection)) return;
    const isHttp2 = connection?.requests === 0 && !connection.refused && isPreface(error);
    if (!isHttp2 || limits.codecType === 'HTTP1') return serve.clientError(error, socket);
    connections.delete(connection);
    takeOver(socket, error);
    openHttp2(socket);
  }

  const speaksOnlyHttp2 = limits.codecType === 'HTTP2';
  const secure = tls && createTlsServer(tls.options);
  if (tls && secure) {
    secure.on('secureConnection', (socket: TLSSocket) => {
      completeHandshake(socket);
      if (readsProxyHeader) adoptProxied(socket);
      if (tls.admit(socket, stats)) return open(socket, speaksOnlyHttp2 || socket.alpnProtocol === 'h2');
      if (onConnection) logWhenClosed(socket, onConnection, 'client_certificate_rejected');
      socket.destroy();
    });
    const stapler = tls.stapler(stats);
    if (stapler) secure.on('OCSPRequest', stapler);
    secure.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      stats.handshakeError.value++;
      if (readsProxyHeader) adoptProxied(socket);
      onConnection?.(socket)(`tls_error: ${error.code ?? error.message}`);
      socket.destroy();
    });
  }
  wire(server, serve);
  server.on('clientError', (error: Error, socket) => onClientError(error as ClientError, socket as Socket));
  watchTimeouts(server);

  return {
    accept: (socket: Socket): void => (secure ? beginHandshake(secure, socket) : open(socket, speaksOnlyHttp2)),
    connections: connections as ReadonlySet<AnyConnection>,
    /** Closes each connection, including those in a handshake, with its next response or after this many idle milliseconds, or later if it is used. */
    drain(idleMs: number): void {
      drainGrace = { idleMs, usedMs: idleMs * USED_GRACES };
      for (const connection of connections) close(connection, drainGrace);
    },
    /** Closes the connections that do not fulfil the newest client requirements, as a drain does. */
    closeOutdated(): void {
      for (const connection of connections) closeIfOutdated(connection);
    },
    /** Replaces the key of session tickets. */
    setTicketKeys(key: Buffer): void {
      secure?.setTicketKeys(key);
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
function watchTimeouts(server: Server): void {
  server.emit('listening');
}

function wire(server: Server, serve: Serve): void {
  server.on('request', serve.request);
  server.on('checkContinue', serve.expecting);
  server.on('checkExpectation', serve.request);
  server.on('upgrade', serve.upgrade);
  server.on('connect', serve.connect);
  server.on('timeout', serve.timeout);
}

function serverOptions(limits: ListenLimits, upgrades: boolean): ServerOptions {
  return {
    connectionsCheckingInterval: limits.checkIntervalMs,
    headersTimeout: nodeDelay(headTimeoutOf(limits)),
    requestTimeout: nodeDelay(limits.requestTimeoutMs),
    keepAliveTimeout: nodeDelay(limits.idleTimeoutMs),
    // Twice the limit, so that the check can distinguish a long target from long headers.
    maxHeaderSize: 2 * Math.max(limits.maxHeadBytes, limits.maxTargetBytes),
    optimizeEmptyRequests: true,
    requireHostHeader: false,
    IncomingMessage: BodyRequest,
    shouldUpgradeCallback: (req) => upgrades && asksForWebSocket(req),
  };
}

function headTimeoutOf({ headTimeoutMs, requestTimeoutMs }: ListenLimits): number {
  return requestTimeoutMs > 0 ? Math.min(headTimeoutMs || requestTimeoutMs, requestTimeoutMs) : headTimeoutMs;
}
