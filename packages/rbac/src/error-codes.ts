import { errorsOf } from '@edge-gateway/core';

/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_RBAC_JWT: { status: 401, message: 'The request has no valid token; the message states the reason.' },
  ERR_RBAC_JWT_AUDIENCE: { status: 403, message: 'The token is valid, but not for this audience.' },
  ERR_RBAC_DENIED: { status: 403, message: 'RBAC: access denied' },
  ERR_RBAC_PROVIDER: { status: 500, message: 'A JWT provider is invalid; the message names the field.' },
  ERR_RBAC_KEYS: { status: 500, message: 'The keys in a JWT provider cannot be used.' },
  ERR_RBAC_KEYS_UNREACHABLE: { status: 401, message: 'The key set of a JWT provider cannot be fetched.' },
} as const;

/** Creates the error of a code. */
export const rbacError = errorsOf(ERROR_CODES);
