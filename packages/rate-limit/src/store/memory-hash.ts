import { randomBytes } from 'node:crypto';

/** The state after some text. */
export interface HashState {
  readonly v0: number;
  readonly v1: number;
  readonly v2: number;
  readonly v3: number;
}

/** A 64-bit hash, in two halves; not zero. */
export interface Hash {
  low: number;
  high: number;
}

/** Hashes the keys of counters. */
export interface KeyHash {
  /** The state without any text. */
  readonly start: HashState;
  /** Returns the state after `text`, for keys that start with it. */
  after(text: string): HashState;
  /** Writes the hash of `text` after a state into `result`. */
  hash(state: HashState, text: string, result: Hash): void;
}

/**
 * Creates a hash function with a random key of its own: HalfSipHash-1-3 (Aumasson, Bernstein), so that clients cannot choose values that
 * share a counter. Of 10 million keys, any two are equal with a probability below 3 in a million.
 */
export function createKeyHash(seed: Buffer = randomBytes(8)): KeyHash {
  const key0 = seed.readInt32LE(0);
  const key1 = seed.readInt32LE(4);
  const start = { v0: key0, v1: key1 ^ 0xee, v2: key0 ^ 0x6c796765, v3: key1 ^ 0x74656462 };

  function hash({ v0, v1, v2, v3 }: HashState, text: string, result: Hash): void {
    const { length } = text;
    // The last word is the length.
    for (let i = 0; i <= length; i += 2) {
      // Two UTF-16 units a word.
      const word = i + 1 < length ? text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16) : lastWord(text, i);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    v2 ^= 0xee;
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    // The second half is not that of the standard, which needs three more rounds.
    result.low = v1 ^ v3;
    result.high = v0 ^ v2;
    // The table marks empty slots with zeros.
    if (result.low === 0 && result.high === 0) result.high = 1;
  }

  return {
    start,
    hash,
    after(text) {
      const first: Hash = { low: 0, high: 0 };
      const second: Hash = { low: 0, high: 0 };
      hash(start, text, first);
      hash(start, `${text}\u0000`, second);
      return { v0: first.low, v1: first.high, v2: second.low, v3: second.high };
    },
  };
}

/** A half word, if one is left, and the length, so that texts of different length differ. */
function lastWord(text: string, at: number): number {
  const { length } = text;
  return (at < length ? text.charCodeAt(at) : 0) | (length << 16);
}
