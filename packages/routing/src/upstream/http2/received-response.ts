import { areFields, ReceivedMessage } from '../../http2/received-message.ts';

const STATUS = /^[1-9]\d\d$/;

/** Checks that the frames of a stream are one valid response (RFC 9113 8.1), apart from the text of its headers. */
export class ReceivedResponse extends ReceivedMessage {
  readonly #isHead: boolean;
  /** The final head was received. */
  #hasHead = false;

  /** `isHead` for the response to a HEAD request. */
  constructor(isHead: boolean) {
    super();
    this.#isHead = isHead;
  }

  /** Returns what these fields are; `undefined` if they are not valid here. */
  receiveFields(raw: readonly string[], isLast: boolean): 'interim' | 'head' | 'trailers' | undefined {
    if (this.#hasHead) {
      return isLast && !this.left && areFields(raw, 0) ? 'trailers' : undefined;
    }
    const status = raw[1];
    if (raw[0] !== ':status' || !STATUS.test(status!) || !areFields(raw, 2)) return undefined;
    if (status!.startsWith('1')) return isLast ? undefined : 'interim';
    this.#hasHead = true;
    if (!this.readLength(raw, 2)) return undefined;
    if (this.#isHead || status === '204' || status === '304') this.left = 0;
    return isLast && this.left ? undefined : 'head';
  }

  /** True after the final head. */
  get allowsData(): boolean {
    return this.#hasHead;
  }
}
