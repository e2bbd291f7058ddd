import { hostPrefix, type AuthRequest } from '@edge-gateway/core';
import { clearCookie, cookiesOf, setCookie } from '../http/cookies.ts';
import { loginMark } from '../session/cookie-names.ts';
import type { LoginSettings } from './settings.ts';

/** After this many consecutive logins without a session, an error page replaces the next one. */
export const MAX_CONSECUTIVE_LOGINS = 2;
const REMEMBERED_SECONDS = 60;

function nameOf({ id, cookie }: LoginSettings): string {
  return `${hostPrefix(cookie)}login_rounds_${loginMark(id)}`;
}

/** Returns how many logins this browser completed within the last minute. */
export function consecutiveLoginsOf(request: AuthRequest, settings: LoginSettings): number {
  const values = cookiesOf(request).get(nameOf(settings)) ?? [];
  return Math.max(0, ...values.filter((value) => /^[1-9]$/.test(value)).map(Number));
}

/** Returns the cookie that counts completed logins, for a minute. */
export function rememberLogins(settings: LoginSettings, rounds: number): string {
  const attributes = { ...settings.cookie, httpOnly: true, maxAgeSeconds: REMEMBERED_SECONDS };
  return setCookie(nameOf(settings), String(Math.min(rounds, 9)), attributes);
}

/** Returns the `Set-Cookie` value that resets the count. */
export function forgetLogins(settings: LoginSettings): string {
  return clearCookie(nameOf(settings), { ...settings.cookie, httpOnly: true });
}
