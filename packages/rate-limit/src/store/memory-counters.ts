import type { Hash } from './memory-hash.ts';
import { fullTableKeys, KeyTable } from './memory-table.ts';

/** A table that gets no new keys. */
interface SealedTable {
  readonly owner: Counters;
  readonly table: KeyTable;
  readonly sealedAtMs: number;
}

/** At least this many tables are full before one of them is dropped because there are too many keys. */
const GENERATIONS = 3;

/** A counter with two numbers needs half as much memory again as one with one number. */
const SECOND_NUMBER = 0.5;

/** Bounds the keys of all counters of a store. */
export class KeyBudget {
  keys = 0;
  /** The keys, by the memory they need. */
  #used = 0;
  #epochs = 0;
  readonly #maxKeys: number;
  readonly #all: Counters[] = [];
  readonly #onEvict: (keys: number) => void;
  /** The oldest first. */
  #sealed: SealedTable[] = [];

  constructor(maxKeys: number, onEvict: (keys: number) => void) {
    this.#maxKeys = maxKeys;
    this.#onEvict = onEvict;
  }

  /** Returns the number of keys that one table of these counters has at most. */
  register(counters: Counters): number {
    this.#all.push(counters);
    return fullTableKeys(Math.ceil(this.#maxKeys / counters.weight / GENERATIONS));
  }

  /** Returns a number that it never returned before. */
  nextEpoch(): number {
    return ++this.#epochs;
  }

  seal(sealed: SealedTable): void {
    this.#sealed.push(sealed);
  }

  /** Makes room for a key: evicts the counters that were not used for the longest time. */
  reserve(weight: number): void {
    this.keys++;
    this.#used += weight;
    // There is always room for one key.
    while (this.#used > this.#maxKeys && this.keys > 1) this.#evict();
  }

  /** Gives back the room of keys. */
  release(keys: number, weight: number): void {
    this.keys -= keys;
    this.#used -= keys * weight;
  }

  /** Forgets sealed tables; returns the remaining ones of `owner`. */
  drop(owner: Counters, isDropped: (sealed: SealedTable) => boolean): SealedTable[] {
    const isGone = (sealed: SealedTable): boolean => sealed.owner === owner && isDropped(sealed);
    for (const sealed of this.#sealed) {
      if (!isGone(sealed)) continue;
      this.release(sealed.table.size, owner.weight);
      sealed.table.free();
    }
    this.#sealed = this.#sealed.filter((sealed) => !isGone(sealed));
    return this.#sealed.filter((sealed) => sealed.owner === owner);
  }

  #evict(): void {
    if (this.#sealed.length === 0) this.#largest().seal(0);
    const { owner, table } = this.#sealed[0]!;
    owner.drop((each) => each.table === table);
    this.#onEvict(table.size - table.moved);
  }

  #largest(): Counters {
    return this.#all.reduce((a, b) => (b.youngSize > a.youngSize ? b : a));
  }
}

/** A counter: its key, and where its numbers are in an epoch, from `values[at]` on. */
export class Located implements Hash {
  low = 0;
  high = 0;
  epoch = 0;
  values: Float64Array = NO_VALUES;
  at = 0;
  /** The count of the previous window. */
  earlier = 0;
}

const NO_VALUES = new Float64Array();

/** Counters by key, in tables of different age. Keys in use move to the youngest one. */
export class Counters {
  /** Changes when numbers move; different for all counters of a store. */
  epoch: number;
  /** Memory of a key, in keys with one number. */
  readonly weight: number;
  readonly #tableKeys: number;
  readonly #width: number;
  readonly #budget: KeyBudget;
  #young: KeyTable;
  #startedAtMs = 0;
  /** The time of the last call of `expire`. */
  #nowMs = 0;
  /** The youngest first. */
  #older: readonly KeyTable[] = [];

  constructor(width: number, budget: KeyBudget) {
    this.#width = width;
    this.#budget = budget;
    this.#young = new KeyTable(width);
    this.weight = 1 + (width - 1) * SECOND_NUMBER;
    this.epoch = budget.nextEpoch();
    this.#tableKeys = budget.register(this);
  }

  get youngSize(): number {
    return this.#young.size;
  }

  /** Finds the numbers of a key, which are zeros if it is new. Returns false if it is. */
  locate(key: Located): boolean {
    const { low, high } = key;
    const isKnown = this.#young.find(low, high) || this.#insert(low, high);
    key.values = this.#young.values;
    key.at = this.#young.at;
    key.epoch = this.epoch;
    return isKnown;
  }

  /** Returns the first number of a key; 0 if it does not exist. */
  peek({ low, high }: Hash): number {
    if (this.#young.find(low, high)) return this.#young.values[this.#young.at]!;
    const older = this.#older.find((table) => table.find(low, high));
    return older ? older.values[older.at]! : 0;
  }

  /** Forgets all keys. */
  clear(): void {
    this.drop(() => true);
    this.#budget.release(this.#young.size, this.weight);
    this.#young.free();
    this.#start();
  }

  /** Starts a new table. */
  seal(nowMs: number): void {
    this.#budget.seal({ owner: this, table: this.#young, sealedAtMs: nowMs });
    this.#older = [this.#young, ...this.#older];
    this.#start();
  }

  /** Forgets keys that were not used for `lifetimeMs`, sooner or later. */
  expire(nowMs: number, lifetimeMs: number): void {
    this.#nowMs = nowMs;
    if (nowMs >= this.#startedAtMs && nowMs < this.#startedAtMs + lifetimeMs) return;
    this.drop(({ sealedAtMs }) => sealedAtMs + lifetimeMs <= nowMs);
    if (this.#young.size > 0) this.seal(nowMs);
    this.#startedAtMs = nowMs;
  }

  drop(isDropped: (sealed: SealedTable) => boolean): void {
    this.#older = this.#budget
      .drop(this, isDropped)
      .map(({ table }) => table)
      .toReversed();
  }

  #start(): void {
    this.#young = new KeyTable(this.#width);
    this.epoch = this.#budget.nextEpoch();
  }

  /** Returns true if an older table has the key. */
  #insert(low: number, high: number): boolean {
    const older = this.#older.find((table) => table.find(low, high));
    // Making room may free the table.
    const numbers = older && Array.from({ length: this.#width }, (_, i) => older.values[older.at + i]!);
    this.#budget.reserve(this.weight);
    if (this.#young.size >= this.#tableKeys) this.seal(this.#nowMs);
    const hasGrown = this.#young.insert(low, high);
    if (hasGrown) this.epoch = this.#budget.nextEpoch();
    if (!older || !numbers) return false;
    older.moved++;
    this.#young.values.set(numbers, this.#young.at);
    return true;
  }
}
