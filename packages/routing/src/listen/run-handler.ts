import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Handler } from '@edge-gateway/core';
import { replyTo, sendReply } from '../serve/reply.ts';

/** Runs a handler for a request so that whatever it does wrong costs that request only. */
export type RunHandler = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * A handler that throws, rejects, or passes an error answers 500 (a `GatewayError`: its status); one that passes the
 * request on, 404. Calling `next` again has no effect.
 */
export function createRunHandler(handler: Handler, context: Context): RunHandler {
  const log = context.log.get('http');

  function fail(error: unknown, req: IncomingMessage, res: ServerResponse): void {
    const requestId = randomUUID();
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ requestId, errorCode: (error as { code?: unknown } | null)?.code, reason }, 'handler failed');
    if (res.writableEnded) return;
    if (res.headersSent) res.destroy();
    else sendReply({ req, res }, replyTo(error, requestId));
  }

  return (req, res) => {
    let passed = false;
    const next = (error?: unknown): void => {
      if (passed) return;
      passed = true;
      if (error !== undefined) fail(error, req, res);
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
