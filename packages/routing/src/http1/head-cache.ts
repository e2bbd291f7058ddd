import { hasHeader } from './flat-headers.ts';
import { readResponseHead, type ResponseHead } from './response-head.ts';

/** Heads that are remembered; then they are forgotten all together, for most of them carry a date. */
const MAX_HEADS = 64;
const MAX_LENGTH = 1024;

/** A head that was read, and the whole text of it, with its blank line. */
export interface KnownHead {
  readonly head: ResponseHead;
  readonly text: string;
}

/**
 * Reads response heads, and those that have the same bytes as one before not again: a server repeats itself for as long as its
 * clock shows the same second. What sets a cookie is never kept.
 */
export class HeadCache {
  readonly #known = new Map<string, KnownHead>();
  readonly #bodiless = new Map<string, KnownHead>();
  #latest: KnownHead | undefined;
  #latestBodiless: KnownHead | undefined;

  /** The last of the remembered heads, if the bytes from `start` to `end` begin with the same. */
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
      // A part of a text keeps the whole of it in memory, and the body may stand behind this one.
      const copy = Buffer.from(text, 'latin1').toString('latin1');
      const head = readResponseHead(copy, bodiless);
      if (hasHeader(head.headers, 'set-cookie')) return head;
      if (all.size >= MAX_HEADS) all.clear();
      known = { head, text: Buffer.from(`${copy}\r\n`, 'latin1').toString('latin1') };
      all.set(copy, known);
    }
    if (bodiless) this.#latestBodiless = known;
    else this.#latest = known;
    return known.head;
  }
}
