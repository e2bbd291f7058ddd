import { randomToken } from '@edge-gateway/core';
import type { StoreEntries } from './store-entries.ts';

/** The marks of a session when it was created, by key. Empty for a key without a logout. */
export type Marks = Readonly<Record<string, string>>;

/**
 * Ends sessions in a store that cannot find them by the provider's session or subject: a logout replaces the mark of a key, and
 * a session whose mark differs has ended. No process has to know which sessions exist.
 */
export interface LogoutMarks {
  /** Returns the marks for a new session. */
  read(keys: readonly string[]): Promise<Marks>;
  /** Returns true if there was a logout since the marks were read. */
  hasEnded(keys: readonly string[], marks: Marks): Promise<boolean>;
  /** Ends all sessions under these keys. */
  replace(keys: readonly string[]): Promise<void>;
}

/** Sessions that a renewal writes during a logout end later. */
const MARGIN_MS = 3_600_000;

/** Creates {@link LogoutMarks} that all processes on one store share, for sessions that live for `lifetimeMs` at most. */
export function createLogoutMarks(entries: StoreEntries, lifetimeMs: number): LogoutMarks {
  const keyOf = (key: string): string => `logout ${key}`;

  async function read(keys: readonly string[]): Promise<Marks> {
    return Object.fromEntries(
      await Promise.all(keys.map(async (key) => [key, (await entries.read(keyOf(key))) ?? ''])),
    ) as Marks;
  }

  return {
    read,
    async hasEnded(keys, marks) {
      const current = await read(keys);
      // A mark that is gone has expired after all sessions that it ended.
      return Object.entries(current).some(([key, mark]) => mark !== '' && mark !== marks[key]);
    },
    async replace(keys) {
      await Promise.all(keys.map((key) => entries.write(keyOf(key), randomToken(), lifetimeMs + MARGIN_MS)));
    },
  };
}
