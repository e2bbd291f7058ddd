import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from '../concern.ts';

/** A middleware on `node:http` types, or on the types of a framework that extends them, as Express does. */
export type Middleware = {
  run(req: IncomingMessage, res: ServerResponse, next: Next): unknown;
}['run'];

/** A request and its response. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Runs handlers one after the other and calls `done` once: without an error when the last one passed the request on, else with
 * the first error. A handler that responds by itself ends the run. What is thrown after `next` was called goes to the caller.
 */
export function runAll(handlers: readonly Middleware[], exchange: Exchange, done: Next): void {
  const [handler, ...rest] = handlers;
  if (!handler) return done();
  let called = false;
  const next: Next = (error) => {
    if (called) return;
    called = true;
    // Connect and Express take `null` for no error, too.
    if (error === undefined || error === null) runAll(rest, exchange, done);
    else done(error);
  };
  try {
    const pending = handler(exchange.req, exchange.res, next);
    if (pending instanceof Promise) pending.catch((error: unknown) => next(error ?? new Error('rejected')));
  } catch (error) {
    if (called) throw error;
    next(error ?? new Error('thrown'));
  }
}

/**
 * Runs a middleware where a framework has none of this form: returns true when it passed the request on, false when it
 * responded, and rejects with the error it passed to `next`.
 *
 * @example
 * // Hono on node: the response is written already when the guard rejects a request.
 * app.use(async (c, next) => {
 *   if (!(await runMiddleware(guard, c.env.incoming, c.env.outgoing))) return RESPONSE_ALREADY_SENT;
 *   await next();
 * });
 */
export function runMiddleware(handler: Middleware, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const responded = (): void => resolve(false);
    res.once('finish', responded).once('close', responded);
    runAll([handler], { req, res }, (error) => {
      res.off('finish', responded).off('close', responded);
      if (error === undefined) resolve(true);
      // oxlint-disable-next-line prefer-promise-reject-errors
      else reject(error);
    });
  });
}
