import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from '../contract/concern.ts';

/** A middleware on `node:http` types, or on the types of a framework that extends them, as Express does. */
export type Middleware = {
  run(req: IncomingMessage, res: ServerResponse, next: Next): unknown;
}['run'];

/**
 * Runs handlers in order and calls `done` once: without an error if the last one called `next()`, otherwise with
 * the first error. A handler that responds itself ends the run. An error thrown after `next` was called goes to the caller.
 */
export function runAll(
  handlers: readonly Middleware[],
  exchange: { readonly req: IncomingMessage; readonly res: ServerResponse },
  done: Next,
): void {
  const [handler, ...rest] = handlers;
  if (!handler) return done();
  let called = false;
  const next: Next = (error) => {
    if (called) return;
    called = true;
    // Connect and Express also accept `null` as no error.
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
 * Runs a middleware in a framework with another form of middleware: resolves with true if it called `next()`, with false if it
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
