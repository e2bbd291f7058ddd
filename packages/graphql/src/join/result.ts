import type { ApiResult, ResultError } from '../execute/executable-api.ts';
import { ERROR_CODES } from '../error-codes.ts';
import type { Executed } from '../execute/engine.ts';

type Path = readonly (string | number)[];

/** An error of a joined API, as its clients may see it. */
export class SubschemaError extends Error {
  override readonly name = 'SubschemaError';
  readonly extensions: Readonly<Record<string, unknown>>;
  /** Path of the error, relative to the value that it replaces. */
  readonly below: Path;

  constructor({ message, extensions = {} }: ResultError, below: Path = []) {
    super(message);
    this.extensions = extensions;
    this.below = below;
  }

  /** Returns the same error relative to one step further in; an error of another branch has no path below it. */
  at(step: string | number): SubschemaError {
    const [first, ...below] = this.below;
    return new SubschemaError(this, first === step ? below : []);
  }
}

/** Returns the data with each error in place of its null value, or for each root field; others go to `onElsewhere`. */
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

/** Puts an error in its place. Returns false if it has none, or if there is a value. */
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

/** Returns an error of a joined API as sent to clients; `undefined` for other errors. */
export function subschemaErrorOf(
  error: unknown,
  { path = [], locations }: Pick<ResultError, 'path' | 'locations'>,
  keyPrefix: string,
): ResultError | undefined {
  if (!(error instanceof SubschemaError)) return undefined;
  const { message, below, extensions } = error;
  return { message, ...(locations && { locations }), path: [...path, ...known(below, keyPrefix)], extensions };
}

/** Returns the result of a joined operation; `elsewhere` are errors without a place in it. */
export function resultOf({ data, errors = [] }: Executed, elsewhere: readonly ResultError[]): ApiResult {
  const all = [...errors, ...elsewhere.map(withoutPlace)];
  return { ...(data !== undefined && { data }), ...(all.length > 0 && { errors: all }) };
}

function withoutPlace({ message, extensions }: ResultError): ResultError {
  return { message, ...(extensions && { extensions }) };
}

/** Returns the part of a path that exists in the client's document: aliases of key fields do not. */
function known(path: Path, keyPrefix: string): Path {
  const own = path.findIndex((step) => typeof step === 'string' && step.startsWith(keyPrefix));
  return own < 0 ? path : path.slice(0, own);
}
