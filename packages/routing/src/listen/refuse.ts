import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from '@edge-gateway/core';
import { linger } from '../lingering-close.ts';
import { closeGracefully, type Connection } from './connection.ts';
import { createHttpStats } from '../statistics.ts';
import { refusalBody, type Refusal } from './refusal.ts';

/** Answers clients that did something wrong, and logs and counts each once. */
export interface Refuse {
  /** Answers by the response of the request. */
  request(connection: Connection, res: ServerResponse, refused: Refusal): void;
  /** Answers on the bare socket: there is no request, or its response belongs to a handler that has not begun to answer. */
  bytes(connection: Connection, refused: Refusal): void;
  /** Answers nothing: responses to earlier requests are under way, and the connection closes behind them. */
  unanswered(connection: Connection, refused: Refusal): void;
  /** Answers on a socket that an upgrade was asked for. */
  socket(socket: Duplex, refused: Refusal): void;
}

/** What refusals of a listener are told to. */
export interface RefuseParts {
  readonly context: Context;
  /** Its name. */
  readonly listener: string;
  /** Counts an answer of the listener. */
  readonly countStatus: (status: number) => void;
}

/** Makes the {@link Refuse} of a listener. */
export function createRefuse({ context, listener, countStatus }: RefuseParts): Refuse {
  const log = context.log.get('http');
  const stats = createHttpStats(context.metrics);

  /** Gives the head and the body of the answer. */
  function answer(refused: Refusal, client: string | undefined): { headers: string[]; body: string } {
    const requestId = randomUUID();
    const { code, status, detail } = refused;
    log.info({ listener, errorCode: code, status, detail, client, requestId }, 'request refused');
    stats.total.value++;
    stats.completed.value++;
    stats.classes[Math.floor(status / 100) - 1]!.value++;
    countStatus(status);
    const body = refusalBody(refused, requestId);
    const length = String(Buffer.byteLength(body));
    const headers = ['content-type', 'application/json', 'content-length', length, ...(refused.headers ?? [])];
    return { headers: [...headers, 'x-request-id', requestId, 'connection', 'close'], body };
  }

  function bytesOf(refused: Refusal, client: string | undefined): string {
    const { headers, body } = answer(refused, client);
    let head = `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status] ?? 'Error'}\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    return `${head}\r\n${body}`;
  }

  return {
    request(connection, res, refused) {
      connection.refused = connection.closing = true;
      const { headers, body } = answer(refused, connection.socket.remoteAddress);
      res.shouldKeepAlive = false;
      res.writeHead(refused.status, headers);
      res.end(body);
    },
    bytes(connection, refused) {
      const { socket, res } = connection;
      connection.refused = connection.closing = true;
      const text = bytesOf(refused, socket.remoteAddress);
      if (res?.headersSent || !socket.writable) {
        socket.destroy();
        return;
      }
      socket.end(text);
      linger(socket);
    },
    unanswered(connection, refused) {
      const { code, detail } = refused;
      connection.refused = true;
      closeGracefully(connection, 0);
      log.info({ listener, errorCode: code, detail, client: connection.socket.remoteAddress }, 'request refused');
    },
    socket(socket, refused) {
      socket.end(bytesOf(refused, undefined), () => socket.destroy());
    },
  };
}
