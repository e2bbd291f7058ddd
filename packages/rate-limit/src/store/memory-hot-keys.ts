import { Located } from './memory-counters.ts';

/** Bounds the memory of hot keys to some megabytes. */
const MAX_KEYS = 8192;
const MAX_LENGTH = 64;

/**
 * Bounds the counters that are found by their values, without hashing and searching: those that were used twice. They only say where the
 * numbers are; the numbers stay in the tables. When there are too many, all are forgotten, and those in use come back.
 */
export class HotKeys {
  #size = 0;
  #maps: Map<string, Located>[] = [];

  /** Adds a counter to the map of its group, which must not have it. */
  add(map: Map<string, Located>, values: string, { low, high, epoch, values: numbers, at, earlier }: Located): void {
    if (values.length > MAX_LENGTH) return;
    const text = copyOf(values);
    if (text !== values) return;
    if (this.#size >= MAX_KEYS) this.#clear();
    if (map.size === 0) this.#maps.push(map);
    const key = new Located();
    key.low = low;
    key.high = high;
    key.epoch = epoch;
    key.values = numbers;
    key.at = at;
    key.earlier = earlier;
    map.set(text, key);
    this.#size++;
  }

  #clear(): void {
    for (const map of this.#maps) map.clear();
    this.#maps = [];
    this.#size = 0;
  }
}

/** Returns a copy of a text in Latin-1, so that the whole request that it was cut from is not kept in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
