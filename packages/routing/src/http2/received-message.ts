const CAPITAL = /[A-Z]/;
const LENGTH = /^\d{1,15}$/;
/** Names that a message over HTTP/2 must not have (RFC 9113 8.2.2). */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
const COLON = 58;

/** What requests and responses on a stream have in common (RFC 9113 8.1). */
export abstract class ReceivedMessage {
  /** Bytes of the body that are still missing; undefined if its length is not known. */
  protected left: number | undefined;

  /** Returns false for data that is not as long as declared. */
  receiveData(bytes: number, isLast: boolean): boolean {
    if (this.left === undefined) return true;
    this.left -= bytes;
    return this.left >= 0 && !(isLast && this.left > 0);
  }

  /** Reads the declared length. Returns false if it is invalid. */
  protected readLength(raw: readonly string[], start: number): boolean {
    for (let i = start; i < raw.length; i += 2) {
      if (raw[i] !== 'content-length') continue;
      const length = raw[i + 1]!.trim();
      if (this.left !== undefined || !LENGTH.test(length)) return false;
      this.left = Number(length);
    }
    return true;
  }
}

/** Returns false if one of the fields from `start` on must not be in a head or in trailers, apart from their text. */
export function areFields(raw: readonly string[], start: number): boolean {
  for (let i = start; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.charCodeAt(0) === COLON || CAPITAL.test(name) || FORBIDDEN.has(name)) return false;
    if (name === 'te' && raw[i + 1]!.trim() !== 'trailers') return false;
  }
  return true;
}
