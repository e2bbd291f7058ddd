import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Token } from './token.ts';

/** Maximum number of verified tokens in a cache. */
export const TOKEN_CACHE_SIZE = 10_000;

interface Entry {
  readonly token: Token;
  readonly keysVersion: number;
}

/** Verified tokens by the SHA-256 of their text. The least recently used one is evicted first. */
export interface TokenCache {
  /** Returns a token whose signature was verified with the keys of this version; its times must still be checked. */
  get(text: string, keysVersion: number): Token | undefined;
  set(text: string, token: Token, keysVersion: number): void;
}

/** Creates a cache of at most `size` tokens. */
export function createTokenCache(size = TOKEN_CACHE_SIZE): TokenCache {
  const entries = new LRUCache<string, Entry>({ max: size });
  // A token that was not found is often stored right after.
  let last = { text: '', key: '' };
  const keyOf = (text: string): string => {
    if (last.text !== text) last = { text, key: hash('sha256', text, 'base64') };
    return last.key;
  };
  return {
    get(text, keysVersion) {
      const key = keyOf(text);
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.keysVersion === keysVersion) return entry.token;
      entries.delete(key);
      return undefined;
    },
    set(text, token, keysVersion) {
      entries.set(keyOf(text), { token, keysVersion });
    },
  };
}
