import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { nodeDelay, renderForBrowser, signsOf, type Context, type Handler } from '@edge-gateway/core';
import { continueWhenRead, watchBody } from './body-watch.ts';
import { parseAbsoluteTarget } from '../http1/authority.ts';
import { SERVER_OPTIONS, isTunnelRequest, checkHead, isServerWide, tunnelHead } from '../check/check-head.ts';
import { refusalOf, type ClientError } from './refuse/client-error.ts';
import { checkSyntax } from '../check/check-syntax.ts';
import type { Http2Exchange, Http2Serve } from './http2/http2-connection.ts';
import type { Http2Response } from './http2/http2-response.ts';
import { toWebSocketHandshake, UpgradeStream } from './http2/upgrade-stream.ts';
import type { ListenLimits } from './limits.ts';
import type { ListenStats } from './listen-stats.ts';
import {
  acceptRequest,
  acceptsRequests,
  beginRequest,
  connectionOf,
  cutBehind,
  dropRequest,
  isCut,
  type Http1ClientConnection,
} from './connection.ts';
import { refusal, type Refusal } from '../check/refusal.ts';
import { writeProperCase, type HeaderCase } from '../http1/header-case.ts';
import type { MemoryWatch } from './memory-watch.ts';
import type { Refuse } from './refuse/refuse.ts';
import { inTurn } from './turn.ts';
import { failureReply, replyTo, sendReply, type Exchange, type LocalReply } from '../serve/reply.ts';
import { newRequestId } from '../request-id.ts';

export type Serve = ReturnType<typeof createServe>;

export interface ServeParts {
  readonly handler: Handler;
  readonly context: Context;
  readonly refuse: Refuse;
  readonly memory: Pick<MemoryWatch, 'isScarce'>;
  readonly stats: Pick<ListenStats, 'http1Total' | 'http1Requests'>;
  /** Returns why a host must not be served on the connection of a request, in addition to {@link checkHead}. */
  readonly checkConnection?: (req: IncomingMessage) => Refusal | undefined;
  readonly headerCase?: HeaderCase;
}

const NO_BYTES = Buffer.alloc(0);
const NO_TUNNEL = refusal('ERR_ROUTING_METHOD_NOT_ALLOWED', { detail: 'CONNECT' });
/** An extended CONNECT for a protocol other than WebSocket. */
const UNKNOWN_PROTOCOL = refusal('ERR_ROUTING_UPGRADE', { detail: 'protocol' });
/** Memory is measured again before this time. */
const RETRY = { headers: ['retry-after', '1'] };

