import type { ApiResult, ResultError } from '../api/executable-api.ts';
import { ERROR_CODES } from '../error-codes.ts';
import type { Executed } from '../execute/engine.ts';

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

/** How clients read an error that another API gave; `undefined` for other errors. */
export function subschemaErrorOf(
  error: unknown,
  { path = [], locations }: Pick<ResultError, 'path' | 'locations'>,
  keyPrefix: string,
): ResultError | undefined {
  if (!(error instanceof SubschemaError)) return undefined;
  const { message, below, extensions } = error;
  return { message, ...(locations && { locations }), path: [...path, ...known(below, keyPrefix)], extensions };
}

/** The result of a joined operation; `elsewhere` are errors without a place in it. */
export function resultOf({ data, errors = [] }: Executed, elsewhere: readonly ResultError[]): ApiResult {
  const all = [...errors, ...elsewhere.map(withoutPlace)];
  return { ...(data !== undefined && { data }), ...(all.length > 0 && { errors: all }) };
}

function withoutPlace({ message, extensions }: ResultError): ResultError {
  return { message, ...(extensions && { extensions }) };
}

/** A path as far as the client can follow it: key fields under names of our own are not of its document. */
function known(path: Path, keyPrefix: string): Path {
  const own = path.findIndex((step) => typeof step === 'string' && step.startsWith(keyPrefix));
  return own < 0 ? path : path.slice(0, own);
}
