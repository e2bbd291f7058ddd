import { digest, hostPrefix, type CookieTest } from '@edge-gateway/core';
import type { UserSession } from '@edge-gateway/core/schema';
import { possibleNames, type CookieAttributes } from '../http/cookies.ts';

const DEFAULT_NAME = '__session';
const PREFIX = /^__(?:Host|Secure)-/;
/** Transformations read token cookies by name, so their names have no `__Host-` prefix. */
export const TOKEN_COOKIES = {
  idToken: 'id_token',
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
} as const;
const MAC_COOKIE = 'token_mac';

/** Returns the name of the cookie with the handle of a session in a store. A configured name is used unchanged. */
export function handleCookieName({ redis }: UserSession, attributes: CookieAttributes): string {
  return redis?.cookieName || hostPrefix(attributes) + DEFAULT_NAME;
}

/** Returns the name of the cookie with one token. */
export function tokenCookieName(keyPrefix: string | undefined, part: keyof typeof TOKEN_COOKIES): string {
  return withKeyPrefix(keyPrefix, TOKEN_COOKIES[part]);
}

/** Returns the name of the cookie that binds the cookies of one login to each other. */
export function macCookieName(keyPrefix: string | undefined, attributes: CookieAttributes): string {
  return hostPrefix(attributes) + withKeyPrefix(keyPrefix, MAC_COOKIE);
}

function withKeyPrefix(keyPrefix: string | undefined, name: string): string {
  return keyPrefix ? `${keyPrefix}_${name}` : name;
}

/** Returns the part of cookie names that identifies a login. */
export function loginMark(id: string): string {
  return digest(id).slice(0, 6);
}

const ATTEMPT = /^login_([\w-]{6})_[0-9a-z]{1,9}_[\w-]{8}$/;
const ROUNDS = /^login_rounds_([\w-]{6})$/;

/** The settings that determine the cookies of a login. */
export interface OwnCookies {
  /** `undefined` if the session cookies belong to the application. */
  readonly session: UserSession | undefined;
  /** True for sessions in a store other than Redis. */
  readonly inStore?: boolean;
  /** The login of the attempts. Default: any. */
  readonly id?: string;
}

/** Returns the test for cookies that only a login reads: those of its session, with all chunks, and of logins in progress. */
export function ownCookies({ session, inStore = false, id }: OwnCookies): CookieTest {
  const names = session && !session.forwardCookies ? sessionNames(session, inStore) : new Set<string>();
  const mark = id === undefined ? undefined : loginMark(id);
  return (name) => {
    const bare = name.replace(PREFIX, '');
    const [, marked] = ATTEMPT.exec(bare) ?? ROUNDS.exec(bare) ?? [];
    if (marked !== undefined) return mark === undefined || marked === mark;
    return names.has(name) || names.has(bare);
  };
}

function sessionNames({ cookie, redis }: UserSession, inStore: boolean): ReadonlySet<string> {
  if (redis || inStore) return new Set([redis?.cookieName || DEFAULT_NAME]);
  const tokens = [...Object.values(TOKEN_COOKIES), MAC_COOKIE];
  return new Set(tokens.flatMap((name) => possibleNames(withKeyPrefix(cookie?.keyPrefix, name))));
}
