import { randomBytes } from 'node:crypto';

/** A 64-bit hash of a key, in two halves. */
export interface KeyHash {
  low: number;
  high: number;
}

/**
 * Creates a hash function with a random key of its own: HalfSipHash-1-3 (Aumasson, Bernstein), so that clients cannot choose values that
 * share a counter. Of 10 million keys, any two are equal with a probability below 3 in a million. The result is in the returned object,
 * which the next call changes.
 */
export function createKeyHash(seed: Buffer = randomBytes(8)): (key: string) => KeyHash {
  const key0 = seed.readInt32LE(0);
  const key1 = seed.readInt32LE(4);
  const result: KeyHash = { low: 0, high: 0 };
  return (key) => {
    let v0 = key0;
    let v1 = key1 ^ 0xee;
    let v2 = key0 ^ 0x6c796765;
    let v3 = key1 ^ 0x74656462;
    const { length } = key;
    for (let i = 0; i < length; i += 2) {
      // Two UTF-16 units a word.
      const word = key.charCodeAt(i) | (i + 1 < length ? key.charCodeAt(i + 1) << 16 : 0);
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
    v3 ^= length;
    for (let round = 0; round < 7; round++) {
      if (round === 1) {
        v0 ^= length;
        v2 ^= 0xee;
      } else if (round === 4) {
        result.low = v1 ^ v3;
        v1 ^= 0xdd;
      }
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
    result.high = v1 ^ v3;
    // The table marks empty slots with zeros.
    if (result.low === 0 && result.high === 0) result.high = 1;
    return result;
  };
}
