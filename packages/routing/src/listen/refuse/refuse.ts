import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { renderForBrowser, linger, signsOf, type Context, type ErrorResponse } from '@edge-gateway/core';
import type { RequestRecord } from '../../format/record.ts';
import type { Http1ClientConnection } from '../connection.ts';
import type { Http2Exchange } from '../http2/http2-connection.ts';
import { countResponse, countStatus, createHttpStats, type ResponseStats } from '../../serve/http-stats.ts';
import { refusalBody, type Refusal } from '../../check/refusal.ts';
import { properCaseNames, type HeaderCase } from '../../http1/header-case.ts';
import { noteReplaced } from '../../serve/replaced-response.ts';
import { refusedRecord, resultOf, type RefusedRequest } from './refused-record.ts';
import { newRequestId } from '../../request-id.ts';

/** Responds to invalid requests, and logs and counts each once. */
export type Refuse = ReturnType<typeof createRefuse>;

/** Where rejections of a listener are logged and counted. */
export interface RefuseParts {
  readonly context: Context;
  readonly listener: string;
  /** The statistics of the listener; `undefined` before its address is known. */
  readonly responses: () => ResponseStats | undefined;
  readonly onRefused: (record: RequestRecord) => void;
  /** How the listener writes header names now. */
  readonly headerCase: () => HeaderCase;
}

/** The response of a request; `handled` if a handler owns it. */
interface Served {
  readonly res?: ServerResponse | undefined;
  readonly handled: boolean;
}

type Origin = Pick<RefusedRequest, 'socket' | 'req'> & { readonly served?: Served };

export function createRefuse({ context, listener, responses, onRefused, headerCase }: RefuseParts) {
  const log = context.log.get('http');
  const stats = createHttpStats(context.metrics);

  /** A request that reached a handler is counted there, except for its status. */
  function count(status: number, served: Served | undefined): void {
    const own = responses();
    const all = own ? [stats, own] : [stats];
    if (served?.res && served.handled) {
      if (!served.res.headersSent) for (const each of all) countStatus(each, status);
      return;
    }
    stats.total.value++;
    for (const each of all) countResponse(each, status);
  }

  /** Logs a request that does not reach a handler. */
  function record({ socket, req, served }: Origin, parts: Omit<RefusedRequest, 'socket' | 'req' | 'startedAt'>): void {
    if (served?.res && served.handled) return;
    onRefused(refusedRecord({ socket, req, startedAt: context.now(), ...parts }));
  }

  function respond(refused: Refusal, origin: Origin): { headers: string[]; body: string } {
    const { served, req } = origin;
    const requestId = newRequestId();
    const { code, status, detail } = refused;
    const client = origin.socket.remoteAddress;
    log.info({ listener, errorCode: code, status, detail, client, requestId }, 'request rejected');
    count(status, served);
    const json: ErrorResponse = {
      error: refused,
      status,
      body: refusalBody(refused, requestId),
      contentType: 'application/json',
      headers: refused.headers ?? [],
    };
    const {
      body: written,
      contentType,
      headers,
    } = req ? renderForBrowser(json, { request: signsOf(req), requestId, pages: context.pages }) : json;
    const body = String(written);
    const length = Buffer.byteLength(body);
    record(origin, { refused, requestId, status, bytesSent: length });
    const described = ['content-type', contentType, 'content-length', String(length), ...headers];
    const all = [...described, 'x-request-id', requestId, 'connection', 'close'];
    return { headers: headerCase() === 'proper' ? properCaseNames(all) : all, body };
  }

  function bytesOf(refused: Refusal, origin: Origin): string {
    const { headers, body } = respond(refused, origin);
    let head = `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status] ?? 'Error'}\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    return `${head}\r\n${body}`;
  }

  /** Rejects a request of HTTP/2 with its own response: the other streams of the connection are not affected. */
  function stream(exchange: Http2Exchange, refused: Refusal): void {
    const { req, res, socket } = exchange;
    const { headers, body } = respond(refused, { socket, req, served: exchange });
    res.writeHead(refused.status, headers);
    res.end(body);
  }

  return {
    stream,
    /** Ends a request of HTTP/2 in progress: with a response, or by a reset if one has begun. */
    interruptStream(exchange: Http2Exchange, refused: Refusal): void {
      const { res, handled } = exchange;
      if (handled && !res.headersSent) noteReplaced(res, resultOf(refused));
      if (!res.headersSent) return stream(exchange, refused);
      res.destroy();
    },
    /** Logs that a connection is closed because of the data from its client. */
    abuse(socket: Socket, reason: string): void {
      log.info({ listener, reason, client: socket.remoteAddress }, 'connection rejected');
    },
    /** Rejects a request with its own response. */
    request(connection: Http1ClientConnection, res: ServerResponse, refused: Refusal): void {
      connection.refused = connection.closing = true;
      const { headers, body } = respond(refused, originOf(connection));
      res.shouldKeepAlive = false;
      res.writeHead(refused.status, headers);
      res.end(body);
    },
    /** Writes to the socket: there is no request, or a handler owns its response and has not begun it. */
    bytes(connection: Http1ClientConnection, refused: Refusal): void {
      const { socket, req, res } = connection;
      connection.refused = connection.closing = true;
      // What follows the last response belongs to a request that is counted and logged already.
      if (!req && !socket.writable) return void socket.destroy();
      if (res && connection.handled && !res.headersSent) noteReplaced(res, resultOf(refused));
      const text = bytesOf(refused, originOf(connection));
      if (res?.headersSent || !socket.writable) {
        socket.destroy();
        return;
      }
      socket.end(text);
      linger(socket);
    },
    /** Counts and logs a response of the listener itself that is not a rejection. */
    responded(served: Http1ClientConnection | Http2Exchange, status: number): void {
      const { socket, req } = served;
      count(status, served);
      const parts = { socket, req, startedAt: context.now(), requestId: '', status, bytesSent: 0 };
      onRefused(refusedRecord({ ...parts, refused: undefined }));
    },
    /** Writes to the socket of an upgrade. */
    socket(socket: Duplex, refused: Refusal, req: IncomingMessage): void {
      socket.end(bytesOf(refused, { socket: socket as Socket, req }));
      linger(socket as Socket);
    },
  };
}

const originOf = (connection: Http1ClientConnection): Origin => ({
  socket: connection.socket,
  req: connection.req,
  served: connection,
});
