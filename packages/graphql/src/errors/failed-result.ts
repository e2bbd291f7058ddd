import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';
import type { ApiResult } from '../execute/executable-api.ts';

/** Returns the result of an operation that failed as a whole, with the message of its code, or with `shown` in place of it. */
export function failedResult(code: GraphQLErrorCode, requestId: string, shown?: string): ApiResult {
  const extensions = { code, ...(requestId !== '' && { requestId }) };
  return { data: null, errors: [{ message: shown ?? ERROR_CODES[code].message, extensions }] };
}

/** Returns the result in place of one of too many bytes. */
export function tooLargeResult(maxBytes: number, requestId: string): ApiResult {
  return failedResult('ERR_GRAPHQL_LIMIT', requestId, tooLarge(maxBytes));
}

/** Returns the message for a result of too many bytes. */
export function tooLarge(maxBytes: number): string {
  return `The result is larger than ${maxBytes} bytes.`;
}
