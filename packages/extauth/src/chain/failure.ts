import { GatewayError } from '@edge-gateway/core';
import { extauthError } from '../error-codes.ts';

/**
 * Most bytes of a client that every server is expected to accept in a header. Where a call with more of them fails, the
 * client may have caused it.
 */
export const SAFE_HEADER_BYTES = 8192;

/** A server returned no usable response. `answered` is the status of the response, if any. */
export class UnusableAnswer extends GatewayError {
  readonly answered: number | undefined;

  constructor(message: string, { answered, cause }: { readonly answered?: number; readonly cause?: unknown } = {}) {
    super(message, { code: 'ERR_EXTAUTH_ANSWER', status: 502, cause });
    this.answered = answered;
  }
}

/** Errors of Node and undici for invalid arguments, thrown before a server is called. */
const BAD_ARGUMENT = /^(?:ERR_INVALID_|ERR_HTTP_INVALID_|ERR_UNESCAPED_|UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED)/;
/** The only type errors that mean a failed call: those of `fetch`. */
const FAILED_FETCH = new Set(['fetch failed', 'terminated']);
const DEFECTS = [TypeError, RangeError, SyntaxError, ReferenceError, URIError];

/** Status of an error that the client caused, `undefined` for every other one. */
export function clientStatusOf(error: unknown): number | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  return isClientStatus(error.status) ? error.status : undefined;
}

function isClientStatus(status = 0): boolean {
  return status >= 400 && status < 500;
}

/**
 * Returns true if an error means that a server failed. Any other error, such as a call that could not be made, may have been
 * caused by the content of the request, and must never allow it.
 */
export function isServerFailure(error: unknown): boolean {
  if (clientStatusOf(error) !== undefined) return false;
  if (error instanceof UnusableAnswer && isClientStatus(error.answered)) return false;
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string' && BAD_ARGUMENT.test(code)) return false;
  if (error instanceof TypeError && FAILED_FETCH.has(error.message)) return true;
  return !DEFECTS.some((type) => error instanceof type);
}

/** Returns an error that the client caused. `status` is the response status. */
export function clientError(message: string, status: 400 | 413 | 429 | 431, cause?: unknown): GatewayError {
  return extauthError('ERR_EXTAUTH_REQUEST', message, { status, cause });
}
