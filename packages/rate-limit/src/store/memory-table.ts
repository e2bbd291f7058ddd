/** Growing one segment moves few keys at a time, so that no check takes long. */
const SEGMENTS = 64;
const SEGMENT_SHIFT = 26;
const MIN_SLOTS = 8;

/**
 * Returns the largest number of keys up to `maxKeys` at which a table is almost full, so that it wastes little memory; `maxKeys` if that is
 * small.
 */
export function fullTableKeys(maxKeys: number): number {
  let keys = SEGMENTS * MIN_SLOTS * FULL_LOAD;
  if (keys > maxKeys) return maxKeys;
  while (keys * 2 <= maxKeys) keys *= 2;
  return Math.floor(keys);
}

/** Below the load at which segments grow, as they do not fill evenly. */
const FULL_LOAD = 0.72;

/** An open-addressed part of a table. */
interface Segment {
  /** Two halves of the hash per slot; zeros if the slot is empty. */
  hashes: Int32Array<ArrayBuffer>;
  values: Float64Array<ArrayBuffer>;
  slots: number;
  size: number;
}

/**
 * Numbers by hash, without objects per key: 8 bytes and 8 per number, at a load of 3/8 to 3/4. Keys are not removed; tables are dropped as
 * a whole.
 */
export class KeyTable {
  size = 0;
  /** Keys that were copied to a younger table. */
  moved = 0;
  /** Where the last key is that was found or inserted: its numbers start at `values[at]`. */
  values: Float64Array = EMPTY;
  at = 0;
  readonly width: number;
  readonly #segments: (Segment | undefined)[] = Array.from({ length: SEGMENTS }, () => undefined);

  /** `width` is the number of values per key. */
  constructor(width: number) {
    this.width = width;
  }

  /** Returns true and sets `values` and `at` if the key exists. */
  find(low: number, high: number): boolean {
    const segment = this.#segments[high >>> SEGMENT_SHIFT];
    if (!segment) return false;
    const { hashes } = segment;
    const mask = segment.slots - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const first = hashes[2 * slot]!;
      const second = hashes[2 * slot + 1]!;
      if (first === low && second === high) {
        this.values = segment.values;
        this.at = slot * this.width;
        return true;
      }
      if (first === 0 && second === 0) return false;
    }
  }

  /** Adds a key, which must not exist, with zeros, and sets `values` and `at`. Returns true if numbers of other keys have moved. */
  insert(low: number, high: number): boolean {
    const index = high >>> SEGMENT_SHIFT;
    let segment = (this.#segments[index] ??= createSegment(MIN_SLOTS, this.width));
    const isFull = segment.size * 4 >= segment.slots * 3;
    if (isFull) {
      segment = grown(segment, this.width);
      this.#segments[index] = segment;
    }
    const slot = freeSlot(segment, low);
    segment.hashes[2 * slot] = low;
    segment.hashes[2 * slot + 1] = high;
    segment.size++;
    this.size++;
    this.values = segment.values;
    this.at = slot * this.width;
    return isFull;
  }

  /** Forgets all keys, and gives back their memory at once. The size remains. */
  free(): void {
    for (const segment of this.#segments) if (segment) freeSegment(segment);
    this.#segments.fill(undefined);
    this.values = EMPTY;
  }
}

const EMPTY = new Float64Array();

function freeSlot({ hashes, slots }: Segment, low: number): number {
  const mask = slots - 1;
  let slot = low & mask;
  while (hashes[2 * slot] !== 0 || hashes[2 * slot + 1] !== 0) slot = (slot + 1) & mask;
  return slot;
}

function createSegment(slots: number, width: number): Segment {
  return { hashes: new Int32Array(2 * slots), values: new Float64Array(width * slots), slots, size: 0 };
}

function grown(segment: Segment, width: number): Segment {
  const larger = createSegment(segment.slots * 2, width);
  for (let from = 0; from < segment.slots; from++) {
    const low = segment.hashes[2 * from]!;
    const high = segment.hashes[2 * from + 1]!;
    if (low === 0 && high === 0) continue;
    const to = freeSlot(larger, low);
    larger.hashes[2 * to] = low;
    larger.hashes[2 * to + 1] = high;
    for (let i = 0; i < width; i++) larger.values[to * width + i] = segment.values[from * width + i]!;
  }
  larger.size = segment.size;
  freeSegment(segment);
  return larger;
}

/** Under load, garbage collection may come so late that as much again would be in use. */
function freeSegment({ hashes, values }: Segment): void {
  hashes.buffer.transfer(0);
  values.buffer.transfer(0);
}
