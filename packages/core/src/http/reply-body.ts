import { isUtf8 } from 'node:buffer';

/** The body of a response: text, or bytes that are not UTF-8. */
export type ReplyBody = string | Buffer;

/**
 * Returns the body of a response with the bytes that a server sent: as text if they are UTF-8.
 *
 * @example
 * replyBody(Buffer.from('no')); // 'no'
 */
export function replyBody(bytes: Buffer): ReplyBody {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes;
}
