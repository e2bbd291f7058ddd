import { GraphQLError, type ExecutionResult } from 'graphql';
import type { ApiResult, OperationRequest, ResultError } from '../api.ts';
import { ERROR_CODES } from '../error-codes.ts';

/** An error that another API gave, as its client may read it. */
export class SubschemaError extends Error {
  override readonly name = 'SubschemaError';
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor({ message, extensions = {} }: ResultError) {
    super(message);
    this.extensions = extensions;
  }
}

/**
 * The data with each error in the place whose value it took; without data, the error itself. `onElsewhere` is told errors that
 * took no value.
 */
export function withErrors(
  { data, errors = [] }: ApiResult,
  onElsewhere: (error: ResultError) => void,
): Readonly<Record<string, unknown>> | Error {
  if (typeof data !== 'object' || data === null) {
    return new SubschemaError(errors[0] ?? { message: ERROR_CODES.ERR_GRAPHQL_UPSTREAM.message });
  }
  for (const error of errors) if (!place(data as Record<string, unknown>, error)) onElsewhere(error);
  return data as Record<string, unknown>;
}

/** False where the error has no place, or something is there. */
function place(data: Record<string, unknown>, error: ResultError): boolean {
  let at: Record<string | number, unknown> = data;
  for (const step of error.path ?? []) {
    const inside = Object.hasOwn(at, step) ? at[step] : undefined;
    if (inside === null || inside === undefined) {
      const value = new SubschemaError(error);
      Object.defineProperty(at, step, { value, enumerable: true, writable: true, configurable: true });
      return true;
    }
    if (inside instanceof SubschemaError) return true;
    if (typeof inside !== 'object') return false;
    at = inside as Record<string | number, unknown>;
  }
  return false;
}

/** The result of a joined operation; what went wrong inside is told by its code only. `elsewhere` are errors without a place in it. */
export function resultOf(
  { data, errors = [] }: ExecutionResult,
  elsewhere: readonly ResultError[],
  { facts }: OperationRequest,
): ApiResult {
  const all = [...errors.map((error) => errorOf(error, facts.requestId)), ...elsewhere.map(withoutPlace)];
  return { ...(data !== undefined && { data }), ...(all.length > 0 && { errors: all }) };
}

function withoutPlace({ message, extensions }: ResultError): ResultError {
  return { message, ...(extensions && { extensions }) };
}

function errorOf({ message, path, locations, originalError }: GraphQLError, requestId: string): ResultError {
  const shown = originalError === undefined || originalError instanceof GraphQLError;
  const told = originalError instanceof SubschemaError ? originalError : undefined;
  const code = 'ERR_GRAPHQL_RESOLVER';
  return {
    message: shown || told ? message : ERROR_CODES[code].message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: told?.extensions ?? { code, ...(requestId !== '' && { requestId }) },
  };
}
