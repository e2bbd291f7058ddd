import { hash } from 'node:crypto';
import type { SessionData } from 'express-session';
import type { SessionStore } from './local-store.ts';
import { digest, randomToken, seal, unseal, type AuthRequest } from '@edge-gateway/core';
import { clearCookie, cookiesOf, setCookie, type CookieAttributes } from '../http/cookies.ts';
import { failure } from '../error-codes.ts';
import { CLOCK_SKEW_SECONDS } from '../provider/verify.ts';
import { callStore } from './call-store.ts';
import type { ExpiringIds } from './expiring.ts';
import type { LogoutMarks, Marks } from './logout-marks.ts';
import type { SessionIndex } from './session-index.ts';
import {
  claimsOf,
  indexKeys,
  allOf,
  preferred,
  type StoredSession,
  type Session,
  type SessionStorage,
} from './session.ts';
import { LOCK_WAIT_MS, type SessionLock } from './session-lock.ts';

export interface StoreStorageOptions {
  readonly store: SessionStore;
  readonly lock: SessionLock;
  /** Finds the sessions that a logout by the provider ends. */
  readonly index?: SessionIndex;
  /** Ends them in a store that cannot find them. */
  readonly marks?: LogoutMarks | undefined;
  /** Of used logout tokens. */
  readonly usedIds: ExpiringIds;
  readonly cookieName: string;
  readonly attributes: CookieAttributes;
  /** Sessions of one client are invalid for another. */
  readonly client: string;
  readonly now: () => number;
  readonly close?: () => void;
}

interface HandleSession extends StoredSession {
  readonly handle: string;
  readonly marks: Marks;
}

/** The encrypted content of a session in the store. */
interface Content extends Session {
  readonly marks?: Marks;
  /** When it ends in the store: not every store removes what has expired. */
  readonly endsAt?: number;
}

const HANDLE = /^[\w-]{43}$/;
/**
 * Maximum handles of a request that are looked up. A sibling host can set one for each of its parent domains and each part of
 * the path, so that a path needs dozens of segments to reach it.
 */
const MAX_LOOKUPS = 64;
/** Lifetime of a session whose cookie ends with the browser session. */
const BROWSER_SESSION_MS = 86_400_000;

/**
 * Creates a storage in a store. The browser gets a random handle; the store gets its digest as key, and the session
 * encrypted with a key derived from the handle. So a reader of the store cannot use a session, and a response of the store
 * for another handle is rejected.
 */
