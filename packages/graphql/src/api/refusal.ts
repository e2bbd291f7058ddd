import { GatewayError } from '@edge-gateway/core';
import type { ApiResult, ResultError } from './executable-api.ts';
import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';

/** A request that is answered with errors and no data. `kind` says how its status depends on the media type. */
export interface Refusal {
  readonly code: GraphQLErrorCode;
  readonly errors: readonly ResultError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes a refusal with the message of its code, and what is added to it. */
export function refusal(code: GraphQLErrorCode, detail = '', headers?: Refusal['headers']): Refusal {
  const { message } = ERROR_CODES[code];
  const error = { message: detail === '' ? message : detail, extensions: { code } };
  return { code, errors: [error], ...(headers && { headers }) };
}

/** Tells a refusal from what else a step gives. */
export function isRefusal(value: object): value is Refusal {
  return 'code' in value && 'errors' in value;
}

/** A refusal as a result. */
export function refusedResult({ errors }: Refusal): ApiResult {
  return { errors };
}

/** An error of this package, for where an exception is the way: a declaration that cannot be served. */
export function graphqlError(code: GraphQLErrorCode, detail = '', cause?: unknown): GatewayError {
  const { status, message } = ERROR_CODES[code];
  return new GatewayError(detail === '' ? message : `${message} ${detail}`, { code, status, cause });
}
