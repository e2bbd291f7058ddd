import { hash } from 'node:crypto';
import type { Token } from './token.ts';

/** Verified tokens that are remembered for one provider. */
export const TOKEN_CACHE_SIZE = 10_000;

interface Entry {
  readonly token: Token;
  readonly keysVersion: number;
}

/** Remembers verified tokens by the SHA-256 of their text, so that no token itself is kept as a key; the oldest leave first. */
export interface TokenCache {
  get(text: string, keysVersion: number): Token | undefined;
  set(text: string, token: Token, keysVersion: number): void;
}

/** Makes a cache of at most `size` tokens. What it gives has a good signature; the time still has to be checked. */
export function createTokenCache(size = TOKEN_CACHE_SIZE): TokenCache {
  const entries = new Map<string, Entry>();
  // A token that was looked up in vain is often remembered right after.
  let asked = { text: '', key: '' };
  const keyOf = (text: string): string => {
    if (asked.text !== text) asked = { text, key: hash('sha256', text, 'base64') };
    return asked.key;
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
      if (entries.size >= size) entries.delete(entries.keys().next().value!);
      entries.set(keyOf(text), { token, keysVersion });
    },
  };
}
