import type { LookupFunction } from 'node:net';
import { startTimer } from '@edge-gateway/core';
import type { Addresses, AddressFamily, Lookup } from './lookup.ts';

/** How long the last addresses are used if a name cannot be resolved any more, in milliseconds. */
const KEEP_MS = 86_400_000;
/** Maximum interval between lookups of a name that fail, unless its rate is slower, in milliseconds. */
const MAX_BACKOFF_MS = 60_000;

/** How a name is looked up. */
export interface WatchRules {
  readonly family: AddressFamily;
  /** Interval between lookups, in milliseconds. */
  readonly rateMs: number;
  /** True looks up again when the TTL of the addresses has expired, instead. */
  readonly respectTtl: boolean;
  /** Intervals after failures, in milliseconds. Default: from `rateMs` to a minute. */
  readonly backoff?: { readonly baseMs: number; readonly maxMs: number };
}

/** Receives the results of lookups. */
export interface NameWatcher {
  /** Addresses were found; `undefined` when the last ones are too old to be used. */
  onAddresses(addresses: Addresses | undefined): void;
  /** A lookup failed; the last addresses stay in use. */
  onFailure?(error: Error): void;
}

/** Names that are looked up in the background, each independently of the others. */
export interface WatchedNames {
  /** Watches a name until the returned function is called. Known addresses are reported at once. */
  watch(name: string, rules: WatchRules, watcher: NameWatcher): () => void;
  /** Looks up a name for a connection that is to be opened now. */
  readonly lookup: LookupFunction;
}

interface NameSource {
  readonly lookup: Lookup;
  readonly now: () => number;
}

class WatchedName {
  readonly watchers = new Set<NameWatcher>();
  addresses: Addresses | undefined;
  readonly #name: string;
  readonly #rules: WatchRules;
  readonly #lookup: Lookup;
  readonly #now: () => number;
  #resolvedAt: number;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(name: string, rules: WatchRules, { lookup, now }: NameSource) {
    this.#name = name;
    this.#rules = rules;
    this.#lookup = lookup;
    this.#now = now;
    this.#resolvedAt = now();
    this.addresses = lookup.local(name, rules.family);
    if (this.addresses) this.#wait(rules.rateMs);
    else void this.#look();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #wait(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = startTimer(() => void this.#look(), Math.max(delayMs, 1)).unref();
  }

  async #look(): Promise<void> {
    const { family, rateMs, respectTtl } = this.#rules;
    try {
      const addresses = await this.#lookup.resolve(this.#name, family);
      this.#failures = 0;
      this.#resolvedAt = this.#now();
      this.addresses = addresses;
      for (const watcher of this.watchers) watcher.onAddresses(addresses);
      const { ttlMs } = addresses;
      // A TTL of 0 would look the name up without pause.
      this.#wait(respectTtl && ttlMs ? ttlMs : rateMs);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  #failed(error: Error): void {
    for (const watcher of this.watchers) watcher.onFailure?.(error);
    if (this.addresses && this.#now() - this.#resolvedAt > KEEP_MS) {
      this.addresses = undefined;
      for (const watcher of this.watchers) watcher.onAddresses(undefined);
    }
    const { rateMs } = this.#rules;
    const { baseMs, maxMs } = this.#rules.backoff ?? { baseMs: rateMs, maxMs: Math.max(rateMs, MAX_BACKOFF_MS) };
    // Random, so that names that failed together are not looked up together for ever.
    const delay = baseMs * 2 ** Math.min(this.#failures++, 16) * (1 - Math.random() / 4);
    this.#wait(Math.min(delay, maxMs));
  }
}

/**
 * Creates an empty set of names. Watchers of the same name with the same rules share its lookups. `now` returns milliseconds of a clock
 * that never goes back.
 */
export function createWatchedNames(lookup: Lookup, now: () => number = () => performance.now()): WatchedNames {
  const names = new Map<string, WatchedName>();
  const pending = new Map<string, Promise<Addresses>>();

  /** Connections that wait for the same name share one lookup. */
  function resolveOnce(name: string): Promise<Addresses> {
    let asked = pending.get(name);
    if (!asked) {
      asked = lookup.resolve(name, 'all').finally(() => pending.delete(name));
      pending.set(name, asked);
    }
    return asked;
  }

  return {
    watch(name, rules, watcher) {
      const key = `${name} ${rules.family} ${rules.rateMs} ${rules.respectTtl}`;
      const watched = names.get(key) ?? new WatchedName(name, rules, { lookup, now });
      names.set(key, watched);
      watched.watchers.add(watcher);
      if (watched.addresses) watcher.onAddresses(watched.addresses);
      return () => {
        watched.watchers.delete(watcher);
        if (watched.watchers.size > 0 || names.get(key) !== watched) return;
        names.delete(key);
        watched.stop();
      };
    },
    lookup(name, options, callback) {
      resolveOnce(name).then(
        ({ v4, v6 }) => {
          const found = [
            ...v4.map((address) => ({ address, family: 4 })),
            ...v6.map((address) => ({ address, family: 6 })),
          ];
          if (options.all) callback(null, found);
          else callback(null, found[0]!.address, found[0]!.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      );
    },
  };
}
