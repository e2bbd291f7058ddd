import { GatewayError } from '@edge-gateway/core';
import type { GraphQLError, GraphQLFormattedError } from 'graphql';
import { inputMessage } from './field-failure.ts';
import { ERROR_CODES, type GraphQLErrorCode } from '../error-codes.ts';

/** A rejected request: it is answered with errors and without data. */
export interface Refusal {
  readonly code: GraphQLErrorCode;
  readonly errors: readonly GraphQLFormattedError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Creates a refusal with the message of its code, or with `detail` in place of it. */
export function refusal(code: GraphQLErrorCode, detail = '', headers?: Refusal['headers']): Refusal {
  const { message } = ERROR_CODES[code];
  const error = { message: detail === '' ? message : detail, extensions: { code } };
  return { code, errors: [error], ...(headers && { headers }) };
}

export function isRefusal(value: object): value is Refusal {
  return 'code' in value && 'errors' in value;
}

/** Creates an error of this package, e.g. for a declaration that is invalid. */
export function graphqlError(code: GraphQLErrorCode, detail = '', cause?: unknown): GatewayError {
  const { status, message } = ERROR_CODES[code];
  return new GatewayError(detail === '' ? message : `${message} ${detail}`, { code, status, cause });
}

/** A longer message is cut: it may repeat a whole input of the client. */
const MAX_MESSAGE_LENGTH = 1000;

/** Returns an error of GraphQL.js about a document or a variable, as sent to clients. */
export function inputError(error: GraphQLError, code: GraphQLErrorCode): GraphQLFormattedError {
  const { locations } = error;
  const message = inputMessage(error);
  const shown =
    message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…` : message;
  return { message: shown, ...(locations && { locations }), extensions: { code } };
}
