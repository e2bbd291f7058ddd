import { digest, type AuthRequest, type Logger } from '@edge-gateway/core';
import type { ExpiringMap } from '../expiring-map.ts';
import { codeOf, failure } from '../failure.ts';
import { LOCK_WAIT_MS } from './session-lock.ts';
import { endsSoon, hasEnded, type StoredSession, type Session, type SessionStorage } from './session.ts';

/** A session that holds now, with the cookies of its renewal; `undefined` when the user has to log in again. */
export type Renewed = { readonly session: Session; readonly cookies: readonly string[] } | undefined;

/** A renewal under way, by the refresh token it is made with. */
interface Flight {
  readonly session: Promise<Session | undefined>;
  /** False for one that gives the session as it was where another process renews it just now. */
  readonly waits: boolean;
}

/** What is rememberChecked of renewals. It outlives reloads. */
export interface RenewalMemory {
  readonly flights: Map<string, Flight>;
  /** Sessions by the refresh token they were renewed with: requests with the tokens of before may still be on their way. */
  readonly recent: ExpiringMap<Session>;
  /** Refresh tokens with which the provider could not be asked just now. */
  readonly failed: ExpiringMap<Error>;
  /** Sessions by id that are newer than what the store has, because it could not be written. */
  readonly unsaved: ExpiringMap<Session>;
  /**
   * Sessions in browsers by their refresh token, where the provider renewed all but the id token: its end no longer says
   * how long the login holds, and only who renewed them knows.
   */
  readonly withoutIdToken: ExpiringMap<Session>;
  /** Refresh tokens of sessions that were logged out. */
  readonly ended: ExpiringMap<true>;
}

export interface RenewOptions {
  readonly storage: SessionStorage;
  readonly memory: RenewalMemory;
  readonly allowRefreshing: boolean;
  readonly bufferMs: number;
  /** Asks the provider. Throws `ERR_OIDC_GRANT_REFUSED` when the refresh token is no longer good. */
  readonly refresh: (request: AuthRequest, stored: StoredSession) => Promise<Session>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Renewals in a row that are followed. */
const MAX_RECENT = 10;

/** Makes the function that renews sessions shortly before they end: exactly once for all requests that need it. */
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
    throw failure('ERR_OIDC_STORE_UNAVAILABLE', 'another process holds the session for too long');
  }

  /** What another process renewed by now counts as done. */
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
      // Where the browser keeps the tokens, another process may have used this one a moment ago: its session is the good one.
      if (codeOf(error) !== 'ERR_OIDC_GRANT_REFUSED' || storage.inBrowser) throw error;
      options.log.info({ requestId: request.requestId }, 'the refresh token is no longer good, a new login is needed');
      await storage.remove(request, current);
      return {};
    }
  }

  /** The tokens of before are used up, so those that came are used even where they cannot be kept. */
  async function save(request: AuthRequest, stored: StoredSession, session: Session): Promise<void> {
    memory.recent.set(digest(stored.session.refreshToken!), session);
    if (storage.inBrowser && session.idToken !== undefined && session.idEndsAt === undefined)
      memory.withoutIdToken.set(digest(session.refreshToken!), session);
    await storage.update(request, stored, session).catch((err: unknown) => {
      memory.unsaved.set(stored.id, session);
      options.log.error({ requestId: request.requestId, err }, 'refreshed tokens could not be kept');
    });
  }

  async function retrySave(request: AuthRequest, stored: StoredSession, session: Session): Promise<void> {
    const saved = await storage.update(request, stored, session).catch(() => undefined);
    if (saved) memory.unsaved.delete(stored.id);
  }

  async function flightOf(request: AuthRequest, stored: StoredSession, ended: boolean): Promise<Session | undefined> {
    const key = digest(stored.session.refreshToken!);
    for (let known = memory.flights.get(key); known; known = memory.flights.get(key)) {
      if (!ended) return stored.session;
      const session = await known.session;
      if (known.waits || !session || !hasEnded(session, now())) return session;
    }
    const session = renewStored(request, stored, ended ? LOCK_WAIT_MS : 0)
      .catch((error: Error) => {
        memory.failed.set(key, error);
        throw error;
      })
      .finally(() => memory.flights.delete(key));
    memory.flights.set(key, { session, waits: ended });
    return session;
  }

  /** Tokens that live for seconds only were renewed several times just now. */
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
      options.log.warn({ requestId: request.requestId, err: error }, 'tokens could not be refreshed');
      if (!ended) return stored.session;
      if (NEW_LOGIN.has(codeOf(error))) return undefined;
      throw codeOf(error) === 'ERR_OIDC_STORE_UNAVAILABLE' ? error : unavailable(error);
    }
  }

  /** The session with the times that this process knows better than the browser. */
  function timed(stored: StoredSession): StoredSession {
    const { refreshToken } = stored.session;
    if (!storage.inBrowser || refreshToken === undefined || !endsSoon(stored.session, now(), options.bufferMs))
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
    // Tokens that were good when the request came serve it, however long the provider took to fail.
    const isServed = current === session && !ended;
    if (!current || (!isServed && hasEnded(current, now()))) return undefined;
    return { session: current, cookies: current === session ? [] : await renewedCookies(request, stored, current) };
  };

  /** Where the browser keeps the tokens, each request that was renewed tells it. */
  async function renewedCookies(
    request: AuthRequest,
    stored: StoredSession,
    session: Session,
  ): Promise<readonly string[]> {
    return storage.inBrowser ? storage.update(request, stored, session) : [];
  }
}

/**
 * Ends the renewals of a session: a request that waits for one just now has no session when it is done. Gives the newest
 * tokens that this process knows of.
 */
export async function endRenewals(memory: RenewalMemory, session: Session): Promise<Session> {
  if (session.refreshToken === undefined) return session;
  const key = digest(session.refreshToken);
  memory.ended.set(key, true);
  const renewed = await memory.flights.get(key)?.session.catch(() => undefined);
  return renewed ?? memory.recent.get(key) ?? session;
}

/** What only a new login mends. */
const NEW_LOGIN: ReadonlySet<unknown> = new Set(['ERR_OIDC_TOKEN_INVALID', 'ERR_OIDC_GRANT_REFUSED']);

function unavailable(cause: unknown): Error {
  return failure('ERR_OIDC_PROVIDER_UNAVAILABLE', 'the session has ended and the provider cannot be asked', cause);
}
