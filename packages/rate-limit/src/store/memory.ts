import type { Algorithm, Limit, Unit } from '../rules/limit.ts';
import { createTokenBucket } from './memory-bucket.ts';
import { KeyBudget } from './memory-counters.ts';
import { createKeyHash, type HashState } from './memory-hash.ts';
import { createFixedWindow, createSlidingWindow, type MemoryAlgorithm } from './memory-window.ts';
import type { Charge, Count, CounterGroup, Store } from './store.ts';

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  /** Maximum number of counters. Default 10 million, which need about 300 MB, in token buckets 450 MB. */
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
  let budget: KeyBudget;
  let tables: Record<Algorithm, Partial<Record<Unit, Timed>>>;
  let all: Timed[];
  let sweptAtMs = 0;

  function reset(): void {
    budget = new KeyBudget(maxKeys, onEvict ?? ignore);
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

  function charge(each: Charge, nowMs: number): Count {
    const { group, values, limit } = each;
    const memo = group && values !== undefined ? memoOf(group, limit) : undefined;
    const timed = memo ? memo.timed : tableOf(limit);
    if (timed.nowMs !== nowMs) {
      timed.nowMs = nowMs;
      timed.table.advance(nowMs);
    }
    const hash = memo ? keyHash.hash(memo.prefix, values!) : keyHash.hash(keyHash.start, each.key);
    return timed.table.charge(hash, limit, each.cost);
  }

  return {
    get size() {
      return budget.keys;
    },
    count(charges) {
      const nowMs = now();
      if (Math.abs(nowMs - sweptAtMs) >= SWEEP_MS) sweep(nowMs);
      if (charges.length === 1) return [charge(charges[0]!, nowMs)];
      const counts = new Array<Count>(charges.length);
      for (let i = 0; i < charges.length; i++) counts[i] = charge(charges[i]!, nowMs);
      return counts;
    },
    close: reset,
  };
}

/** What a store has computed for a group of counters and its last limit. */
class Memo {
  readonly prefix: HashState;
  readonly limit: Limit;
  /** Those of the store that computed it. */
  readonly tables: object;
  readonly timed: Timed;

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
