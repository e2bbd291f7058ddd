import { readResponseHead, type ResponseHead } from './response-head.ts';

/** Heads that are remembered; then they are forgotten all together, for most of them carry a date. */
const MAX_HEADS = 64;
/** Longer heads are not remembered. */
const MAX_LENGTH = 1024;

/**
 * Reads response heads, and those that have the same bytes as one before not again: a server repeats itself for as long as its
 * clock shows the same second. What sets a cookie is never kept.
 */
export class HeadCache {
  readonly #known = new Map<string, ResponseHead>();
  readonly #bodiless = new Map<string, ResponseHead>();

  /** See {@link readResponseHead}. */
  read(text: string, bodiless: boolean): ResponseHead {
    if (text.length > MAX_LENGTH) return readResponseHead(text, bodiless);
    const known = bodiless ? this.#bodiless : this.#known;
    let head = known.get(text);
    if (head) return head;
    // A part of a text keeps the whole of it in memory, and the body may stand behind this one.
    const copy = Buffer.from(text, 'latin1').toString('latin1');
    head = readResponseHead(copy, bodiless);
    if (setsCookie(head)) return head;
    if (known.size >= MAX_HEADS) known.clear();
    known.set(copy, head);
    return head;
  }
}

function setsCookie({ headers }: ResponseHead): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.length === 10 && headers[i]!.toLowerCase() === 'set-cookie') return true;
  }
  return false;
}
