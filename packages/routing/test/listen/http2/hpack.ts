/** A header field: name and value. */
export type Field = readonly [name: string, value: string];

/** The static table (RFC 7541 appendix A), from index 1. */
const STATIC: readonly Field[] = `
  :authority
  :method: GET
  :method: POST
  :path: /
  :path: /index.html
  :scheme: http
  :scheme: https
  :status: 200
  :status: 204
  :status: 206
  :status: 304
  :status: 400
  :status: 404
  :status: 500
  accept-charset
  accept-encoding: gzip, deflate
  accept-language
  accept-ranges
  accept
  access-control-allow-origin
  age
  allow
  authorization
  cache-control
  content-disposition
  content-encoding
  content-language
  content-length
  content-location
  content-range
  content-type
  cookie
  date
  etag
  expect
  expires
  from
  host
  if-match
  if-modified-since
  if-none-match
  if-range
  if-unmodified-since
  last-modified
  link
  location
  max-forwards
  proxy-authenticate
  proxy-authorization
  range
  referer
  refresh
  retry-after
  server
  set-cookie
  strict-transport-security
  transfer-encoding
  user-agent
  vary
  via
  www-authenticate
`
  .trim()
  .split('\n')
  .map((line): Field => {
    const [name, value = ''] = line.trim().split(': ');
    return [name!, value];
  });

/** Lengths of the Huffman codes of all bytes and of the end (RFC 7541 appendix B), which are canonical. */
const CODE_LENGTHS = `
  13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28 6 10 10 12 13 6 8
  11 10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13
  19 13 14 6 15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28 20 22 20 20 22 22 22 23 22 23 23
  23 23 23 24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21
  21 22 21 23 22 23 23 20 22 22 22 23 22 22 23 26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27
  24 21 21 26 26 28 27 27 27 20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27
  27 27 26 30
`
  .trim()
  .split(/\s+/)
  .map(Number);

/** Symbols by code, which is written in binary digits. */
const SYMBOLS = ((): ReadonlyMap<string, number> => {
  const order = CODE_LENGTHS.map((_, symbol) => symbol).toSorted(
    (one, other) => CODE_LENGTHS[one]! - CODE_LENGTHS[other]! || one - other,
  );
  const symbols = new Map<string, number>();
  let code = 0;
  let length = CODE_LENGTHS[order[0]!]!;
  for (const symbol of order) {
    code *= 2 ** (CODE_LENGTHS[symbol]! - length);
    length = CODE_LENGTHS[symbol]!;
    symbols.set(code.toString(2).padStart(length, '0'), symbol);
    code++;
  }
  return symbols;
})();

/** Decodes the header blocks of one direction of a connection, and checks nothing else. */
export class HpackDecoder {
  #dynamic: Field[] = [];
  #maxSize = 4096;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;

  /** Returns the fields of a block, as they were sent. Throws a `RangeError` for an invalid one. */
  decode(block: Buffer): Field[] {
    this.#block = block;
    this.#at = 0;
    const fields: Field[] = [];
    while (this.#at < block.length) {
      const first = block[this.#at]!;
      if (first >= 0x80) fields.push(this.#entry(this.#integer(7)));
      else if (first >= 0x40) fields.push(this.#add(this.#literal(6)));
      else if (first >= 0x20) this.#resize(this.#integer(5));
      else fields.push(this.#literal(4));
    }
    return fields;
  }

  #literal(bits: number): Field {
    const index = this.#integer(bits);
    return [index === 0 ? this.#string() : this.#entry(index)[0], this.#string()];
  }

  #entry(index: number): Field {
    const entry = index <= STATIC.length ? STATIC[index - 1] : this.#dynamic[index - STATIC.length - 1];
    if (!entry) throw new RangeError(`no field has the index ${index}`);
    return entry;
  }

  #add(field: Field): Field {
    this.#dynamic.unshift(field);
    this.#resize(this.#maxSize);
    return field;
  }

  #resize(size: number): void {
    this.#maxSize = size;
    let used = 0;
    const kept = this.#dynamic.findIndex(([name, value]) => (used += name.length + value.length + 32) > size);
    if (kept >= 0) this.#dynamic.length = kept;
  }

  #integer(bits: number): number {
    const max = 2 ** bits - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let unit = 1, byte = 0x80; byte >= 0x80; unit *= 128) {
      byte = this.#byte();
      value += (byte & 0x7f) * unit;
    }
    return value;
  }

  #string(): string {
    const isHuffman = this.#block[this.#at]! >= 0x80;
    const length = this.#integer(7);
    const bytes = this.#block.subarray(this.#at, (this.#at += length));
    if (bytes.length < length) throw new RangeError('the block ends within a string');
    return isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1');
  }

  #byte(): number {
    const byte = this.#block[this.#at++];
    if (byte === undefined) throw new RangeError('the block ends within a field');
    return byte;
  }
}

function decodeHuffman(bytes: Buffer): string {
  let text = '';
  let code = '';
  for (const byte of bytes)
    for (const bit of byte.toString(2).padStart(8, '0')) {
      const symbol = SYMBOLS.get((code += bit));
      if (symbol === undefined) continue;
      text += String.fromCharCode(symbol);
      code = '';
    }
  return text;
}
