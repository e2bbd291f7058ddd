import type { RequestHandler } from 'express';
import { adminError } from './error-codes.ts';

/**
 * Reads bodies up to `limitBytes` into `req.body`, as text. Unlike the body parsers of Express it does not wait for the
 * rest of one that is too large. Errors: `ERR_ADMIN_BODY_TOO_LARGE`, `ERR_ADMIN_ENCODING_REFUSED`.
 */
export function readBody(limitBytes: number): RequestHandler {
  return function adminReadBody(req, _res, next) {
    const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = req.headers;
    if (encoding.toLowerCase() !== 'identity') return next(adminError('ERR_ADMIN_ENCODING_REFUSED', CLOSE));
    if (Number(length) > limitBytes) return next(adminError('ERR_ADMIN_BODY_TOO_LARGE', CLOSE));
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= limitBytes) return;
      req.removeAllListeners('data').removeAllListeners('end').pause();
      next(adminError('ERR_ADMIN_BODY_TOO_LARGE', CLOSE));
    });
    req.on('end', () => {
      req.body = Buffer.concat(chunks).toString('utf8');
      next();
    });
  };
}

/** The connection is of no use when a body was not read. */
const CLOSE = { headers: { connection: 'close' } };
