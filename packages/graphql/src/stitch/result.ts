import type { Facts } from '@edge-gateway/core';
import { GraphQLError, type ExecutionResult } from 'graphql';
import type { ApiResult, ResultError } from '../api.ts';
import { ERROR_CODES } from '../error-codes.ts';

type Path = readonly (string | number)[];

/** An error that another API gave, as its client may read it. */
export class SubschemaError extends Error {
  override readonly name = 'SubschemaError';
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Where it happened, seen from the place whose value it took. */
  readonly below: Path;

  constructor({ message, extensions = {} }: ResultError, below: Path = []) {
    super(message);
    this.extensions = extensions;
    this.below = below;
  }

  /** The same error as it is seen one step further in: what happened beside that step happened nowhere below it. */
  at(step: string | number): SubschemaError {
    const [first, ...below] = this.below;
    return new SubschemaError(this, first === step ? below : []);
  }
}

/**
 * The data with each error in the place whose value it took; without data, an error for each of the root fields. `onElsewhere` is
 * told errors that took no value.
 */
export function withErrors(
  { data, errors = [] }: ApiResult,
  onElsewhere: (error: ResultError) => void,
): (rootField: string) => unknown {
  if (typeof data !== 'object' || data === null) {
    return (field) => {
      const error = errors.find(({ path }) => path?.[0] === field) ?? errors[0];
      const message = ERROR_CODES.ERR_GRAPHQL_UPSTREAM.message;
      return new SubschemaError(error ?? { message }, error?.path).at(field);
    };
  }
  for (const error of errors) if (!place(data as Record<string, unknown>, error)) onElsewhere(error);
  return (field) => (data as Readonly<Record<string, unknown>>)[field];
}

/** False where the error has no place, or something is there. */
function place(data: Record<string, unknown>, error: ResultError): boolean {
  const path = error.path ?? [];
  let at: Record<string | number, unknown> = data;
  for (const [index, step] of path.entries()) {
    const inside = Object.hasOwn(at, step) ? at[step] : undefined;
    if (inside === null || inside === undefined) {
      const value = new SubschemaError(error, path.slice(index + 1));
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
  { facts, keyPrefix }: { readonly facts: Facts; readonly keyPrefix: string },
): ApiResult {
  const all = [
    ...errors.map((error) => errorOf(error, { requestId: facts.requestId, keyPrefix })),
    ...elsewhere.map(withoutPlace),
  ];
  return { ...(data !== undefined && { data }), ...(all.length > 0 && { errors: all }) };
}

function withoutPlace({ message, extensions }: ResultError): ResultError {
  return { message, ...(extensions && { extensions }) };
}

function errorOf(
  { message, path, locations, originalError }: GraphQLError,
  { requestId, keyPrefix }: { readonly requestId: string; readonly keyPrefix: string },
): ResultError {
  const shown = originalError === undefined || originalError instanceof GraphQLError;
  const told = originalError instanceof SubschemaError ? originalError : undefined;
  const code = 'ERR_GRAPHQL_RESOLVER';
  return {
    message: shown || told ? message : ERROR_CODES[code].message,
    ...(locations && { locations }),
    ...(path && { path: [...path, ...known(told?.below ?? [], keyPrefix)] }),
    extensions: told?.extensions ?? { code, ...(requestId !== '' && { requestId }) },
  };
}

/** A path as far as the client can follow it: key fields under names of our own are not of its document. */
function known(path: Path, keyPrefix: string): Path {
  const own = path.findIndex((step) => typeof step === 'string' && step.startsWith(keyPrefix));
  return own < 0 ? path : path.slice(0, own);
}