/** Checks requests and passes valid ones to the handler; rejected requests never reach it. */
export function createServe({ handler, context, refuse, memory, stats, checkConnection, headerCase }: ServeParts) {
  const run = createRunHandler(handler, context);

  const check = (
    req: IncomingMessage,
    { limits }: { readonly limits: ListenLimits },
    isUpgrade = false,
  ): Refusal | undefined =>
    memory.isScarce ? refusal('ERR_ROUTING_OVERLOADED', RETRY) : checkHead(req, { limits, isUpgrade, checkConnection });

  /** The version of a connection is known with its first request. */
  function countHttp1({ requests }: Http1ClientConnection): void {
    if (requests === 0) stats.http1Total.value++;
    stats.http1Requests.value++;
  }

  function take(req: IncomingMessage, res: ServerResponse, prepare?: typeof continueWhenRead): void {
    const connection = connectionOf(req.socket);
    if (!connection || !acceptsRequests(connection)) return void (connection && dropRequest(connection, req));
    acceptRequest(connection, res);
    const body = req.headers['transfer-encoding'] === undefined ? undefined : watchChunks(connection, req);
    const parts = { prepare, body };
    if (!connection.res && connection.waiting.length === 0) return begin(connection, req, res, parts);
    connection.waiting.push({
      req,
      res,
      bytesRead: connection.socket.bytesRead,
      serve() {
        // As `node:http` does for a request that need not wait.
        connection.socket.setTimeout(nodeDelay(connection.limits.streamIdleTimeoutMs));
        begin(connection, req, res, parts);
      },
    });
  }

  function start(connection: Http1ClientConnection, req: IncomingMessage, res: ServerResponse): void {
    countHttp1(connection);
    beginRequest(connection, req, res);
    if (headerCase === 'proper') writeProperCase(res);
  }

  function begin(
    connection: Http1ClientConnection,
    req: IncomingMessage,
    res: ServerResponse,
    parts: AcceptedParts,
  ): void {
    const { prepare, body } = parts;
    start(connection, req, res);
    const refused = check(req, connection) ?? body?.problem;
    if (refused) return refuse.request(connection, res, refused);
    prepare?.(req, res);
    if (body) chunked(connection, req, res, body);
    else hand(connection, req, res);
  }

  /** Serves a request that was parsed as strictly as {@link checkHead} does. */
  function takePlain(req: IncomingMessage, res: ServerResponse, connection: Http1ClientConnection): void {
    acceptRequest(connection, res);
    start(connection, req, res);
    const refused = memory.isScarce ? refusal('ERR_ROUTING_OVERLOADED', RETRY) : checkConnection?.(req);
    if (refused) return refuse.request(connection, res, refused);
    connection.handled = true;
    run(req, res);
  }

  /** The handler starts after the bytes received with the head are parsed, so that an error in them is detected first. */
  function chunked(
    connection: Http1ClientConnection,
    req: IncomingMessage,
    res: ServerResponse,
    body: WatchedBody,
  ): void {
    body.report = (refused) => refuse.request(connection, res, refused);
    setImmediate(() => {
      if (connection.refused || connection.socket.destroyed) return;
      body.report = (refused) => refuse.bytes(connection, refused);
      hand(connection, req, res);
    });
  }

  function hand(connection: Http1ClientConnection, req: IncomingMessage, res: ServerResponse): void {
    if (isServerWide(req)) {
      refuse.responded(connection, SERVER_OPTIONS.status);
      res.writeHead(SERVER_OPTIONS.status, SERVER_OPTIONS.headers).end();
      return;
    }
    canonicalHead(req, connection);
    connection.handled = true;
    run(req, res);
  }

  /** Serves a CONNECT request of HTTP/2: a tunnel, or a WebSocket (RFC 8441). */
  function tunnel(exchange: Http2Exchange): void {
    const { req, res, head } = exchange;
    const { protocol } = head;
    const isWebSocket = protocol?.toLowerCase() === 'websocket';
    const serve = protocol === undefined ? handler.connect : handler.upgrade;
    if (isWebSocket) toWebSocketHandshake(req);
    const unserved = protocol === undefined || isWebSocket ? (serve ? undefined : NO_TUNNEL) : UNKNOWN_PROTOCOL;
    const refused = checkSyntax(req) ?? head.problem ?? unserved ?? check(req, exchange, isWebSocket);
    if (refused) return refuse.stream(exchange, refused);
    exchange.handled = true;
    const socket = new UpgradeStream(req, res as unknown as Http2Response);
    upgradeTo(serve!.bind(handler), [isTunnelRequest(req) ? tunnelHead(req) : req, socket, NO_BYTES]);
  }

  const http2: Http2Serve = {
    request(exchange: Http2Exchange): void {
      const { req, res, head } = exchange;
      if (req.method === 'CONNECT') return tunnel(exchange);
      const refused = checkSyntax(req) ?? head.problem ?? check(req, exchange);
      if (refused) return refuse.stream(exchange, refused);
      req.markChunked();
      if (req.headers.expect !== undefined) continueWhenRead(req, res);
      if (isServerWide(req)) {
        refuse.responded(exchange, SERVER_OPTIONS.status);
        res.writeHead(SERVER_OPTIONS.status, SERVER_OPTIONS.headers).end();
        return;
      }
      exchange.handled = true;
      run(req, res);
    },
    interrupt: refuse.interruptStream,
    abuse: refuse.abuse,
  };

  return {
    http2,
    request: (req: IncomingMessage, res: ServerResponse) => take(req, res),
    plain: takePlain,
    /** A request with `Expect: 100-continue`. */
    expecting: (req: IncomingMessage, res: ServerResponse) => take(req, res, continueWhenRead),
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer) {
      takeSocket(socket, (connection) => {
        if (!handler.upgrade) return void socket.destroy();
        countHttp1(connection);
        connection.upgraded = true;
        const refused = check(req, connection, true);
        if (refused) refuse.socket(connection.socket, refused, req);
        else upgradeTo(handler.upgrade.bind(handler), [canonicalHead(req, connection), socket, head]);
      });
    },
    connect(req: IncomingMessage, socket: Duplex, head: Buffer) {
      takeSocket(socket, (connection) => {
        countHttp1(connection);
        connection.upgraded = true;
        const refused = check(req, connection) ?? (handler.connect ? undefined : NO_TUNNEL);
        if (refused) refuse.socket(connection.socket, refused, req);
        else upgradeTo(handler.connect!.bind(handler), [canonicalHead(req, connection), socket, head]);
      });
    },
    clientError(error: ClientError, socket: Duplex) {
      const connection = connectionOf(socket);
      if (!connection || connection.refused || isCut(connection)) return;
      if (connection.requests === 0 && !connection.upgraded) countHttp1(connection);
      const refused = refusalOf(error);
      if (!refused) return void socket.destroy();
      if (connection.waiting.length === 0 && !connection.req?.complete) return refuse.bytes(connection, refused);
      cutBehind(connection, ({ req, res }) => {
        if (req && res) start(connection, req, res);
        refuse.bytes(connection, refused);
      });
    },
    timeout,
  };

  /** Serves a request that takes over its socket, after the responses to earlier requests of the connection. */
  function takeSocket(socket: Duplex, serve: (connection: Http1ClientConnection) => void): void {
    socket.on('error', () => socket.destroy());
    const connection = connectionOf(socket);
    if (!connection) return void socket.destroy();
    inTurn(
      connection,
      () => timeout(connection.socket),
      () => (acceptsRequests(connection) ? serve(connection) : void socket.destroy()),
    );
  }

  function timeout(socket: Socket): void {
    const connection = connectionOf(socket);
    const { req } = connection ?? {};
    if (connection && req) {
      refuse.bytes(connection, refusal(req.complete ? 'ERR_ROUTING_STREAM_TIMEOUT' : 'ERR_ROUTING_REQUEST_TIMEOUT'));
    } else if (connection?.limits.idleTimeoutMs !== 0) socket.destroy();
  }

  function upgradeTo(upgrade: NonNullable<Handler['upgrade']>, parts: [IncomingMessage, Duplex, Buffer]): void {
    try {
      upgrade(...parts);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      context.log.get('websocket').error({ detail }, 'handler failed');
      refuse.socket(parts[1], refusal('ERR_ROUTING_HANDLER', { detail }), parts[0]);
    }
  }
}

