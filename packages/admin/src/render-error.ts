import { GatewayError, type Logger } from '@edge-gateway/core';
import type { ErrorRequestHandler } from 'express';
import { adminError, type AdminErrorCode } from './error-codes.ts';

/** What Express and its body parser throw, by its `type` or status. */
const KNOWN_FAILURES: Readonly<Record<string, AdminErrorCode>> = {
  'entity.too.large': 'ERR_ADMIN_BODY_TOO_LARGE',
  'entity.parse.failed': 'ERR_ADMIN_BAD_BODY',
  'encoding.unsupported': 'ERR_ADMIN_ENCODING_REFUSED',
  'charset.unsupported': 'ERR_ADMIN_ENCODING_REFUSED',
};

interface HttpFailure {
  readonly type?: string;
  readonly status?: number;
}

function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const { type = '', status = 500 } = (error ?? {}) as HttpFailure;
  const code = KNOWN_FAILURES[type] ?? (status >= 400 && status < 500 ? 'ERR_ADMIN_BAD_REQUEST' : 'ERR_ADMIN_INTERNAL');
  return adminError(code, { cause: error });
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
    if (error.status === 413) res.setHeader('connection', 'close');
    res.end(body);
  };
}

/** Answers errors as one line of text. */
export const renderErrorAsText = (log: Logger): ErrorRequestHandler =>
  renderError(log, (error) => ({ type: 'text/plain; charset=utf-8', body: `${error.message}\n` }));

/** Answers errors as `{code, message}`. */
export const renderErrorAsJson = (log: Logger): ErrorRequestHandler =>
  renderError(log, (error) => ({
    type: 'application/json',
    body: JSON.stringify({ code: error.code, message: error.message }),
  }));
