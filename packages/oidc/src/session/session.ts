import { decodeJwt, type JWTPayload } from 'jose';
import type { AuthRequest } from '@edge-gateway/core';
import type { TokenResponse } from '../provider/client.ts';
import { CLOCK_SKEW_SECONDS } from '../provider/verify.ts';

/** One login: its tokens, and when they expire (milliseconds since the epoch). */
export interface Session {
  readonly idToken?: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** By the provider's clock. */
  readonly idEndsAt?: number;
  /** By ours. */
  readonly accessEndsAt?: number;
}

/** A session in a storage. */
export interface StoredSession {
  readonly session: Session;
  /** Identifies the session in locks; the browser does not hold it. */
  readonly id: string;
}

/** What precedes a new session. */
export interface Predecessor {
  /** From `newHandle`. Default: a new one. */
  readonly handle?: string | undefined;
  /** The previous session of this browser. */
  readonly before?: StoredSession | undefined;
}

/** Stores sessions. Methods return `Set-Cookie` values; none of them responds to a request. */
export interface SessionStorage {
  /** True if the browser holds the tokens, so that renewed ones must be sent to it. */
  readonly cannotLock: boolean;
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  load(request: AuthRequest): Promise<StoredSession | undefined>;
  /** Returns all sessions of a browser: those under each value of its cookies. Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  loadAll(request: AuthRequest): Promise<readonly StoredSession[]>;
  /** Reads a session again, or returns it unchanged if only the browser keeps it; `undefined` if it has ended. Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  reload(stored: StoredSession): Promise<StoredSession | undefined>;
  /**
   * Stores a new login under a new handle, and ends the previous session of the browser. Throws `ERR_OIDC_SESSION_TOO_LARGE`,
   * `ERR_OIDC_STORE_UNAVAILABLE`.
   */
  create(request: AuthRequest, session: Session, from?: Predecessor): Promise<readonly string[]>;
  /** Returns the handle of a future session, and its id. Missing without handles. */
  newHandle?(): { readonly handle: string; readonly id: string };
  /** Writes refreshed tokens. */
  update(request: AuthRequest, stored: StoredSession, session: Session): Promise<readonly string[]>;
  /** Removes a session; the returned values delete its cookies. */
  remove(request: AuthRequest, stored: StoredSession | undefined): Promise<readonly string[]>;
  /**
   * Runs after `remove`, outside `exclusively`: waits for the work on the session, removes what that wrote meanwhile, and
   * returns it. Missing if the server keeps no sessions.
   */
  removeAgain?(stored: StoredSession): Promise<Session | undefined>;
  /**
   * Lets one process at a time work on a session; `current` is its latest state. Returns `undefined` without running `work`
   * if another process works on it for longer than `waitMs`.
   */
  exclusively<T>(
    stored: StoredSession,
    work: (current: StoredSession | undefined) => Promise<T>,
    waitMs: number,
  ): Promise<T | undefined>;
  /** Removes all sessions of a subject or of a session at the provider. Missing if the server keeps no sessions. */
  removeAll?(keys: readonly string[]): Promise<void>;
  /**
   * Runs work unless an earlier run with this id succeeded, at any process on the store: then it returns `false`. Concurrent
   * runs wait. Missing if the server keeps no sessions. Throws `ERR_OIDC_STORE_UNAVAILABLE`.
   */
  runOnce?(id: string, work: () => Promise<unknown>): Promise<boolean>;
  /** Releases the connection. */
  close?(): void;
}

/** Creates a session from a response of the token endpoint; tokens that it omits are taken from the previous session. */
export function toSession(tokens: TokenResponse, now: number, before?: Session): Session {
  const accessEndsAt = tokens.expires_in === undefined ? endOf(tokens.access_token) : now + tokens.expires_in * 1000;
  return {
    idToken: tokens.id_token ?? before?.idToken,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? before?.refreshToken,
    // An id token that was not renewed no longer limits the session (OpenID Connect Core 12.2).
    idEndsAt: tokens.id_token === undefined ? undefined : endOf(tokens.id_token),
    accessEndsAt,
  };
}

/** Returns the claims of a token that was verified before, or that only this server can have written. */
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

/** Returns the expiry of a JWT in milliseconds; `undefined` for any other token. */
export function endOf(token: string | undefined): number | undefined {
  const exp = claimsOf(token)?.exp;
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
}

/** Returns true if a session has expired. The provider's clock may differ from ours. */
export function hasEnded(session: Session, now: number): boolean {
  const { idEndsAt = Infinity, accessEndsAt = Infinity } = session;
  return now >= idEndsAt + CLOCK_SKEW_SECONDS * 1000 || now >= accessEndsAt;
}

/** Returns the first session that has not expired; if all have, the first one. */
export async function preferred<T extends StoredSession>(found: AsyncIterable<T>, now: number): Promise<T | undefined> {
  let first: T | undefined;
  for await (const stored of found) {
    if (!hasEnded(stored.session, now)) return stored;
    first ??= stored;
  }
  return first;
}

/** Returns all sessions. */
export async function allOf<T extends StoredSession>(found: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const stored of found) all.push(stored);
  return all;
}

/** Returns true if a session expires within `bufferMs`. */
export function endsSoon(session: Session, now: number, bufferMs: number): boolean {
  return now >= Math.min(session.idEndsAt ?? Infinity, session.accessEndsAt ?? Infinity) - bufferMs;
}

/** Returns the keys under which the sessions of a login are indexed for a logout by the provider. */
export function indexKeys(claims: JWTPayload | undefined): readonly string[] {
  if (!claims?.iss) return [];
  const keys: string[] = [];
  if (typeof claims.sid === 'string') keys.push(JSON.stringify(['sid', claims.iss, claims.sid]));
  if (typeof claims.sub === 'string') keys.push(JSON.stringify(['sub', claims.iss, claims.sub]));
  return keys;
}
