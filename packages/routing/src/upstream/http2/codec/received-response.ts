const CAPITAL = /[A-Z]/;
const STATUS = /^[1-9]\d\d$/;
const LENGTH = /^\d{1,15}$/;
/** Names that a response over HTTP/2 must not have (RFC 9113 8.2.2). */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
const COLON = 58;

/** Checks that the frames of a stream are one valid response (RFC 9113 8.1), apart from the text of its headers. */
export class ReceivedResponse {
  readonly #isHead: boolean;
  /** The final head was received. */
  #hasHead = false;
  /** Bytes of the body that are still missing; undefined if its length is not known. */
  #left: number | undefined;

  /** `isHead` for the response to a HEAD request. */
  constructor(isHead: boolean) {
    this.#isHead = isHead;
  }

  /** Returns what these fields are; `undefined` if they are not valid here. */
  receiveFields(raw: readonly string[], isLast: boolean): 'interim' | 'head' | 'trailers' | undefined {
    if (this.#hasHead) {
      return isLast && !this.#left && areFields(raw, 0) ? 'trailers' : undefined;
    }
    const status = raw[1];
    if (raw[0] !== ':status' || !STATUS.test(status!) || !areFields(raw, 2)) return undefined;
    if (status!.startsWith('1')) return isLast ? undefined : 'interim';
    this.#hasHead = true;
    if (!this.#readLength(status!, raw)) return undefined;
    return isLast && this.#left ? undefined : 'head';
  }

  /** True after the final head. */
  get allowsData(): boolean {
    return this.#hasHead;
  }

  /** Returns false for data that is not as long as declared. */
  receiveData(bytes: number, isLast: boolean): boolean {
    if (this.#left === undefined) return true;
    this.#left -= bytes;
    return this.#left >= 0 && !(isLast && this.#left > 0);
  }

  #readLength(status: string, raw: readonly string[]): boolean {
    for (let i = 2; i < raw.length; i += 2) {
      if (raw[i] !== 'content-length') continue;
      const length = raw[i + 1]!.trim();
      if (this.#left !== undefined || !LENGTH.test(length)) return false;
      this.#left = Number(length);
    }
    if (this.#isHead || status === '204' || status === '304') this.#left = 0;
    return true;
  }
}

function areFields(raw: readonly string[], start: number): boolean {
  for (let i = start; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.charCodeAt(0) === COLON || CAPITAL.test(name) || FORBIDDEN.has(name)) return false;
    if (name === 'te' && raw[i + 1]!.trim() !== 'trailers') return false;
  }
  return true;
}
