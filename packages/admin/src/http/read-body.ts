import { readBody as readBytes } from '@edge-gateway/core';
import type { RequestHandler } from 'express';
import { adminError } from '../error-codes.ts';

/**
 * Reads bodies up to `limitBytes` into `req.body`, as text. Unlike the body parsers of Express it does not wait for the
 * rest of one that is too large. Errors: `ERR_ADMIN_BODY_TOO_LARGE`, `ERR_ADMIN_ENCODING_REFUSED`.
 */
export function readBody(limitBytes: number): RequestHandler {
  return async function adminReadBody(req, _res, next) {
    const { 'content-encoding': encoding = 'identity' } = req.headers;
    if (encoding.toLowerCase() !== 'identity') return next(adminError('ERR_ADMIN_ENCODING_REFUSED', CLOSE));
    const bytes = await readBytes(req, limitBytes).catch(() => 'gone' as const);
    if (bytes === 'gone') return;
    if (!bytes) return next(adminError('ERR_ADMIN_BODY_TOO_LARGE', CLOSE));
    req.body = bytes.toString('utf8');
    next();
  };
}

/** The connection is of no use when a body was not read. */
const CLOSE = { headers: { connection: 'close' } };
