import { GatewayError } from '@edge-gateway/core';
import { ERROR_CODES } from './error-codes.ts';

export type ErrorCode = keyof typeof ERROR_CODES;

/** Creates an error of this package's table. `detail` replaces the table's message; it is for logs. */
export function failure(code: ErrorCode, detail?: string, cause?: unknown): GatewayError {
  const { status, message } = ERROR_CODES[code];
  return new GatewayError(detail ?? message, { code, status, cause });
}

/** For `catch`: returns `undefined` for any error except an unavailable store, which it rethrows. */
export function rethrowUnavailableStore(error: unknown): undefined {
  if (codeOf(error) === 'ERR_OIDC_STORE_UNAVAILABLE') throw error;
  return undefined;
}

/** Returns the code of an error of this package's table; `undefined` for any other error. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof GatewayError && Object.hasOwn(ERROR_CODES, error.code)
    ? (error.code as ErrorCode)
    : undefined;
}
