import type { ApiResult, ResultError } from '../api.ts';

/** What clients get of the `extensions` that a server adds. */
export interface ShownExtensions {
  /** Keys of the extensions of errors. Default: `code`. */
  readonly errorExtensions?: readonly string[];
  /** Keys of the extensions of results. Default: none. */
  readonly resultExtensions?: readonly string[];
}

const DEFAULT_ERROR_EXTENSIONS: readonly string[] = ['code'];
/** How servers suggest names, which need not be in the declared schema. */
const SUGGESTION = /\s*Did you mean [a-z ]*["'`][^]*$/;

/** Makes what leaves out of a server's result all that clients are not meant to see: stack traces, suggestions of hidden names. */
export function createResultFilter({
  errorExtensions = DEFAULT_ERROR_EXTENSIONS,
  resultExtensions = [],
}: ShownExtensions): (result: ApiResult) => ApiResult {
  const shown = (error: ResultError): ResultError => {
    const { extensions, message, ...rest } = error;
    return { message: message.replace(SUGGESTION, ''), ...rest, ...picked(extensions, errorExtensions) };
  };
  return ({ extensions, errors, ...result }) => ({
    ...result,
    ...(errors && { errors: errors.map(shown) }),
    ...picked(extensions, resultExtensions),
  });
}

function picked(extensions: ApiResult['extensions'], keys: readonly string[]): Pick<ApiResult, 'extensions'> {
  if (!extensions) return {};
  const entries = keys.filter((key) => Object.hasOwn(extensions, key)).map((key) => [key, extensions[key]] as const);
  return entries.length > 0 ? { extensions: Object.fromEntries(entries) } : {};
}
