import { errorsOf } from '@edge-gateway/core';

/** Every error that the admin ports respond with or throw: code → status and message. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_ADMIN_BAD_BODY: { status: 400, message: 'The body is not valid JSON.' },
  ERR_ADMIN_BAD_LEVEL: { status: 400, message: 'The log level is not known.' },
  ERR_ADMIN_BAD_PARAMETER: { status: 400, message: 'A query parameter has a value that is not allowed.' },
  ERR_ADMIN_BAD_REQUEST: { status: 400, message: 'The request cannot be read.' },
  ERR_ADMIN_BODY_TOO_LARGE: { status: 413, message: 'The body exceeds the limit of the admin port.' },
  ERR_ADMIN_BUSY: { status: 409, message: 'Another profile is in progress.' },
  ERR_ADMIN_ENCODING_REFUSED: { status: 415, message: 'Compressed bodies are not supported.' },
  ERR_ADMIN_HOST_REFUSED: { status: 403, message: 'The Host header names neither this machine nor an allowed host.' },
  ERR_ADMIN_INTERNAL: { status: 500, message: 'The response could not be created.' },
  ERR_ADMIN_LISTEN: { status: 500, message: 'The admin port cannot be opened.' },
  ERR_ADMIN_METHOD_NOT_ALLOWED: { status: 405, message: 'The method is not allowed here.' },
  ERR_ADMIN_NOT_FOUND: { status: 404, message: 'No page exists at this path.' },
  ERR_ADMIN_ORIGIN_REFUSED: { status: 403, message: 'Requests from web pages of another origin are rejected.' },
  ERR_ADMIN_TOKEN_FILE: { status: 500, message: 'The file with the token of the admin ports is unusable.' },
  ERR_ADMIN_TOO_MANY: { status: 503, message: 'Too many pages are open.' },
  ERR_ADMIN_UNAUTHORIZED: { status: 401, message: 'The token of the admin port is missing or wrong.' },
} as const satisfies Record<string, { status: number; message: string }>;

/** A code of {@link ERROR_CODES}. */
export type AdminErrorCode = keyof typeof ERROR_CODES;

/** Creates the error of a code. */
export const adminError = errorsOf(ERROR_CODES);
