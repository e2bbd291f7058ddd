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

/** Bounds the keys of all counters of a store. */
export class KeyBudget {
  keys = 0;
  readonly maxKeys: number;
  readonly generationKeys: number;
  readonly #all: Counters[] = [];
  readonly #onEvict: (keys: number) => void;
  /** The oldest first. */
  #sealed: SealedTable[] = [];

  constructor(maxKeys: number, onEvict: (keys: number) => void) {
    this.maxKeys = maxKeys;
    this.generationKeys = fullTableKeys(Math.ceil(maxKeys / GENERATIONS));
    this.#onEvict = onEvict;
  }

  register(counters: Counters): void {
    this.#all.push(counters);
  }

  seal(sealed: SealedTable): void {
    this.#sealed.push(sealed);
  }

  /** Makes room for a key: evicts the counters that were not used for the longest time. */
  reserve(): void {
    this.keys++;
    if (this.keys <= this.maxKeys) return;
    if (this.#sealed.length === 0) this.#largest().seal(0);
    const { owner, table } = this.#sealed[0]!;
    owner.drop((each) => each.table === table);
    this.#onEvict(table.size - table.moved);
  }

  /** Forgets sealed tables; returns the remaining ones of `owner`. */
  drop(owner: Counters, isDropped: (sealed: SealedTable) => boolean): SealedTable[] {
    const isGone = (sealed: SealedTable): boolean => sealed.owner === owner && isDropped(sealed);
    for (const sealed of this.#sealed) if (isGone(sealed)) this.keys -= sealed.table.size;
    this.#sealed = this.#sealed.filter((sealed) => !isGone(sealed));
    return this.#sealed.filter((sealed) => sealed.owner === owner);
  }

  #largest(): Counters {
    return this.#all.reduce((a, b) => (b.youngSize > a.youngSize ? b : a));
  }
}

/** Counters by key, in tables of different age. Keys in use move to the youngest one. */
export class Counters {
  /** Where the last located key is: its numbers start at `values[at]`. */
  values!: Float64Array;
  at = 0;
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
    budget.register(this);
  }

  get youngSize(): number {
    return this.#young.size;
  }

  /** Sets `values` and `at` to the numbers of a key: zeros if it is new. */
  locate({ low, high }: Hash): void {
    if (!this.#young.find(low, high)) this.#insert(low, high);
    this.values = this.#young.values;
    this.at = this.#young.at;
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
    this.#budget.keys -= this.#young.size;
    this.#young = new KeyTable(this.#width);
  }

  /** Starts a new table. */
  seal(nowMs: number): void {
    this.#budget.seal({ owner: this, table: this.#young, sealedAtMs: nowMs });
    this.#older = [this.#young, ...this.#older];
    this.#young = new KeyTable(this.#width);
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

  #insert(low: number, high: number): void {
    const older = this.#older.find((table) => table.find(low, high));
    this.#budget.reserve();
    if (this.#young.size >= this.#budget.generationKeys) this.seal(this.#nowMs);
    this.#young.insert(low, high);
    if (!older) return;
    older.moved++;
    for (let i = 0; i < this.#width; i++) this.#young.values[this.#young.at + i] = older.values[older.at + i]!;
  }
}