export function createStoreStorage(options: StoreStorageOptions): SessionStorage {
  const { attributes, cookieName } = options;

  async function fetchSession(handle: string): Promise<HandleSession | undefined> {
    const id = digest(handle);
    const data = await callStore<SessionData | null | undefined>((done) => options.store.get(id, done));
    const sealed = (data as { sealed?: unknown } | null | undefined)?.sealed;
    const text = typeof sealed === 'string' ? unseal(sessionKey(handle), options.client, sealed) : undefined;
    if (text === undefined) return undefined;
    const { marks = {}, endsAt = Infinity, ...session } = JSON.parse(text) as Content;
    if (endsAt <= options.now()) return undefined;
    if (await options.marks?.hasEnded([...keysOf(session), ...Object.keys(marks)], marks)) {
      await destroy(id);
      return undefined;
    }
    return { session, id, handle, marks };
  }

  const lifetimeMs = sessionMs(attributes);
  const keysOf = (session: Session): readonly string[] => indexKeys(claimsOf(session.idToken)).map(ofClient);

  /** Writes the session before its index entry, so that a logout that finds the entry removes the session. */
  async function write(handle: string, session: Session, known: Marks = {}): Promise<void> {
    const keys = keysOf(session);
    const marks = { ...(await options.marks?.read(keys)), ...known };
    const endsAt = keptUntil(session, options.now() + lifetimeMs);
    const cookie = { originalMaxAge: lifetimeMs, expires: new Date(endsAt) };
    const sealed = seal(
      sessionKey(handle),
      options.client,
      JSON.stringify({ ...session, marks, endsAt } satisfies Content),
    );
    const data = { cookie, sealed } as unknown as SessionData;
    await callStore<void>((done) => options.store.set(digest(handle), data, (error?: unknown) => done(error)));
    const surplus = await options.index?.add(keys, { id: digest(handle), endsAt });
    await Promise.all((surplus ?? []).map(destroy));
  }

  const ofClient = (key: string): string => `${options.client} ${key}`;
  const destroy = (id: string): Promise<void> =>
    callStore<void>((done) => options.store.destroy(id, (error?: unknown) => done(error)));

  /** If the index cannot remove the entry, it expires with the session. */
  async function end({ id, session }: StoredSession): Promise<void> {
    await destroy(id);
    await options.index?.forget(keysOf(session), [id]).catch(() => undefined);
  }

  /** Runs work with the lock of an id; `isHeld` is false if another holder kept it for `waitMs`. */
  async function locked<T>(id: string, waitMs: number, work: (isHeld: boolean) => Promise<T>): Promise<T> {
    const release = await options.lock.acquire(id, waitMs);
    try {
      return await work(release !== undefined);
    } finally {
      await release?.();
    }
  }

  async function* sessionsOf(request: AuthRequest): AsyncIterable<HandleSession> {
    const handles = (cookiesOf(request).get(cookieName) ?? []).filter((value) => HANDLE.test(value));
    for (const handle of handles.slice(0, MAX_LOOKUPS)) {
      const found = await fetchSession(handle);
      if (found) yield found;
    }
  }

  return {
    cannotLock: false,
    load: (request) => preferred(sessionsOf(request), options.now()),
    loadAll: (request) => allOf(sessionsOf(request)),
    reload: (stored) => fetchSession((stored as HandleSession).handle),
    newHandle() {
      const handle = randomToken();
      return { handle, id: digest(handle) };
    },
    async create(_request, session, { handle = randomToken(), before } = {}) {
      if (before) await end(before);
      await write(handle, session).catch(async (error: unknown) => {
        await destroy(digest(handle)).catch(() => undefined);
        throw error;
      });
      return [setCookie(cookieName, handle, attributes)];
    },
    async update(_request, stored, session) {
      const { handle, marks } = stored as HandleSession;
      await write(handle, session, marks);
      return [];
    },
    async remove(request, stored) {
      if (stored) await end(stored);
      const isPresent = cookiesOf(request).has(cookieName);
      return isPresent || stored ? [clearCookie(cookieName, attributes)] : [];
    },
    removeAgain: (stored) =>
      // A concurrent renewal may write a removed session again.
      locked(stored.id, LOCK_WAIT_MS, async () => {
        const written = await fetchSession((stored as HandleSession).handle);
        if (written) await destroy(stored.id);
        return written?.session;
      }),
    exclusively: (stored, work, waitMs) =>
      locked(stored.id, waitMs, async (isHeld) =>
        isHeld ? work(await fetchSession((stored as HandleSession).handle)) : undefined,
      ),
    async removeAll(keys) {
      const indexed = keys.map(ofClient);
      await options.marks?.replace(indexed);
      const ids = (await options.index?.find(indexed)) ?? [];
      await Promise.all(ids.map((id) => destroy(id).then(() => locked(id, LOCK_WAIT_MS, () => destroy(id)))));
      await options.index?.forget(indexed, ids);
    },
    runOnce(id, work) {
      const key = digest(ofClient(id));
      return locked(key, LOCK_WAIT_MS, async (isHeld) => {
        if (!isHeld) throw failure('ERR_OIDC_STORE_UNAVAILABLE', 'the same logout is still in progress');
        if (await options.usedIds.has(key)) return false;
        await work();
        await options.usedIds.add(key);
        return true;
      });
    },
    close: options.close,
  };
}

/** Returns the maximum lifetime of a session, in milliseconds. */
export function sessionMs({ maxAgeSeconds }: CookieAttributes): number {
  return maxAgeSeconds === undefined ? BROWSER_SESSION_MS : maxAgeSeconds * 1000;
}

/** Returns when a session ends in the store: without a refresh token, no later than its tokens. */
function keptUntil(session: Session, latest: number): number {
  const { idEndsAt = Infinity, accessEndsAt = Infinity } = session;
  const end = Math.min(idEndsAt, accessEndsAt) + CLOCK_SKEW_SECONDS * 1000;
  return session.refreshToken === undefined ? Math.min(latest, end) : latest;
}

/** Derives the key of a session from its random handle; a single SHA-256, as it runs for every request (NIST SP 800-56C, 4.1). */
function sessionKey(handle: string): Uint8Array {
  return hash('sha256', `edge-gateway oidc session\0${handle}`, 'buffer');
}
