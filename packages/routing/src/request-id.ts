import { randomFillSync } from 'node:crypto';

/** Number of ids for which random bytes are generated at once. */
const BATCH = 128;
const ID_BYTES = 16;
/** Positions of the hexadecimal digits of a byte in an id: `00000000-0000-4000-8000-000000000000`. */
const POSITIONS = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const DIGITS = Buffer.from('0123456789abcdef', 'latin1');

const random = new Uint8Array(BATCH * ID_BYTES);
let used = random.length;
const text = Buffer.alloc(36, '-', 'latin1');

/**
 * Returns a random UUID, version 4 (RFC 9562 §5.4), from the same source as `crypto.randomUUID`, whose result consists of twenty strings: here,
 * every use of it would join them.
 */
export function newRequestId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  for (let i = 0; i < ID_BYTES; i++) {
    const byte = withVersion(i, random[used + i]!);
    const at = POSITIONS[i]!;
    text[at] = DIGITS[byte >> 4]!;
    text[at + 1] = DIGITS[byte & 15]!;
  }
  used += ID_BYTES;
  return text.toString('latin1');
}

/** Sets the bits of the version and the variant. */
function withVersion(index: number, byte: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}
