import { errorsOf, type GatewayError } from '@edge-gateway/core';

/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_EXTAUTH_METHOD: { status: 500, message: 'An auth config uses a method that is not available.' },
  ERR_EXTAUTH_CONFIG: { status: 500, message: 'A step of an auth config cannot be used.' },
  ERR_EXTAUTH_ANSWER: { status: 502, message: 'An auth server is unavailable or returned an invalid response.' },
  ERR_EXTAUTH_REQUEST: { status: 400, message: 'The request cannot be evaluated because of its content.' },
  ERR_EXTAUTH_DENIED: { status: 403, message: 'An auth config denied the request.' },
} as const;

/** Creates the error of a code. */
export const extauthError = errorsOf(ERROR_CODES);

/** Creates the error of a block or an option that cannot be used. */
export const configError = (message: string, cause?: unknown): GatewayError =>
  extauthError('ERR_EXTAUTH_CONFIG', message, { cause });
