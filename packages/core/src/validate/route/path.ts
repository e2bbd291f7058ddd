import type { FieldPath, FieldProblem } from '../../resource/problem.ts';

const FORBIDDEN = ['//', '/./', '/../', '%2f', '%2F', '#'] as const;
const FORBIDDEN_ENDINGS = ['/..', '/.'] as const;
const URL_PATH = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/;

/** Returns why a path is invalid in matchers, redirects and rewrites; `undefined` if it is valid. */
export function pathProblem(path: string): string | undefined {
  const part = FORBIDDEN.find((text) => path.includes(text));
  if (part) return `the path '${path}' must not contain '${part}'`;
  const ending = FORBIDDEN_ENDINGS.find((text) => path.endsWith(text));
  if (ending) return `the path '${path}' must not end in '${ending}'`;
  if (!URL_PATH.test(path)) return `the path '${path}' has characters that are not allowed in a URL path`;
  return undefined;
}

/** Returns the finding of the path at `at`. */
export function checkPath(path: string | undefined, at: FieldPath): FieldProblem[] {
  const message = path === undefined ? undefined : pathProblem(path);
  return message ? [{ code: 'INVALID_PATH', path: at, message }] : [];
}
