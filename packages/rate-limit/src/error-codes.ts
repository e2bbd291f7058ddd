import { errorsOf } from '@edge-gateway/core';

/** Errors of this package. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_RATE_LIMIT_ACTIONS: { status: 500, message: 'An action or a cost is invalid; the message names it.' },
  ERR_RATE_LIMIT_EXCEEDED: { status: 429, message: 'The request is over a rate limit.' },
  ERR_RATE_LIMIT_FAILED: {
    status: 500,
    message: 'The counters or the rate limit server failed, and denyOnFail is set.',
  },
  ERR_RATE_LIMIT_REDIS: { status: 500, message: 'The address of a Redis is invalid.' },
  ERR_RATE_LIMIT_REQUEST: {
    status: 400,
    message: 'A request to the rate limit server is invalid; the message names the field.',
  },
  ERR_RATE_LIMIT_OPTIONS: { status: 500, message: 'An option of a middleware is invalid; the message names it.' },
  ERR_RATE_LIMIT_RULES: { status: 500, message: 'A rule or a limit is invalid; the message names it.' },
  ERR_RATE_LIMIT_SERVICE: {
    status: 503,
    message: 'The rate limit server did not decide; the message names the reason.',
  },
  ERR_RATE_LIMIT_STORE: { status: 500, message: 'The counters are unavailable; the message names the reason.' },
} as const;

/** Creates the error of a code. */
export const rateLimitError = errorsOf(ERROR_CODES);
