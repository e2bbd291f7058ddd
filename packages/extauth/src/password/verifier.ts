import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { matches, type StoredHash } from './hash.ts';
import { createThreads, type Rejection, type RunJob } from './threads.ts';

/** Key of the verifier among the states of a context. */
export const PASSWORDS = 'extauth.passwords';
/** How long a verified password is cached, in milliseconds. */
export const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** A password and the hashes that it is checked with; only the first one counts, the others make the time equal. */
export interface PasswordCheck {
  readonly name: string;
  readonly password: string;
  readonly hashes: readonly StoredHash[];
  /** Network of the client, see `networkOf`. */
  readonly client: string;
}

/** Verifies a password off the event loop. Rejects when the check itself fails. */
export type VerifyPassword = (check: PasswordCheck) => Promise<boolean | Rejection>;

/**
 * Creates a verifier. A correct password is cached for a minute, by a keyed hash of it and of its stored hash; the
 * key lives in this process only. Concurrent requests with the same password share one check.
 */
export function createVerifier(now: () => number, run: RunJob = createThreads()): VerifyPassword {
  const secret = randomBytes(32);
  const verified = new LRUCache<string, true>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now },
  });
  const running = new Map<string, Promise<boolean | Rejection>>();
  const keyOf = ({ name, password, hashes }: PasswordCheck): string =>
    createHmac('sha256', secret)
      .update(JSON.stringify([name, password, hashes[0]]))
      .digest('base64');

  async function check({ password, hashes, client }: PasswordCheck): Promise<boolean | Rejection> {
    const results = await run({ password, hashes }, client);
    return typeof results === 'string' ? results : results[0]!;
  }

  return async (asked) => {
    // Fast hashes need no thread.
    if (asked.hashes.every(({ scheme }) => scheme === 'sha1'))
      return asked.hashes.map((stored) => matches(asked.password, stored))[0]!;
    const key = keyOf(asked);
    if (verified.get(key)) return true;
    const shared = running.get(key);
    if (shared) return shared;
    const mine = check(asked).finally(() => running.delete(key));
    running.set(key, mine);
    const result = await mine;
    if (result === true) verified.set(key, true);
    return result;
  };
}
