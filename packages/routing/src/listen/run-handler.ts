import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, type Context, type Handler } from '@edge-gateway/core';
import { ERROR_CODES } from '../error-codes.ts';

/** Runs a handler for a request so that whatever it does wrong costs that request only. */
export type RunHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * A handler that throws, rejects, or passes an error answers 500 (a `GatewayError`: its status); one that passes the
 * request on, 404. Calling `next` again has no effect.
 */
export function createRunHandler(handler: Handler, context: Context): RunHandler {
  const log = context.log.get('http');

  function fail(error: unknown, res: ServerResponse): void {
    const requestId = randomUUID();
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ requestId, errorCode: (error as { code?: unknown } | null)?.code, reason }, 'handler failed');
    if (res.writableEnded) return;
    if (res.headersSent) res.destroy();
    else answerError(error, res, requestId);
  }

  return (req, res) => {
    let passed = false;
    const next = (error?: unknown): void => {
      if (passed) return;
      passed = true;
      if (error !== undefined) fail(error, res);
      else if (!res.headersSent) res.writeHead(404, ['content-length', '0']).end();
    };
    try {
      const pending = handler(req, res, next) as unknown;
      if (pending instanceof Promise) pending.catch((error: unknown) => next(error ?? new Error('rejected')));
    } catch (error) {
      next(error ?? new Error('thrown'));
    }
  };
}

/** Says no more than the code and, of an error that is the client's own, its message. */
function answerError(error: unknown, res: ServerResponse, requestId: string): void {
  const known = error instanceof GatewayError ? error : undefined;
  const status = known?.status ?? ERROR_CODES.ERR_ROUTING_HANDLER.status;
  const code = known?.code ?? 'ERR_ROUTING_HANDLER';
  const message = known && status < 500 ? known.message : ERROR_CODES.ERR_ROUTING_HANDLER.message;
  const body = JSON.stringify({ code, message, requestId });
  const own = Object.entries(known?.headers ?? {}).flat();
  const length = String(Buffer.byteLength(body));
  res.writeHead(status, [...own, 'content-type', 'application/json', 'content-length', length]).end(body);
}
