import { isHeaderName } from '../http/reserved-headers.ts';
import type { Check, reporterOf } from './check.ts';

interface Cookie {
  readonly name?: string;
  readonly path?: string;
}

/** Printable characters but for the semicolon, which ends the attribute. */
const COOKIE_PATH = /^\/[\x20-\x3a\x3c-\x7e]*$/;

/** Returns the check of a cookie that the gateway sets. */
export function checkCookie(report: ReturnType<typeof reporterOf>): Check<Cookie> {
  return ({ name = '', path }, at) => [
    ...report(!isHeaderName(name) && `invalid cookie name '${name}'`, [...at, 'name']),
    ...report(path && !COOKIE_PATH.test(path) && `invalid cookie path '${path}': it must begin with a slash`, [
      ...at,
      'path',
    ]),
  ];
}
