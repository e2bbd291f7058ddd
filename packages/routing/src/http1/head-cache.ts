import { copyText } from './copy-text.ts';
import { hasHeader } from './flat-headers.ts';
import { readResponseHead, type ResponseHead } from './response-head.ts';

/** Maximum number of cached heads; beyond it all are dropped, because most of them contain a date. */
const MAX_HEADS = 64;
const MAX_LENGTH = 1024;

/** A parsed head and its text, including the blank line. */
export interface KnownHead {
  readonly head: ResponseHead;
  readonly text: string;
}

/**
 * Parses response heads, and caches them by their bytes: a server repeats the same head until its `Date` changes. Heads
 * that set a cookie are never cached.
 */
export class HeadCache {
  readonly #known = new Map<string, KnownHead>();
  readonly #bodiless = new Map<string, KnownHead>();
  #latest: KnownHead | undefined;
  #latestBodiless: KnownHead | undefined;

  /** Returns the most recent cached head if the bytes from `start` to `end` begin with it. */
  repeated(buffer: Buffer, start: number, end: number, bodiless: boolean): KnownHead | undefined {
    const latest = bodiless ? this.#latestBodiless : this.#latest;
    if (!latest) return undefined;
    const stop = start + latest.text.length;
    return stop <= end && buffer.toString('latin1', start, stop) === latest.text ? latest : undefined;
  }

  read(text: string, bodiless: boolean): ResponseHead {
    if (text.length > MAX_LENGTH) return readResponseHead(text, bodiless);
    const all = bodiless ? this.#bodiless : this.#known;
    let known = all.get(text);
    if (!known) {
      // The whole text may contain the body.
      const copy = copyText(text);
      const head = readResponseHead(copy, bodiless);
      if (hasHeader(head.headers, 'set-cookie')) return head;
      if (all.size >= MAX_HEADS) all.clear();
      known = { head: { ...head, lines: [] }, text: copyText(`${copy}\r\n`) };
      all.set(copy, known);
    }
    if (bodiless) this.#latestBodiless = known;
    else this.#latest = known;
    return known.head;
  }
}
