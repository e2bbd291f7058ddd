import { decodeJwt, type JWTPayload } from 'jose';
import type { AuthRequest } from '@edge-gateway/core';
import type { TokenResponse } from '../provider/client.ts';
import { CLOCK_SKEW_SECONDS } from '../provider/verify.ts';

/** One login: its tokens, and when they end (milliseconds since the epoch). */
export interface Session {
  readonly idToken?: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** By the provider's clock. */
  readonly idEndsAt?: number;
  /** By ours. */
  readonly accessEndsAt?: number;
}

/** A session as it is kept for a request. */
export interface StoredSession {
  readonly session: Session;
  /** Tells sessions apart in locks; not what the browser holds. */
  readonly id: string;
}

/** The state before a new session. */
export interface Predecessor {
  /** Of `newHandle`. Default: a new one. */
  readonly handle?: string | undefined;
  /** The previous session of this browser. */
  readonly before?: StoredSession | undefined;
}

/** Where sessions are kept. `Set-Cookie` values are given back; nothing here answers a request. */
export interface SessionStorage {
  /** True where the tokens are kept with each browser, which has to be told of renewed ones. */
  readonly inBrowser: boolean;
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  load(request: AuthRequest): Promise<StoredSession | undefined>;
  /**
   * Stores a new login under a new handle, and ends the previous session of the browser. Throws `ERR_OIDC_SESSION_TOO_LARGE`,
   * `ERR_OIDC_STORE_UNAVAILABLE`.
   */
  create(request: AuthRequest, session: Session, from?: Predecessor): Promise<readonly string[]>;
  /** A handle for a session to come, and the id it will have; missing where there are none. */
  newHandle?(): { readonly handle: string; readonly id: string };
  /** Writes refreshed tokens. */
  update(request: AuthRequest, stored: StoredSession, session: Session): Promise<readonly string[]>;
  /** Takes a session out; the values given back delete its cookies. */
  remove(request: AuthRequest, stored: StoredSession | undefined): Promise<readonly string[]>;
  /**
   * After `remove`, and not for those who work on the session: waits for who does, takes out what they wrote by then, and
   * gives it. Missing where the server keeps no sessions.
   */
  removeAgain?(stored: StoredSession): Promise<Session | undefined>;
  /**
   * Lets one process at a time work on a session; `current` is the session as it is by then. Gives `undefined` without
   * working when another is at it and the wait would be longer than `waitMs`.
   */
  exclusively<T>(
    stored: StoredSession,
    work: (current: StoredSession | undefined) => Promise<T>,
    waitMs: number,
  ): Promise<T | undefined>;
  /** Takes out all sessions of a subject or of a session at the provider; missing where the server keeps none. */
  removeAll?(keys: readonly string[]): Promise<number>;
  /**
   * Runs work unless an earlier run with this id succeeded, at any process on the store: then it returns `false`. Concurrent
   * runs wait. Missing where the server keeps no sessions. Throws `ERR_OIDC_STORE_UNAVAILABLE`.
   */
  runOnce?(id: string, work: () => Promise<unknown>): Promise<boolean>;
  /** Lets go of the connection, if it is the last that used it. */
  close?(): void;
}

/** Makes a session of what the token endpoint answered; what it left out is taken from the session before. */
export function toSession(answer: TokenResponse, now: number, before?: Session): Session {
  const accessEndsAt = answer.expires_in === undefined ? endOf(answer.access_token) : now + answer.expires_in * 1000;
  return {
    idToken: answer.id_token ?? before?.idToken,
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? before?.refreshToken,
    // An id token that was not renewed no longer says how long the login holds (OpenID Connect Core 12.2).
    idEndsAt: answer.id_token === undefined ? undefined : endOf(answer.id_token),
    accessEndsAt,
  };
}

/** Claims of a token that was verified before, or that only this server can have written. */
export function claimsOf(token: string | undefined): JWTPayload | undefined {
  if (token === undefined) return undefined;
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/** Returns true if two sessions are known to belong to one user. */
export function isSameUser(one: Session, other: Session): boolean {
  const [a, b] = [claimsOf(one.idToken), claimsOf(other.idToken)];
  return a?.sub !== undefined && a.sub === b?.sub && a.iss === b.iss;
}

/** When a JWT ends, in milliseconds; `undefined` for any other token. */
export function endOf(token: string | undefined): number | undefined {
  const exp = claimsOf(token)?.exp;
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
}

/** True when a session has ended. The provider's clock may differ from ours. */
export function hasEnded(session: Session, now: number): boolean {
  const { idEndsAt = Infinity, accessEndsAt = Infinity } = session;
  return now >= idEndsAt + CLOCK_SKEW_SECONDS * 1000 || now >= accessEndsAt;
}

/** True when a session ends within `bufferMs`. */
export function endsSoon(session: Session, now: number, bufferMs: number): boolean {
  return now >= Math.min(session.idEndsAt ?? Infinity, session.accessEndsAt ?? Infinity) - bufferMs;
}

/** Under which keys the sessions of a login are found when the provider ends it. */
export function indexKeys(claims: JWTPayload | undefined): readonly string[] {
  if (!claims?.iss) return [];
  const keys: string[] = [];
  if (typeof claims.sid === 'string') keys.push(JSON.stringify(['sid', claims.iss, claims.sid]));
  if (typeof claims.sub === 'string') keys.push(JSON.stringify(['sub', claims.iss, claims.sub]));
  return keys;
}
