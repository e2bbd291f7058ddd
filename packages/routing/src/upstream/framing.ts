import type { RequestBody } from '../http1/request-body.ts';
import type { Framing } from '../http1/request-head.ts';

/** Returns how a body is delimited. */
export function framingOf(body: Buffer | RequestBody | undefined): Framing {
  return body === undefined ? undefined : (body.length ?? 'chunked');
}

/** Returns true for a body that has no bytes. */
export function isEmptyBody(body: Buffer | RequestBody | undefined): boolean {
  return body === undefined || (Buffer.isBuffer(body) && body.length === 0);
}
