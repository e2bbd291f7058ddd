import type { IncomingMessage } from 'node:http';
import type { SessionData } from 'express-session';
import { digest, type AuthRequest } from '@edge-gateway/core';
import { sourceOf } from '../http/auth-request.ts';
import { failure } from '../error-codes.ts';
import { callStore } from './call-store.ts';
import type { SessionStore } from './local-store.ts';
import { isSameUser, type StoredSession, type Session, type SessionStorage } from './session.ts';
import { createStoreEntries } from './store-entries.ts';
import { createStoreLock } from './store-lock.ts';

/** `req.session` of express-session. */
interface RequestSession {
  [key: string]: unknown;
  regenerate(done: (error?: unknown) => void): void;
  save(done: (error?: unknown) => void): void;
}

/** What express-session adds to a request. */
type SessionRequest = IncomingMessage & {
  readonly session?: RequestSession;
  readonly sessionID?: string;
  readonly sessionStore?: SessionStore;
};

/** A login in a session of the application. */
interface RequestStored extends StoredSession {
  readonly source: SessionRequest;
  /** True while this process holds the lock of the session. */
  readonly isLocked?: boolean;
}

/** Property of `req.session` with the login. */
const PROPERTY = 'edgeGatewayLogin';

/**
 * Creates a storage in the `req.session` of the application. A login gets a new session id, which prevents session
 * fixation. Other content of the session is kept only if it belongs to the same user, or to none yet.
 */
export function createRequestStorage(id: string, now: () => number): SessionStorage {
  const property = `${PROPERTY}:${id}`;
  const sessionOf = (request: AuthRequest): RequestSession => {
    const { session } = sourceOf(request) as SessionRequest;
    if (!session) throw failure('ERR_OIDC_CONFIG', "session 'request' needs express-session before this middleware");
    return session;
  };
  const storedIn = (source: SessionRequest, session: unknown): RequestStored | undefined => {
    const found = session as Session | undefined;
    return found && { session: found, id: digest(found.refreshToken ?? found.accessToken), source };
  };
  const regenerate = async (request: AuthRequest, isKept: (key: string) => boolean): Promise<void> => {
    const before = sessionOf(request);
    const others = Object.entries(before).filter(([key]) => key !== 'cookie' && key !== property && isKept(key));
    await callStore<void>((done) => before.regenerate(done));
    Object.assign(sessionOf(request), Object.fromEntries(others));
  };
  const load = async (request: AuthRequest): Promise<RequestStored | undefined> =>
    storedIn(sourceOf(request), sessionOf(request)[property]);

  /** Reads the session in the store: `req.session` has that of the begin of the request. */
  async function reload(stored: RequestStored): Promise<RequestStored | undefined> {
    const { source } = stored;
    const { sessionStore, sessionID } = source;
    if (!sessionStore || sessionID === undefined) return stored;
    const data = await callStore<SessionData | null | undefined>((done) => sessionStore.get(sessionID, done));
    return storedIn(source, (data as Record<string, unknown> | null | undefined)?.[property]);
  }

  return {
    cannotLock: true,
    load,
    async loadAll(request) {
      const stored = await load(request);
      return stored ? [stored] : [];
    },
    reload: (stored) => reload(stored as RequestStored),
    async create(request, session, { before } = {}) {
      const isSameOrFirst = before === undefined || isSameUser(before.session, session);
      await regenerate(request, () => isSameOrFirst);
      sessionOf(request)[property] = session;
      return [];
    },
    async update(request, stored, session) {
      const own = sessionOf(request);
      own[property] = session;
      // The next holder of the lock reads the store, and express-session writes only at the end of the response.
      if ((stored as RequestStored).isLocked) await callStore<void>((done) => own.save(done));
      return [];
    },
    async remove(request) {
      if (sessionOf(request)[property] !== undefined) await regenerate(request, () => false);
      return [];
    },
    async exclusively(stored, work, waitMs) {
      const own = stored as RequestStored;
      const { sessionStore, sessionID } = own.source;
      if (!sessionStore || sessionID === undefined) return work(stored);
      const lock = createStoreLock(createStoreEntries(sessionStore, now));
      const release = await lock.acquire(`request ${sessionID}`, waitMs);
      if (!release) return undefined;
      try {
        const current = await reload(own);
        return await work(current && ({ ...current, isLocked: true } as RequestStored));
      } finally {
        await release();
      }
    },
  };
}