/** The parts of an accepted request besides its head. */
interface AcceptedParts {
  readonly prepare: typeof continueWhenRead | undefined;
  /** Missing unless the body is chunked. */
  readonly body: WatchedBody | undefined;
}

/** A body that is checked while it is received. */
interface WatchedBody {
  /** The problem, if it was found before {@link report} was set. */
  problem?: Refusal;
  report?: (problem: Refusal) => void;
}

/** Watches the body of a request, also before its turn. */
function watchChunks(connection: Http1ClientConnection, req: IncomingMessage): WatchedBody {
  const body: WatchedBody = {};
  watchBody(connection, req, (problem) => {
    if (body.report) body.report(problem);
    else body.problem = problem;
  });
  return body;
}

/** Converts an absolute-form target to origin form, and adds the default host to an HTTP/1.0 request without one. */
function canonicalHead(req: IncomingMessage, { limits }: Http1ClientConnection): IncomingMessage {
  if (isTunnelRequest(req)) return tunnelHead(req);
  const target = req.url ?? '/';
  if (!target.startsWith('/')) req.url = parseAbsoluteTarget(target)?.path ?? '/';
  if (req.headers.host === undefined) {
    req.headers.host = limits.defaultHost;
    req.rawHeaders.push('Host', limits.defaultHost);
  }
  return req;
}

/**
 * Runs a handler. The response is 500 if it throws, rejects or passes an error (a `GatewayError`: its status); if it passes the
 * request on, 404. Calling `next` again has no effect.
 */
function createRunHandler(handler: Handler, context: Context) {
  const log = context.log.get('http');

  function fail(error: unknown, req: IncomingMessage, res: ServerResponse): void {
    const requestId = newRequestId();
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ requestId, errorCode: (error as { code?: unknown } | null)?.code, reason }, 'handler failed');
    if (res.writableEnded) return;
    if (res.headersSent) res.destroy();
    else respond({ req, res }, replyTo(error, requestId), requestId);
  }

  function notFound(exchange: Exchange): void {
    const requestId = newRequestId();
    respond(exchange, failureReply({ code: 'ERR_ROUTING_NO_ROUTE', status: 404 }, requestId), requestId);
  }

  function respond({ req, res }: Exchange, reply: LocalReply, requestId: string): void {
    const { pages, jsonErrors } = context;
    sendReply({ req, res }, renderForBrowser(reply, { request: signsOf(req), requestId, pages, jsonErrors }));
  }

  return (req: IncomingMessage, res: ServerResponse): void => {
    let passed = false;
    const next = (error?: unknown): void => {
      if (passed) return;
      passed = true;
      if (error !== undefined) fail(error, req, res);
      else if (!res.headersSent) notFound({ req, res });
    };
    try {
      const pending = handler(req, res, next) as unknown;
      if (pending instanceof Promise) pending.catch((error: unknown) => next(error ?? new Error('rejected')));
    } catch (error) {
      next(error ?? new Error('thrown'));
    }
  };
}
