import type { Algorithm, Limit, Unit } from '../rules/limit.ts';
import { createTokenBucket } from './memory-bucket.ts';
import { KeyBudget, Located } from './memory-counters.ts';
import { createKeyHash, type HashState } from './memory-hash.ts';
import { HotKeys } from './memory-hot-keys.ts';
import { createFixedWindow, createSlidingWindow, type MemoryAlgorithm } from './memory-window.ts';
import type { Charge, Count, CounterGroup, Store, Tally } from './store.ts';

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum number of counters. A token bucket uses 1.5 times the memory of another counter. Default 10 million, which use less than 512 MB.
   */
  readonly maxKeys?: number;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Called with the number of counters that were evicted because there were too many. They start at zero again. */
  readonly onEvict?: (keys: number) => void;
}

/** A {@link Store} in memory. Its `count` never returns a promise. */
export interface MemoryStore extends Store {
  /** Number of counters; those that have expired since the last check are included. */
  readonly size: number;
  count: (charges: readonly Charge[], deadlineMs?: number) => readonly Count[];
  tally: NonNullable<Store['tally']>;
}

const DEFAULT_MAX_KEYS = 10_000_000;
/** How often counters expire whose unit is not in use. */
const SWEEP_MS = 1000;

/**
 * Creates counters in this process. They are exact: a window or bucket never allows more than its limit. When there are more than
 * `maxKeys`, those that were not used for the longest time are evicted, a third of them at most at a time.
 *
 * A clock that goes back by less than one window keeps the window; any other jump starts new windows, so that a jump allows each limit
 * once more at most. Sliding windows assume that the requests of the previous window came evenly; whatever they did, less than twice the
 * limit passes within any unit of time.
 *
 * @example
 * const store = createMemoryStore({ onEvict: (keys) => log.warn({ keys }, 'rate limit counters evicted') });
 * store.count([{ key: 'custom|remote_address|192.0.2.1', limit, cost: 1 }]); // [{ isOver: false, remaining: 9, resetMs: 350 }]
 */
export function createMemoryStore({
  maxKeys = DEFAULT_MAX_KEYS,
  now = Date.now,
  onEvict,
}: MemoryStoreOptions = {}): MemoryStore {
  const keyHash = createKeyHash();
  /** Of the last key that is not hot. */
  const scratch = new Located();
  let budget: KeyBudget;
  let hotKeys: HotKeys;
  let tables: Record<Algorithm, Partial<Record<Unit, Timed>>>;
  let all: Timed[];
  let sweptAtMs = 0;

  function reset(): void {
    budget = new KeyBudget(maxKeys, onEvict ?? ignore);
    hotKeys = new HotKeys();
    tables = { FIXED_WINDOW: {}, SLIDING_WINDOW: {}, TOKEN_BUCKET: {} };
    all = [];
  }
  reset();

  function tableOf({ algorithm, unit }: Limit): Timed {
    const known = tables[algorithm][unit];
    if (known) return known;
    const created = { nowMs: Number.NaN, table: CREATE[algorithm](unit, budget) };
    all.push(created);
    tables[algorithm][unit] = created;
    return created;
  }

  function sweep(nowMs: number): void {
    sweptAtMs = nowMs;
    for (const { table } of all) table.advance(nowMs);
  }

  function memoOf(group: CounterGroup, limit: Limit): Memo {
    const known = group.memo;
    if (known instanceof Memo && known.tables === tables && known.limit === limit) return known;
    const memo = new Memo(keyHash.after(group.id), limit, tables, tableOf(limit));
    group.memo = memo;
    return memo;
  }

  function tallyOne(tally: Tally, nowMs: number): void {
    const { group, values, limit } = tally;
    if (group === undefined || values === undefined) {
      keyHash.hash(keyHash.start, tally.key, scratch);
      chargeScratch(tableAt(tableOf(limit), nowMs), tally);
      return;
    }
    const memo = memoOf(group, limit);
    const table = tableAt(memo.timed, nowMs);
    const hot = memo.hot.get(values);
    if (hot) {
      table.charge(hot, limit, tally);
      return;
    }
    keyHash.hash(memo.prefix, values, scratch);
    const isKnown = chargeScratch(table, tally);
    if (isKnown && !tally.isSecret) hotKeys.add(memo.hot, values, scratch);
  }

  function chargeScratch(table: MemoryAlgorithm, tally: Tally): boolean {
    scratch.epoch = 0;
    return table.charge(scratch, tally.limit, tally);
  }

  function tally(tallies: readonly Tally[]): void {
    const nowMs = now();
    if (Math.abs(nowMs - sweptAtMs) >= SWEEP_MS) sweep(nowMs);
    for (let i = 0; i < tallies.length; i++) tallyOne(tallies[i]!, nowMs);
  }

  return {
    get size() {
      return budget.keys;
    },
    tally,
    count(charges) {
      const tallies = charges.map((charge) => new Counted(charge));
      tally(tallies);
      return tallies.map(({ isOver, remaining, resetMs }) => ({ isOver, remaining, resetMs }));
    },
    close: reset,
  };
}

function tableAt(timed: Timed, nowMs: number): MemoryAlgorithm {
  if (timed.nowMs !== nowMs) {
    timed.nowMs = nowMs;
    timed.table.advance(nowMs);
  }
  return timed.table;
}

/** A charge with its count. */
class Counted implements Tally {
  readonly group: CounterGroup | undefined;
  readonly values: string | undefined;
  readonly isSecret: boolean | undefined;
  readonly limit: Limit;
  readonly cost: number;
  isOver = false;
  remaining = 0;
  resetMs = 0;
  readonly #charge: Charge;

  constructor(charge: Charge) {
    this.#charge = charge;
    this.group = charge.group;
    this.values = charge.values;
    this.isSecret = charge.isSecret;
    this.limit = charge.limit;
    this.cost = charge.cost;
  }

  get key(): string {
    return this.#charge.key;
  }
}

/** What a store has computed for a group of counters and its last limit. */
class Memo {
  readonly prefix: HashState;
  readonly limit: Limit;
  /** Those of the store that computed it. */
  readonly tables: object;
  readonly timed: Timed;
  /** Counters by their values. */
  readonly hot = new Map<string, Located>();

  constructor(prefix: HashState, limit: Limit, tables: object, timed: Timed) {
    this.prefix = prefix;
    this.limit = limit;
    this.tables = tables;
    this.timed = timed;
  }
}

/** A table, and the time it was last set to. */
interface Timed {
  nowMs: number;
  readonly table: MemoryAlgorithm;
}

const CREATE: Readonly<Record<Algorithm, (unit: Unit, budget: KeyBudget) => MemoryAlgorithm>> = {
  FIXED_WINDOW: createFixedWindow,
  SLIDING_WINDOW: createSlidingWindow,
  TOKEN_BUCKET: createTokenBucket,
};

function ignore(): void {}
