import { errorsOf, GatewayError } from '@edge-gateway/core';

/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_OIDC_CONFIG: { status: 500, message: 'The options of a login are invalid.' },
  ERR_OIDC_SECRET: { status: 500, message: 'A secret of a login is missing or invalid.' },
  ERR_OIDC_PROVIDER_UNAVAILABLE: { status: 503, message: 'The identity provider is unavailable.' },
  ERR_OIDC_PROVIDER_TIMEOUT: { status: 504, message: 'The identity provider did not respond in time.' },
  ERR_OIDC_PROVIDER_ANSWER: { status: 502, message: 'The identity provider sent an invalid response.' },
  ERR_OIDC_GRANT_REFUSED: { status: 401, message: 'The identity provider rejected the grant.' },
  ERR_OIDC_TOKEN_INVALID: { status: 401, message: 'A token of the identity provider is invalid.' },
  ERR_OIDC_GROUPS_UNAVAILABLE: { status: 503, message: 'The groups of a user cannot be read.' },
  ERR_OIDC_STORE_UNAVAILABLE: { status: 503, message: 'The session store is unavailable.' },
  ERR_OIDC_SESSION_TOO_LARGE: { status: 500, message: 'The tokens of a login are too large for cookies.' },
  ERR_OIDC_LOGIN_REQUIRED: { status: 401, message: 'Log in first.' },
  ERR_OIDC_LOGIN_FAILED: { status: 400, message: 'The login could not be completed; start again.' },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

const oidcError = errorsOf(ERROR_CODES);

/** Creates an error of the table. `detail` replaces the table's message; it is for logs. */
export function failure(code: ErrorCode, detail?: string, cause?: unknown): GatewayError {
  return oidcError(code, detail, { cause });
}

/** Returns the code of an error of the table; `undefined` for any other error. */
export function codeOf(error: unknown): ErrorCode | undefined {
  const code = error instanceof GatewayError ? error.code : '';
  return Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : undefined;
}

/** For `catch`: returns `undefined` for any error except an unavailable store, which it rethrows. */
export function rethrowUnavailableStore(error: unknown): undefined {
  if (codeOf(error) === 'ERR_OIDC_STORE_UNAVAILABLE') throw error;
  return undefined;
}
