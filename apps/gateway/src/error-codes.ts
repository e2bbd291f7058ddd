import { errorsOf } from '@edge-gateway/core';

/** Errors of the program. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_GATEWAY_ADMIN_TOKEN: { status: 500, message: 'The admin ports need a token that is missing or unusable.' },
  ERR_GATEWAY_CONFIG: { status: 500, message: 'The resource directory cannot be read.' },
  ERR_GATEWAY_ERROR_PAGES: { status: 500, message: 'The error page directory is invalid.' },
  ERR_GATEWAY_TLS: { status: 500, message: 'The certificate of a server is unusable.' },
  ERR_GATEWAY_WORKER: { status: 500, message: 'The workers cannot be started.' },
  ERR_GATEWAY_PORT: { status: 500, message: 'A port is in use or not allowed.' },
} as const;

/** Creates the error of a code. */
export const gatewayError = errorsOf(ERROR_CODES);
