import type { BodyBytes } from './body-bytes.ts';

/** Size of a slot in bytes. The connection of a client that does not read occupies one. */
export const BUFFER_BYTES = 4 * 1024;
/** Maximum number of slots that wait to be reused. */
const MAX_FREE = 32;

const free: Buffer[] = [];

/** Returns a buffer for a short message. Its only user passes it to {@link releaseBuffer}, or drops it. */
export const acquireBuffer = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);

/** Makes a slot available again. Its data must no longer be needed. */
export function releaseBuffer(slot: Buffer): void {
  if (free.length < MAX_FREE) free.push(slot);
}

/** Fills a slot with a head and its body, one byte for each character. */
export function fillBuffer(slot: Buffer, head: string, body: string | BodyBytes | undefined): void {
  const length = slot.write(head, 0, 'latin1');
  if (body === undefined) return;
  if (typeof body === 'string') slot.write(body, length, 'latin1');
  else body.buffer.copy(slot, length, body.start, body.end);
}
