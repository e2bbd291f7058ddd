import { asMiddleware, GatewayError, readWholeBody, replaceBody, type Concern, type Handler } from '@edge-gateway/core';
import type { CreateMiddleware } from '@edge-gateway/core';
import type { BufferPerRoute } from '@edge-gateway/core/schema';
import { replyError } from '../../error-codes.ts';

/** `buffer` of a listener and `bufferPerRoute`: reads request bodies before they are forwarded, up to a limit. */
export const bufferConcern: Concern<BufferPerRoute> = {
  name: 'bufferPerRoute',
  option: 'bufferPerRoute',
  stage: 'destination',
  compile: (block) => compile(maxBytesOf(block)),
};

/** Returns the limit of a block in bytes; `undefined` if bodies are not buffered. */
export function maxBytesOf({ disabled, buffer }: BufferPerRoute): number | undefined {
  return disabled ? undefined : buffer?.maxRequestBytes;
}

/**
 * Reads request bodies in your own server before the next handler runs, by the block that routes have as `bufferPerRoute`. Larger ones are rejected
 * with 413 `ERR_ROUTING_BODY_TOO_LARGE`. Throws `ERR_CORE_MIDDLEWARE` for invalid options.
 *
 * @example
 * app.use(buffer({ buffer: { maxRequestBytes: 1_048_576 } }));
 */
export const buffer: CreateMiddleware<BufferPerRoute> = asMiddleware(bufferConcern, 'BufferPerRoute');

function compile(maxBytes: number | undefined): Handler | undefined {
  if (maxBytes === undefined) return undefined;
  return function buffer(req, _res, next) {
    readWholeBody(req, maxBytes).then(
      (body) => {
        // The length is known now.
        if (body.length > 0 && req.headers['transfer-encoding'] !== undefined) replaceBody(req, body);
        next();
      },
      (error: unknown) => next(isTooLarge(error) ? TOO_LARGE : error),
    );
  };
}

/** The response to a larger body. */
export const TOO_LARGE = replyError('ERR_ROUTING_BODY_TOO_LARGE', {
  body: 'Payload Too Large',
  details: 'request_payload_too_large',
});

function isTooLarge(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'ERR_CORE_BODY_TOO_LARGE';
}
