import { addBlocks } from './xx-lanes.ts';

const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint): bigint => wrap(value << bits) | (value >> (64n - bits));
const round = (lane: bigint, input: bigint): bigint => wrap(rotate(wrap(lane + input * P2), 31n) * P1);

/**
 * Returns the xxHash64 of a text in UTF-8, an unsigned 64-bit number. It is the hash that Envoy uses, so that both choose the same
 * host.
 */
export function xxHash64(text: string, seed = 0n): bigint {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  let hash = seed + P5;
  let at = 0;
  if (length >= 32) {
    const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1].map(wrap);
    at = addBlocks(lanes, bytes);
    const [a, b, c, d] = lanes as [bigint, bigint, bigint, bigint];
    hash = wrap(rotate(a, 1n) + rotate(b, 7n) + rotate(c, 12n) + rotate(d, 18n));
    for (const lane of lanes) hash = wrap((hash ^ round(0n, lane)) * P1 + P4);
  }
  hash = wrap(hash + BigInt(length));
  for (; at + 8 <= length; at += 8) {
    hash = wrap(rotate(hash ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4);
  }
  if (at + 4 <= length) {
    hash = wrap(rotate(hash ^ wrap(BigInt(bytes.readUInt32LE(at)) * P1), 23n) * P2 + P3);
    at += 4;
  }
  for (; at < length; at++) hash = wrap(rotate(hash ^ wrap(BigInt(bytes[at]!) * P5), 11n) * P1);
  hash = wrap((hash ^ (hash >> 33n)) * P2);
  hash = wrap((hash ^ (hash >> 29n)) * P3);
  return hash ^ (hash >> 32n);
}
