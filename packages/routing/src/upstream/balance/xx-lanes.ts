// The halves of 64-bit numbers: in long texts, BigInt is much slower.
const P1_HIGH = 0x9e3779b1 | 0;
const P1_LOW = 0x85ebca87 | 0;
const P2_HIGH = 0xc2b2ae3d | 0;
const P2_LOW = 0x27d4eb4f | 0;
const BLOCK_BYTES = 32;

/** Adds all whole blocks of 32 bytes to the four lanes of an xxHash64, in place, and returns the offset after them. */
export function addBlocks(lanes: bigint[], bytes: Buffer): number {
  const halves = new Int32Array(2 * lanes.length);
  lanes.forEach((lane, i) => halves.set([Number(lane >> 32n), Number(lane & 0xffff_ffffn)], 2 * i));
  const end = bytes.length - (bytes.length % BLOCK_BYTES);
  for (let at = 0; at < end; at += BLOCK_BYTES) {
    for (let i = 0; i < halves.length; i += 2) addWord(halves, i, bytes, at + i * 4);
  }
  for (let i = 0; i < lanes.length; i++)
    lanes[i] = (BigInt(halves[2 * i]! >>> 0) << 32n) | BigInt(halves[2 * i + 1]! >>> 0);
  return end;
}

/** Adds the little-endian word at `at` times P2 to the lane at `i`, rotates the lane by 31 bits, and multiplies it by P1. */
function addWord(halves: Int32Array, i: number, bytes: Buffer, at: number): void {
  const wordLow = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  const wordHigh = bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
  const added = Math.imul(wordLow, P2_LOW);
  const low = (halves[i + 1]! + added) | 0;
  const carry = low >>> 0 < added >>> 0 ? 1 : 0;
  const high = (halves[i]! + productHigh(wordHigh, wordLow, P2_HIGH, P2_LOW) + carry) | 0;
  const rotatedHigh = (high << 31) | (low >>> 1);
  const rotatedLow = (low << 31) | (high >>> 1);
  halves[i] = productHigh(rotatedHigh, rotatedLow, P1_HIGH, P1_LOW);
  halves[i + 1] = Math.imul(rotatedLow, P1_LOW);
}

/** Returns the higher half of a product modulo 2^64. */
function productHigh(high: number, low: number, factorHigh: number, factorLow: number): number {
  const a = low >>> 16;
  const b = low & 0xffff;
  const c = factorLow >>> 16;
  const d = factorLow & 0xffff;
  const ad = Math.imul(a, d);
  const bc = Math.imul(b, c);
  const middle = (Math.imul(b, d) >>> 16) + (ad & 0xffff) + (bc & 0xffff);
  const carried = (Math.imul(a, c) + (ad >>> 16) + (bc >>> 16) + (middle >>> 16)) | 0;
  return (carried + Math.imul(low, factorHigh) + Math.imul(high, factorLow)) | 0;
}
