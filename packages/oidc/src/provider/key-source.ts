import { setTimeout as wait } from 'node:timers/promises';
import type { createLocalJWKSet } from 'jose';
import { createCached } from './cached.ts';

export type Keys = ReturnType<typeof createLocalJWKSet>;

/** A key set as it was read once. */
export interface KeySet {
  readonly keys: Keys;
  /** Reads are counted: the set with the higher number was asked for later. */
  readonly number: number;
}

/** The key sets of a provider, one after another. */
export interface KeySource {
  /** The set, read at the first need and again when it is old. */
  get(): Promise<KeySet>;
  /** How many reads have begun. */
  readonly begun: number;
  /**
   * A set that was read after this one: what is there already, else what is on its way, else a read of its own. Such a
   * read rests for the cool-down; who comes then waits for the next, or gets `undefined` where too many wait, or where
   * `mayRead` says no. Throws what reading threw.
   */
  newerThan(set: KeySet, asking: Asking): Promise<KeySet | undefined>;
}

export interface Asking {
  /** True for those who wait however many others do. */
  readonly trusted: boolean;
  /** Asked once before a read. */
  readonly mayRead: () => boolean;
}

export interface KeySourceOptions {
  readonly maxAgeMs: number;
  /** Between two reads that an unknown key led to; those at first need and by age do not count. */
  readonly coolDownMs: number;
  readonly now: () => number;
}

/** Anybody can send tokens with unknown keys, so of those who are not trusted only so many wait. */
const MAX_WAITING = 100;

/** Makes a {@link KeySource}; nothing is read yet. */
export function createKeySource(read: () => Promise<Keys>, options: KeySourceOptions): KeySource {
  let begun = 0;
  let waiting = 0;
  let rest: Promise<void> | undefined;
  const cached = createCached(async (): Promise<KeySet> => {
    const number = ++begun;
    return { keys: await read(), number };
  }, options);

  function readAgain(): Promise<KeySet> {
    rest = wait(options.coolDownMs, undefined, { ref: false }).then(() => {
      rest = undefined;
    });
    return cached.fetchAgain();
  }

  async function afterRest(resting: Promise<void>, { trusted }: Asking): Promise<boolean> {
    if (!trusted && waiting >= MAX_WAITING) return false;
    if (!trusted) waiting++;
    await resting;
    if (!trusted) waiting--;
    return true;
  }

  return {
    get: () => cached.get(),
    get begun() {
      return begun;
    },
    async newerThan(set, asking) {
      for (;;) {
        const held = await cached.get();
        if (held.number > set.number) return held;
        if (cached.flight) return cached.flight;
        if (!rest) return asking.mayRead() ? readAgain() : undefined;
        if (!(await afterRest(rest, asking))) return undefined;
      }
    },
  };
}
