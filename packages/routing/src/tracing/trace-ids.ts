import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4_096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Returns a random id of 8 or 16 bytes in hexadecimal, never only zeros. */
export function randomId(bytes: 8 | 16): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString('hex', used, used + bytes);
  used += bytes;
  return /[^0]/.test(id) ? id : randomId(bytes);
}
