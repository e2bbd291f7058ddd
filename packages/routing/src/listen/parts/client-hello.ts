/** The part of a ClientHello that chooses how its connection is served. */
export interface ClientHello {
  /** Lower case; empty without a server name. */
  readonly serverName: string;
  /** Numbers of the offered cipher suites, in the order of the client. */
  readonly ciphers: readonly number[];
}

/** `undefined` if more bytes are needed. */
export type ParsedHello =
  | { readonly type: 'hello'; readonly hello: ClientHello }
  | { readonly type: 'notTls' }
  | { readonly type: 'tooLarge' }
  | { readonly type: 'invalid' }
  | undefined;

/** Maximum length of the message, as in Envoy. */
const MAX_HELLO = 16_384;
/** Maximum number of records: each is looked at again with every read. */
const MAX_RECORDS = 256;
const RECORD_HEADER = 5;
const MAX_RECORD = 16_384;
const MESSAGE_HEADER = 4;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const MAJOR_VERSION = 3;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** Visible ASCII without separators of logs and paths. */
const NAME = /^[a-z0-9._-]{1,255}$/i;

const NOT_TLS: ParsedHello = { type: 'notTls' };
const INVALID: ParsedHello = { type: 'invalid' };
const TOO_LARGE: ParsedHello = { type: 'tooLarge' };

/** Parses the ClientHello at the start of a connection, without accepting more than it needs. */
export function parseClientHello(bytes: Buffer): ParsedHello {
  if (bytes.length === 0) return undefined;
  if (bytes[0] !== HANDSHAKE || (bytes.length > 1 && bytes[1] !== MAJOR_VERSION)) return NOT_TLS;
  const fragments: Buffer[] = [];
  let length = 0;
  let needed = Number.POSITIVE_INFINITY;
  for (let at = 0; length < needed;) {
    if (bytes.length < at + RECORD_HEADER) return undefined;
    const size = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== MAJOR_VERSION || size === 0 || size > MAX_RECORD) return INVALID;
    if (fragments.length === MAX_RECORDS) return TOO_LARGE;
    at += RECORD_HEADER;
    const fragment = bytes.subarray(at, at + size);
    fragments.push(fragment);
    length += fragment.length;
    if (length >= MESSAGE_HEADER && needed === Number.POSITIVE_INFINITY) {
      const header = startOf(fragments);
      if (header[0] !== CLIENT_HELLO) return INVALID;
      needed = MESSAGE_HEADER + header.readUIntBE(1, 3);
      if (needed > MAX_HELLO) return TOO_LARGE;
    }
    if (length < needed && fragment.length < size) return undefined;
    at += size;
  }
  const message = Buffer.concat(fragments).subarray(MESSAGE_HEADER, needed);
  const hello = helloOf(new Fields(message));
  return hello ? { type: 'hello', hello } : INVALID;
}

function startOf(fragments: readonly Buffer[]): Buffer {
  const [first] = fragments;
  return first && first.length >= MESSAGE_HEADER ? first : Buffer.concat(fragments);
}

function helloOf(fields: Fields): ClientHello | undefined {
  fields.skip(34); // version and random
  const session = fields.vector(1);
  const suites = fields.vector(2);
  const compression = fields.vector(1);
  if (fields.failed || session.length > 32 || compression.length === 0) return undefined;
  if (suites.length === 0 || suites.length % 2 !== 0) return undefined;
  const ciphers = Array.from({ length: suites.length / 2 }, (_, i) => suites.readUInt16BE(2 * i));
  if (fields.isAtEnd) return { serverName: '', ciphers };
  const serverName = serverNameOf(new Fields(fields.vector(2)));
  return fields.failed || !fields.isAtEnd || serverName === undefined ? undefined : { serverName, ciphers };
}

/** Returns the server name of the extensions, empty without one; `undefined` if they are malformed. */
function serverNameOf(extensions: Fields): string | undefined {
  let name = '';
  let isGiven = false;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.vector(2);
    if (extensions.failed) return undefined;
    if (type !== SERVER_NAME) continue;
    const found = isGiven ? undefined : hostNameOf(new Fields(content));
    if (found === undefined) return undefined;
    isGiven = true;
    name = found;
  }
  return name;
}

function hostNameOf(extension: Fields): string | undefined {
  const list = new Fields(extension.vector(2));
  const type = list.number(1);
  const name = list.vector(2).toString('latin1');
  const isComplete = !extension.failed && extension.isAtEnd && !list.failed && list.isAtEnd;
  return isComplete && type === HOST_NAME && NAME.test(name) ? name.toLowerCase() : undefined;
}

/** Reads numbers and vectors one after another; `failed` if they go beyond the end. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;
  failed = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.failed || this.#at === this.#bytes.length;
  }

  skip(length: number): void {
    this.#take(length);
  }

  number(width: 1 | 2): number {
    const at = this.#take(width);
    return this.failed ? 0 : this.#bytes.readUIntBE(at, width);
  }

  /** Reads bytes that their length precedes. */
  vector(width: 1 | 2): Buffer {
    const length = this.number(width);
    const at = this.#take(length);
    return this.failed ? this.#bytes.subarray(0, 0) : this.#bytes.subarray(at, at + length);
  }

  #take(length: number): number {
    const at = this.#at;
    if (this.failed || at + length > this.#bytes.length) this.failed = true;
    else this.#at += length;
    return at;
  }
}
