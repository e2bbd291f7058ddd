import type { OidcAuthorizationCode } from '../schema/auth/oauth2.ts';
import { compileRegex } from '../syntax/regex.ts';

/** The fields of a login with the paths that it responds to itself. */
export type LoginPathField = 'logoutPath' | 'frontChannelLogout' | 'callbackPath';

/**
 * Returns a function from a path to the field of the login whose path it is, `undefined` for all others. Each path is
 * also found below that of `appUrl`. Throws `RegexError` for an invalid `callbackPath` expression.
 */
export function createLoginPaths(block: Partial<OidcAuthorizationCode>): (path: string) => LoginPathField | undefined {
  const { appUrl = '', callbackPath = '', parseCallbackPathAsRegex, logoutPath, frontChannelLogout } = block;
  const regex = parseCallbackPathAsRegex ? compileRegex(callbackPath) : undefined;
  const prefix = (URL.parse(appUrl)?.pathname ?? '').replace(/\/+$/, '');
  const fieldOf = (path: string): LoginPathField | undefined => {
    if (logoutPath && path === logoutPath) return 'logoutPath';
    if (frontChannelLogout?.path && path === frontChannelLogout.path) return 'frontChannelLogout';
    return (regex ? regex.fullMatch(path) : callbackPath && path === callbackPath) ? 'callbackPath' : undefined;
  };
  return (path) => fieldOf(path) ?? (path.startsWith(`${prefix}/`) ? fieldOf(path.slice(prefix.length)) : undefined);
}
