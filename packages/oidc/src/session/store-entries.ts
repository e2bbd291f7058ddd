import type { SessionData } from 'express-session';
import { digest } from '@edge-gateway/core';
import { callStore } from './call-store.ts';
import type { ExpiringIds } from './expiring.ts';
import type { SessionStore } from './local-store.ts';

/** Small texts in a session store, each of which expires. Methods throw `ERR_OIDC_STORE_UNAVAILABLE`. */
export interface StoreEntries {
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string, lifetimeMs: number): Promise<void>;
  remove(key: string): Promise<void>;
}

/** The form in which stores keep an entry; `expires` is text after JSON. */
interface Entry {
  readonly cookie: { readonly originalMaxAge: number; readonly expires: Date | string };
  readonly text: string;
}

/** Creates {@link StoreEntries} in an express-session store, which all processes on that store share. */
export function createStoreEntries(store: SessionStore, now: () => number): StoreEntries {
  return {
    async read(key) {
      const data = await callStore<unknown>((done) => store.get(digest(key), done));
      const entry = data as Entry | null | undefined;
      // Not every store removes what has expired.
      return entry && new Date(entry.cookie.expires).getTime() > now() ? entry.text : undefined;
    },
    async write(key, text, lifetimeMs) {
      const entry: Entry = { cookie: { originalMaxAge: lifetimeMs, expires: new Date(now() + lifetimeMs) }, text };
      const data = entry as unknown as SessionData;
      await callStore<void>((done) => store.set(digest(key), data, (error?: unknown) => done(error)));
    },
    remove: (key) => callStore<void>((done) => store.destroy(digest(key), (error?: unknown) => done(error))),
  };
}

/** Creates {@link ExpiringIds} that all processes on one store share. */
export function createStoreIds(entries: StoreEntries, ttlMs: number): ExpiringIds {
  return {
    add: (id) => entries.write(`used ${id}`, '1', ttlMs),
    has: async (id) => (await entries.read(`used ${id}`)) !== undefined,
  };
}
