import { EncryptJWT, jwtDecrypt } from 'jose';
import { digest, hostPrefix, keyedDigest, randomToken, type AuthRequest } from '@edge-gateway/core';
import { clearCookie, cookiesOf, setCookie, type CookieAttributes } from '../cookies.ts';
import { loginMark } from '../session/cookie-names.ts';
import type { LoginSettings } from '../settings.ts';

/** A login under way. It is bound to the browser by a cookie of its own, so that many tabs can log in at once. */
export interface Attempt {
  /** Name of its cookie. */
  readonly cookieName: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Where the user goes afterwards. */
  readonly target: string;
  /** How many logins in a row led to no session. */
  readonly round: number;
}

const LIFETIME_SECONDS = 600;
const MAX_ATTEMPTS = 20;

/** Attributes and name prefix of the cookies of logins under way. `__Host-` ones cannot come from a sibling host. */
function kindOf({ cookie }: LoginSettings): { readonly prefix: string; readonly attributes: CookieAttributes } {
  const sameSite = cookie.sameSite === 'None' ? 'None' : 'Lax';
  const attributes = { ...cookie, path: '/', httpOnly: true, sameSite, maxAgeSeconds: LIFETIME_SECONDS } as const;
  return { prefix: hostPrefix(attributes) || (cookie.secure ? '__Secure-' : ''), attributes };
}

function derived(settings: LoginSettings, secret: string): { readonly nonce: string; readonly verifier: string } {
  const { stateKey, id } = settings;
  const of = (use: string): string => keyedDigest(stateKey, JSON.stringify([use, id, secret]));
  return { nonce: of('nonce'), verifier: of('verifier') };
}

/** Begins a login: the attempt, its `state`, and the cookies to set (and those of the oldest attempts to forget). */
export async function beginAttempt(
  request: AuthRequest,
  settings: LoginSettings,
  aim: { readonly target: string; readonly round: number; readonly now: number },
): Promise<{ readonly attempt: Attempt; readonly state: string; readonly cookies: readonly string[] }> {
  const { prefix, attributes } = kindOf(settings);
  const secret = randomToken();
  const seconds = Math.floor(aim.now / 1000);
  const stem = `${prefix}login_${loginMark(settings.id)}_`;
  const cookieName = `${stem}${seconds.toString(36)}_${randomToken().slice(0, 8)}`;
  const state = await new EncryptJWT({ c: cookieName, b: digest(secret), t: aim.target, r: aim.round })
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setIssuer(settings.id)
    .setExpirationTime(seconds + LIFETIME_SECONDS)
    .encrypt(settings.stateKey);
  // By their age.
  const open = [...cookiesOf(request).keys()].filter((name) => name.startsWith(stem)).toSorted();
  const surplus = open.slice(0, Math.max(0, open.length + 1 - MAX_ATTEMPTS));
  return {
    attempt: { cookieName, target: aim.target, round: aim.round, ...derived(settings, secret) },
    state,
    cookies: [...surplus.map((name) => clearCookie(name, attributes)), setCookie(cookieName, secret, attributes)],
  };
}

/** What a `state` says; `bound` is missing in any browser but the one that began the login. */
export interface Resumed {
  readonly target: string;
  readonly bound: Attempt | undefined;
}

/** Reads a `state`; `undefined` when it is not one of ours, for another login, or too old. */
export async function resumeAttempt(
  request: AuthRequest,
  settings: LoginSettings,
  given: { readonly state: string; readonly now: number },
): Promise<Resumed | undefined> {
  const options = {
    issuer: settings.id,
    currentDate: new Date(given.now),
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  };
  const opened = await jwtDecrypt(given.state, settings.stateKey, options).catch(() => undefined);
  if (!opened) return undefined;
  const { c, b, t, r } = opened.payload as { c: string; b: string; t: string; r: number };
  const secret = cookiesOf(request).get(c);
  const bound = secret !== undefined && digest(secret) === b;
  return { target: t, bound: bound ? { cookieName: c, target: t, round: r, ...derived(settings, secret) } : undefined };
}

/** The cookie that ends an attempt. */
export function endAttempt(settings: LoginSettings, { cookieName }: Attempt): string {
  return clearCookie(cookieName, kindOf(settings).attributes);
}
