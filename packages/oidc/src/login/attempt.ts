import { digest, hostPrefix, keyedDigest, randomToken, seal, unseal, type AuthRequest } from '@edge-gateway/core';
import { clearCookie, cookiesOf, setCookie, type CookieAttributes } from '../http/cookies.ts';
import { loginMark } from '../session/cookie-names.ts';
import type { LoginSettings } from './settings.ts';

/** A login in progress. Its own cookie binds it to the browser, so that several tabs can log in at once. */
export interface Attempt {
  /** Name of the cookie. */
  readonly cookieName: string;
  readonly nonce: string;
  readonly verifier: string;
  /** URL after the login. */
  readonly target: string;
  /** Number of consecutive logins that left no session. */
  readonly consecutiveLogins: number;
}

const LIFETIME_SECONDS = 600;
const MAX_ATTEMPTS = 20;

/** Returns attributes and name prefix of the cookies of logins in progress. Sibling hosts cannot set `__Host-` cookies. */
function kindOf({ cookie }: LoginSettings): { readonly prefix: string; readonly attributes: CookieAttributes } {
  const sameSite = cookie.sameSite === 'None' ? 'None' : 'Lax';
  const attributes = { ...cookie, path: '/', httpOnly: true, sameSite, maxAgeSeconds: LIFETIME_SECONDS } as const;
  return { prefix: hostPrefix(attributes) || (cookie.secure ? '__Secure-' : ''), attributes };
}

/** Derives nonce and PKCE verifier from the secret in the browser's cookie and the key of the state. */
function derived(key: Uint8Array, id: string, secret: string): { readonly nonce: string; readonly verifier: string } {
  const of = (use: string): string => keyedDigest(key, JSON.stringify([use, id, secret]));
  return { nonce: of('nonce'), verifier: of('verifier') };
}

/** The content of a `state`. */
interface State {
  readonly cookieName: string;
  /** Digest of the secret in that cookie. */
  readonly secret: string;
  readonly target: string;
  readonly consecutiveLogins: number;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

const purposeOf = (id: string): string => `oidc state ${id}`;

/** Begins a login. Returns the attempt, its `state`, and `Set-Cookie` values, which also delete the oldest of too many attempts. */
export function beginAttempt(
  request: AuthRequest,
  settings: LoginSettings,
  destination: { readonly target: string; readonly consecutiveLogins: number; readonly now: number },
): { readonly attempt: Attempt; readonly state: string; readonly cookies: readonly string[] } {
  const { prefix, attributes } = kindOf(settings);
  const secret = randomToken();
  const seconds = Math.floor(destination.now / 1000);
  const stem = `${prefix}login_${loginMark(settings.id)}_`;
  const cookieName = `${stem}${seconds.toString(36)}_${randomToken().slice(0, 8)}`;
  const { target, consecutiveLogins, now } = destination;
  const [key] = settings.stateKeys as [Uint8Array];
  const content: State = {
    cookieName,
    secret: digest(secret),
    target,
    consecutiveLogins,
    endsAt: now + LIFETIME_SECONDS * 1000,
  };
  const state = seal(key, purposeOf(settings.id), JSON.stringify(content));
  // Names contain the time, so this is by age.
  const open = [...cookiesOf(request).keys()].filter((name) => name.startsWith(stem)).toSorted();
  const surplus = open.slice(0, Math.min(MAX_ATTEMPTS, Math.max(0, open.length + 1 - MAX_ATTEMPTS)));
  return {
    attempt: { cookieName, target, consecutiveLogins, ...derived(key, settings.id, secret) },
    state,
    cookies: [...surplus.map((name) => clearCookie(name, attributes)), setCookie(cookieName, secret, attributes)],
  };
}

/** The content of a `state`; `bound` is missing in any browser except the one that began the login. */
export interface Resumed {
  readonly target: string;
  readonly isExpired: boolean;
  readonly bound: Attempt | undefined;
}

/** Opens a `state`. Returns `undefined` if it is forged or for another login. */
export function resumeAttempt(
  request: AuthRequest,
  settings: LoginSettings,
  given: { readonly state: string; readonly now: number },
): Resumed | undefined {
  for (const key of settings.stateKeys) {
    const text = unseal(key, purposeOf(settings.id), given.state);
    if (text === undefined) continue;
    const { cookieName, secret: expected, target, consecutiveLogins, endsAt } = JSON.parse(text) as State;
    const secret = cookiesOf(request)
      .get(cookieName)
      ?.find((value) => digest(value) === expected);
    const bound =
      secret === undefined
        ? undefined
        : { cookieName, target, consecutiveLogins, ...derived(key, settings.id, secret) };
    return { isExpired: given.now >= endsAt, target, bound };
  }
  return undefined;
}

/** Returns the `Set-Cookie` value that ends an attempt. */
export function endAttempt(settings: LoginSettings, { cookieName }: Attempt): string {
  return clearCookie(cookieName, kindOf(settings).attributes);
}
