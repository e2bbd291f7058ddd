import { createHash } from 'node:crypto';

/** Most entries that are remembered. */
const MAX_ENTRIES = 10_000;

interface Entry<T> {
  readonly value: T;
  readonly until: number;
}

/** What was learned of tokens, by their hash, each until its end. */
export interface Remembered<T> {
  get(token: string, now: number): T | undefined;
  /** `until` in milliseconds since the epoch. */
  set(token: string, value: T, until: number): void;
}

/** Makes a bounded store: the entry that has been unused for longest goes first. */
export function createRemembered<T>(): Remembered<T> {
  const entries = new Map<string, Entry<T>>();
  return {
    get(token, now) {
      const key = digest(token);
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      if (entry.until <= now) return undefined;
      entries.set(key, entry);
      return entry.value;
    },
    set(token, value, until) {
      entries.set(digest(token), { value, until });
      const [oldest] = entries.keys();
      if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
    },
  };
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
