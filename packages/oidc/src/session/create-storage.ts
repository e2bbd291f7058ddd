import { deriveKey, parseDuration } from '@edge-gateway/core';
import { cipherKeysOf } from '../login/keys.ts';
import type { LoginParts, LoginSettings } from '../login/settings.ts';
import { CLOCK_SKEW_SECONDS, LOGOUT_TOKEN_SECONDS } from '../provider/verify.ts';
import { handleCookieName } from './cookie-names.ts';
import { createLocalIds, createRedisIds, type ExpiringIds } from './expiring.ts';
import { createCookieStorage } from './cookie-storage.ts';
import { shareRedis } from './redis.ts';
import { createLocalStore, type SessionStore } from './local-store.ts';
import { createRedisIndex, createRedisLock, createRedisStore } from './redis-session.ts';
import { createLocalIndex, type SessionIndex } from './session-index.ts';
import { createLocalLock, type SessionLock } from './session-lock.ts';
import type { Session, SessionStorage } from './session.ts';
import { createStoreEntries, createStoreIds } from './store-entries.ts';
import { createStoreLock } from './store-lock.ts';
import { createLogoutMarks, type LogoutMarks } from './logout-marks.ts';
import { createStoreStorage, sessionMs } from './store-storage.ts';

const DEFAULT_BUFFER = '2s';
const DEFAULT_DENIED = '1h';
/** Longer than a logout token is valid, with a clock difference at its start and at its end. */
export const USED_MS = (LOGOUT_TOKEN_SECONDS + 3 * CLOCK_SKEW_SECONDS) * 1000;

interface Checked {
  readonly settings: LoginSettings;
  readonly openid: boolean;
  readonly check: (session: Session) => Promise<void>;
}

/** Returns whether tokens are renewed, and how long before they expire. */
export function renewalOf({ session: block, store, storage }: LoginParts): {
  readonly allowRefreshing: boolean;
  readonly bufferMs: number;
} {
  const inStore = store !== undefined || block.redis !== undefined;
  const inCookies = block.cookie?.allowRefreshing ?? storage !== undefined;
  const allowRefreshing = inStore ? (block.redis?.allowRefreshing ?? true) : inCookies;
  return { allowRefreshing, bufferMs: parseDuration(block.redis?.preExpiryBuffer ?? DEFAULT_BUFFER) };
}

/** Creates the storage of a `session` block: in cookies, in Redis, or in memory if Redis has no address. */
export function createSessionStorage(parts: LoginParts, { settings, openid, check }: Checked): SessionStorage {
  const { context, session: block, store } = parts;
  const client = JSON.stringify([parts.block.issuerUrl ?? parts.endpoints?.auth ?? '', settings.clientId]);
  if (store === undefined && block.redis === undefined) {
    return createCookieStorage({
      keyPrefix: block.cookie?.keyPrefix,
      attributes: settings.cookie,
      client,
      macKeys: derived(settings.stateKeys, 'oidc token mac'),
      denyList: denyListOf(parts),
      // Tokens of plain OAuth 2 cannot be verified, so a browser could forge them.
      cipherKeys: cipherKeysOf(parts) ?? (openid ? undefined : derived(settings.stateKeys, 'oidc cookies')),
      check,
      needsIdToken: openid,
      allowRefreshing: renewalOf(parts).allowRefreshing,
      now: context.now,
    });
  }
  return createStoreStorage({
    ...backing(parts, settings),
    cookieName: handleCookieName(block, settings.cookie),
    attributes: settings.cookie,
    client,
    now: context.now,
  });
}

function derived(keys: readonly Uint8Array[], use: string): readonly Uint8Array[] {
  return keys.map((key) => deriveKey(key, use));
}

function denyListOf({ context, session: { cookie }, id }: LoginParts): ExpiringIds | undefined {
  const list = cookie?.logoutDenyList;
  if (!list) return undefined;
  const durationMs = parseDuration(list.duration ?? DEFAULT_DENIED);
  if (!list.redis?.host)
    return context.state(`oidc:denied:${id}:${durationMs}`, () => createLocalIds(durationMs, context.now));
  const { redis, release } = shareRedis(list.redis, context);
  return { ...createRedisIds(redis, { prefix: 'logged-out:', ttlMs: durationMs }), close: release };
}

interface Backing {
  readonly store: SessionStore;
  readonly lock: SessionLock;
  readonly index?: SessionIndex;
  readonly marks?: LogoutMarks | undefined;
  readonly usedIds: ExpiringIds;
  readonly close?: () => void;
}

/** Returns the parts that outlive reloads: the store with its connection, locks, index and used ids. */
function backing(parts: LoginParts, settings: LoginSettings): Backing {
  const { context, session: block, store, id } = parts;
  const options = block.redis?.options;
  const prefix = block.redis?.keyPrefix ?? '';
  if (store === undefined && options?.host) {
    const { redis, release } = shareRedis(options, context);
    return {
      close: release,
      store: createRedisStore(redis, prefix),
      lock: createRedisLock(redis, prefix),
      index: createRedisIndex(redis, { prefix, now: context.now }),
      usedIds: createRedisIds(redis, { prefix: `${prefix}used:`, ttlMs: USED_MS }),
    };
  }
  if (store !== undefined) {
    const entries = createStoreEntries(store, context.now);
    // Only a login that the provider can end compares its sessions with marks.
    const isEnded = parts.block.frontChannelLogout?.path !== undefined;
    return {
      store,
      lock: createStoreLock(entries),
      marks: isEnded ? createLogoutMarks(entries, sessionMs(settings.cookie)) : undefined,
      usedIds: createStoreIds(entries, USED_MS),
    };
  }
  return context.state(`oidc:local-store:${id}:${prefix}`, () => ({
    store: createLocalStore(context.now),
    lock: createLocalLock(),
    index: createLocalIndex(context.now),
    usedIds: createLocalIds(USED_MS, context.now),
  }));
}
