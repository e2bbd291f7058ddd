import { reporterOf, type Check } from '../check.ts';

const FORBIDDEN = ['//', '/./', '/../', '%2f', '%2F', '#'] as const;
const FORBIDDEN_ENDINGS = ['/..', '/.'] as const;
const URL_PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/;
const invalid = reporterOf('INVALID_PATH');

/** Returns why a path is invalid in matchers, redirects and rewrites; `undefined` if it is valid. */
export function pathProblem(path: string): string | undefined {
  const part = FORBIDDEN.find((text) => path.includes(text));
  if (part) return `the path '${path}' must not contain '${part}'`;
  const ending = FORBIDDEN_ENDINGS.find((text) => path.endsWith(text));
  if (ending) return `the path '${path}' must not end in '${ending}'`;
  if (!URL_PATH.test(path)) return `the path '${path}' has characters that are not allowed in a URL path`;
  return undefined;
}

const URL_QUERY = /^[\x21\x22\x24-\x7e\u0080-\uffff]*$/;

/** Returns the problem of a path that a rewrite or redirect writes: it may have a query. */
export const checkWrittenPath: Check<string> = (written, at) => {
  const cut = written.indexOf('?');
  const query = cut < 0 ? '' : written.slice(cut + 1);
  const problem = pathProblem(cut < 0 ? written : written.slice(0, cut));
  const isQuery = URL_QUERY.test(query);
  return invalid(problem ?? (!isQuery && `the query of '${written}' has characters that are not allowed in a URL`), at);
};

/** Returns the problem of a path. */
export const checkPath: Check<string> = (path, at) => invalid(pathProblem(path), at);
