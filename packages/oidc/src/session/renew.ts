import { digest, type AuthRequest, type Logger } from '@edge-gateway/core';
import { createExpiringMap, createRecentErrors, type ExpiringMap, type RecentErrors } from './expiring.ts';
import { codeOf, failure } from '../error-codes.ts';
import { LOCK_WAIT_MS } from './session-lock.ts';
import { endsSoon, hasEnded, type StoredSession, type Session, type SessionStorage } from './session.ts';

/** A valid session with the cookies of its renewal; `undefined` if the user must log in again. */
export type Renewed = { readonly session: Session; readonly cookies: readonly string[] } | undefined;

/** A renewal in progress. */
interface Flight {
  readonly session: Promise<Session | undefined>;
  /** False if it returns the unchanged session when another process is renewing it. */
  readonly holdsLock: boolean;
}

/** State of renewals. It outlives reloads. */
export interface RenewalMemory {
  /** By refresh token, as all maps except `unsaved`. */
  readonly renewalsInProgress: Map<string, Flight>;
  /** Renewed sessions: requests with the previous tokens may still arrive. */
  readonly recent: ExpiringMap<Session>;
  /** Renewals that failed a moment ago. */
  readonly failed: RecentErrors;
  /** Sessions by id that are newer than the stored ones, because writing failed. */
  readonly unsaved: ExpiringMap<Session>;
  /**
   * Sessions in browsers whose renewal returned no id token: the expiry of the old one no longer limits the session, and
   * only the process that renewed it knows that.
   */
  readonly withoutIdToken: ExpiringMap<Session>;
  /** Sessions that were logged out. */
  readonly ended: ExpiringMap<true>;
}

/** Creates a {@link RenewalMemory} on a clock in milliseconds. */
export function createRenewalMemory(now: () => number): RenewalMemory {
  return {
    renewalsInProgress: new Map(),
    recent: createExpiringMap({ max: 1000, ttlMs: RECENT_MS, now }),
    failed: createRecentErrors({ max: 10_000, ttlMs: FAILED_MS, now }),
    unsaved: createExpiringMap({ max: 1000, ttlMs: UNSAVED_MS, now }),
    withoutIdToken: createExpiringMap({ max: 10_000, ttlMs: WITHOUT_ID_TOKEN_MS, now }),
    ended: createExpiringMap({ max: 10_000, ttlMs: RECENT_MS, now }),
  };
}

export interface RenewOptions {
  readonly storage: SessionStorage;
  readonly memory: RenewalMemory;
  readonly allowRefreshing: boolean;
  readonly bufferMs: number;
  /** Calls the provider. Throws `ERR_OIDC_GRANT_REFUSED` if the refresh token is no longer valid. */
  readonly refresh: (request: AuthRequest, stored: StoredSession) => Promise<Session>;
  readonly now: () => number;
  readonly log: Logger;
}

const RECENT_MS = 30_000;
const FAILED_MS = 2000;
const UNSAVED_MS = 600_000;
const WITHOUT_ID_TOKEN_MS = 3_600_000;
/** Number of consecutive renewals that are followed. */
const MAX_RECENT = 10;

