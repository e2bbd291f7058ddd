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

/** Returns the problem of a path. */
export const checkPath: Check<string> = (path, at) => invalid(pathProblem(path), at);
