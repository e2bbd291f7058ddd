import { decodeContent, replyBody, type ReplyBody } from '@edge-gateway/core';
import { MAX_ANSWER_BYTES } from './ask.ts';

/**
 * Returns the body of a denial that an auth server sent with a `content-encoding`. It is decoded unless the client receives that header; empty if
 * it cannot be decoded, because the denial counts.
 *
 * @example
 * denialBody(answer.body, 'gzip', []); // the text
 */
export function denialBody(bytes: Buffer, coding: string | undefined, headers: readonly string[]): ReplyBody {
  const isPassedOn = headers.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-encoding');
  if (isPassedOn) return replyBody(bytes);
  try {
    return replyBody(decodeContent(bytes, coding, MAX_ANSWER_BYTES));
  } catch {
    return '';
  }
}