/** Creates the function that renews sessions shortly before they expire: once for all concurrent requests. */
export function createRenewal(
  options: RenewOptions,
): (request: AuthRequest, stored: StoredSession) => Promise<Renewed> {
  const { storage, memory, now } = options;

  async function renewStored(
    request: AuthRequest,
    stored: StoredSession,
    waitMs: number,
  ): Promise<Session | undefined> {
    const done = await storage.exclusively(stored, (current) => renewCurrent(request, current), waitMs);
    if (done) return done.session;
    if (waitMs === 0) return stored.session;
    throw failure('ERR_OIDC_STORE_UNAVAILABLE', 'another process locked the session for too long');
  }

  /** Does nothing if another process renewed the session meanwhile. */
  async function renewCurrent(
    request: AuthRequest,
    current: StoredSession | undefined,
  ): Promise<{ session?: Session }> {
    if (!current) return {};
    const { session } = current;
    if (!endsSoon(session, now(), options.bufferMs) || session.refreshToken === undefined) return { session };
    try {
      const renewed = await options.refresh(request, current);
      await save(request, current, renewed);
      return { session: renewed };
    } catch (error) {
      if (codeOf(error) !== 'ERR_OIDC_GRANT_REFUSED') throw error;
      // Another process may have used the token a moment ago, although it is locked.
      const latest = await storage.reload(current);
      if (latest && latest.session.refreshToken !== session.refreshToken) return { session: latest.session };
      // With tokens in the browser, the browser may have the new session.
      if (storage.cannotLock) throw error;
      options.log.info({ requestId: request.requestId }, 'refresh token no longer valid, login required');
      await storage.remove(request, current);
      return {};
    }
  }

  /** The old tokens are used up, so the new ones are used even if they cannot be stored. */
  async function save(request: AuthRequest, stored: StoredSession, session: Session): Promise<void> {
    memory.recent.set(digest(stored.session.refreshToken!), session);
    if (storage.cannotLock && session.idToken !== undefined && session.idEndsAt === undefined)
      memory.withoutIdToken.set(digest(session.refreshToken!), session);
    await storage.update(request, stored, session).catch((err: unknown) => {
      memory.unsaved.set(stored.id, session);
      options.log.error({ requestId: request.requestId, err }, 'failed to store refreshed tokens');
    });
  }

  async function retrySave(request: AuthRequest, stored: StoredSession, session: Session): Promise<void> {
    const saved = await storage.update(request, stored, session).catch(() => undefined);
    if (saved) memory.unsaved.delete(stored.id);
  }

  async function flightOf(request: AuthRequest, stored: StoredSession, ended: boolean): Promise<Session | undefined> {
    const key = digest(stored.session.refreshToken!);
    for (let known = memory.renewalsInProgress.get(key); known; known = memory.renewalsInProgress.get(key)) {
      if (!ended) return stored.session;
      const session = await known.session;
      if (known.holdsLock || !session || !hasEnded(session, now())) return session;
    }
    const session = renewStored(request, stored, ended ? LOCK_WAIT_MS : 0)
      .catch((error: Error) => {
        memory.failed.set(key, error);
        throw error;
      })
      .finally(() => memory.renewalsInProgress.delete(key));
    memory.renewalsInProgress.set(key, { session, holdsLock: ended });
    return session;
  }

  /** Tokens with a lifetime of seconds may have been renewed several times a moment ago. */
  function newestOf(session: Session): Session {
    let newest = session;
    for (let i = 0; i < MAX_RECENT; i++) newest = memory.recent.get(digest(newest.refreshToken!)) ?? newest;
    return newest;
  }

  async function renewed(request: AuthRequest, loaded: StoredSession, ended: boolean): Promise<Session | undefined> {
    const unsaved = memory.unsaved.get(loaded.id);
    if (unsaved) await retrySave(request, loaded, unsaved);
    const recent = unsaved ?? newestOf(loaded.session);
    if (recent !== loaded.session && !hasEnded(recent, now())) return recent;
    const stored = { ...loaded, session: recent };
    const failed = memory.failed.get(digest(stored.session.refreshToken!));
    try {
      if (failed) throw failed;
      return await flightOf(request, stored, ended);
    } catch (error) {
      options.log.warn({ requestId: request.requestId, err: error }, 'failed to refresh tokens');
      if (!ended) return stored.session;
      const code = codeOf(error);
      if (code === 'ERR_OIDC_STORE_UNAVAILABLE') throw error;
      if (!OUTAGES.has(code)) return undefined;
      const text = 'the session has expired and the provider is unavailable';
      throw failure('ERR_OIDC_PROVIDER_UNAVAILABLE', text, error);
    }
  }

  /** Returns the session with expiry times that this process knows and the browser does not. */
  function timed(stored: StoredSession): StoredSession {
    const { refreshToken } = stored.session;
    if (!storage.cannotLock || refreshToken === undefined || !endsSoon(stored.session, now(), options.bufferMs))
      return stored;
    const known = memory.withoutIdToken.get(digest(refreshToken));
    return known && known.idToken === stored.session.idToken ? { ...stored, session: known } : stored;
  }

  return async (request, loaded) => {
    const stored = timed(loaded);
    const { session } = stored;
    const ended = hasEnded(session, now());
    const due = ended || endsSoon(session, now(), options.bufferMs);
    if (!due) return { session, cookies: [] };
    if (!options.allowRefreshing || session.refreshToken === undefined)
      return ended ? undefined : { session, cookies: [] };
    const current = await renewed(request, stored, ended);
    if (memory.ended.get(digest(session.refreshToken))) return undefined;
    // Tokens that were valid when the request arrived serve it, however long the provider took to fail.
    const isServed = current === session && !ended;
    if (!current || (!isServed && hasEnded(current, now()))) return undefined;
    // With tokens in the browser, every renewed request sends it the new ones.
    const isSent = current !== session && storage.cannotLock;
    try {
      return { session: current, cookies: isSent ? await storage.update(request, stored, current) : [] };
    } catch (error) {
      if (codeOf(error) === 'ERR_OIDC_SESSION_TOO_LARGE') return undefined;
      throw error;
    }
  };
}

/**
 * Ends the renewals of a session: a request that is waiting for one gets no session. Returns the newest tokens that this
 * process knows.
 */
export async function endRenewals(memory: RenewalMemory, session: Session): Promise<Session> {
  if (session.refreshToken === undefined) return session;
  const key = digest(session.refreshToken);
  memory.ended.set(key, true);
  const renewed = await memory.renewalsInProgress.get(key)?.session.catch(() => undefined);
  return renewed ?? memory.recent.get(key) ?? session;
}

/** Errors of a renewal that pass. Any other one would fail each renewal, so it leads to a new login. */
const OUTAGES: ReadonlySet<unknown> = new Set(['ERR_OIDC_PROVIDER_UNAVAILABLE', 'ERR_OIDC_PROVIDER_TIMEOUT']);
