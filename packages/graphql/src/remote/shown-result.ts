import type { ApiResult, ResultError } from '../execute/executable-api.ts';

const DEFAULT_ERROR_EXTENSIONS: readonly string[] = ['code'];
/** Matches suggestions of names, which may not be in the declared schema. */
const SUGGESTION = /\s*Did you mean [a-z ]*["'`][^]*$/;

/** Creates a filter that removes internal details from a server's result: stack traces, suggestions of hidden names. */
export function createResultFilter({
  errorExtensions = DEFAULT_ERROR_EXTENSIONS,
  resultExtensions = [],
}: {
  readonly errorExtensions?: readonly string[];
  readonly resultExtensions?: readonly string[];
}): (result: ApiResult) => ApiResult {
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
