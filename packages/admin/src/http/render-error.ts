import { GatewayError, type Logger } from '@edge-gateway/core';
import type { ErrorRequestHandler } from 'express';
import { adminError } from '../error-codes.ts';

function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const { status = 500 } = (error ?? {}) as { status?: number };
  return adminError(status < 500 ? 'ERR_ADMIN_BAD_REQUEST' : 'ERR_ADMIN_INTERNAL', { cause: error });
}

type Write = (error: GatewayError) => { type: string; body: string };

function renderError(log: Logger, write: Write): ErrorRequestHandler {
  return function adminErrorHandler(thrown: unknown, req, res, next) {
    const error = toGatewayError(thrown);
    const { type, body } = write(error);
    if (error.status >= 500) log.error({ err: error.cause ?? error, path: req.path }, 'admin request failed');
    if (res.headersSent) return next(thrown);
    res
      .set({ ...error.headers })
      .status(error.status)
      .type(type);
    res.end(body);
  };
}

/** Responds with errors as one line of text. */
export const renderErrorAsText = (log: Logger): ErrorRequestHandler =>
  renderError(log, (error) => ({ type: 'text/plain; charset=utf-8', body: `${error.message}\n` }));

/** Responds with errors as `{code, message}`. */
export const renderErrorAsJson = (log: Logger): ErrorRequestHandler =>
  renderError(log, (error) => ({
    type: 'application/json',
    body: JSON.stringify({ code: error.code, message: error.message }),
  }));
