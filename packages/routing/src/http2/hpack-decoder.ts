import { decodeHuffman } from './huffman.ts';
import { STATIC_NAMES, STATIC_SIZE, STATIC_VALUES } from './static-table.ts';

/** Size of the dynamic table that a peer may use (RFC 9113 6.5.2). */
const TABLE_BYTES = 4096;
/** What an entry counts besides its text (RFC 7541 4.1). */
const ENTRY_OVERHEAD = 32;
/** No valid integer is longer: the value fits in 28 bits. */
const MAX_INTEGER_BYTES = 4;
/** Longest block that is remembered. */
const MAX_REMEMBERED = 4096;

/** A header block is invalid: the connection cannot be used further. */
export class CompressionError extends Error {}

/** A header list. */
export interface DecodedFields {
  /** Flat: name, value, and so on. */
  readonly raw: readonly string[];
  /** The list is longer than allowed: `raw` has only a part of it. */
  readonly isTooLong: boolean;
}

/** Decodes the header blocks that a peer sends on one connection (RFC 7541). */
export class HpackDecoder {
  readonly #maxListBytes: number;
  readonly #maxFields: number;
  /** The dynamic table, the oldest entry first: name and value in turn. */
  #table: string[] = [];
  #tableBytes = 0;
  #maxTableBytes = TABLE_BYTES;
  #block: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  /** Set if a block changes the dynamic table, or depends on it. */
  #usesTable = false;
  /** The last block that neither changes nor uses the dynamic table, and what it contains: most responses of a server are alike. */
  #lastBlock = '';
  #last: DecodedFields = { raw: [], isTooLong: false };

  /** `maxListBytes` is the maximum size of a list: names and values without the overhead of RFC 7541. */
  constructor(maxListBytes: number, maxFields = Infinity) {
    this.#maxListBytes = maxListBytes;
    this.#maxFields = maxFields;
  }

  /** Decodes a whole block. Throws a {@link CompressionError} for an invalid one. */
  decode(block: Buffer, start: number, end: number): DecodedFields {
    if (this.#lastBlock.length === end - start) {
      const text = block.toString('latin1', start, end);
      if (text === this.#lastBlock) return this.#last;
    }
    this.#block = block;
    this.#at = start;
    this.#end = end;
    this.#usesTable = false;
    const decoded = this.#decodeAll();
    this.#block = NONE;
    if (!this.#usesTable && end - start <= MAX_REMEMBERED) {
      this.#lastBlock = block.toString('latin1', start, end);
      this.#last = decoded;
    }
    return decoded;
  }

  #decodeAll(): DecodedFields {
    const raw: string[] = [];
    let bytes = 0;
    let isTooLong = false;
    let allowsResize = true;
    while (this.#at < this.#end) {
      const first = this.#block[this.#at]!;
      if ((first & 0xe0) === 0x20) {
        if (!allowsResize) throw new CompressionError('a table size update follows a field');
        this.#resize(this.#integer(5));
        continue;
      }
      allowsResize = false;
      let name: string;
      let value: string;
      if (first >= 0x80) {
        const index = this.#integer(7);
        name = this.#nameAt(index);
        value = index <= STATIC_SIZE ? STATIC_VALUES[index]! : this.#table[this.#slot(index) + 1]!;
      } else {
        const isAdded = first >= 0x40;
        const index = this.#integer(isAdded ? 6 : 4);
        name = index === 0 ? this.#string() : this.#nameAt(index);
        value = this.#string();
        if (isAdded) this.#add(name, value);
      }
      bytes += name.length + value.length;
      if (bytes > this.#maxListBytes || raw.length >= 2 * this.#maxFields) isTooLong = true;
      // The rest is decoded nevertheless: later blocks depend on the table.
      else raw.push(name, value);
    }
    return { raw, isTooLong };
  }

  #nameAt(index: number): string {
    if (index === 0) throw new CompressionError('no field has the index 0');
    return index <= STATIC_SIZE ? STATIC_NAMES[index]! : this.#table[this.#slot(index)]!;
  }

  /** Returns where the entry with an index is. */
  #slot(index: number): number {
    this.#usesTable = true;
    const slot = this.#table.length - 2 * (index - STATIC_SIZE);
    if (slot < 0) throw new CompressionError(`no field has the index ${index}`);
    return slot;
  }

  #add(name: string, value: string): void {
    this.#usesTable = true;
    const bytes = name.length + value.length + ENTRY_OVERHEAD;
    this.#evict(this.#maxTableBytes - bytes);
    if (bytes > this.#maxTableBytes) return;
    this.#table.push(name, value);
    this.#tableBytes += bytes;
  }

  #resize(bytes: number): void {
    this.#usesTable = true;
    if (bytes > TABLE_BYTES) throw new CompressionError(`the table size ${bytes} is larger than ${TABLE_BYTES}`);
    this.#maxTableBytes = bytes;
    this.#evict(bytes);
  }

  #evict(maxBytes: number): void {
    let removed = 0;
    while (this.#tableBytes > maxBytes && removed < this.#table.length) {
      this.#tableBytes -= this.#table[removed]!.length + this.#table[removed + 1]!.length + ENTRY_OVERHEAD;
      removed += 2;
    }
    if (removed > 0) this.#table.splice(0, removed);
  }

  #integer(bits: number): number {
    const max = (1 << bits) - 1;
    let value = this.#byte() & max;
    if (value < max) return value;
    for (let shift = 0; shift < 7 * MAX_INTEGER_BYTES; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new CompressionError('an integer is too large');
  }

  #string(): string {
    if (this.#at >= this.#end) throw new CompressionError('a header block ends within a field');
    const isHuffman = this.#block[this.#at]! >= 0x80;
    const length = this.#integer(7);
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw new CompressionError('a header block ends within a string');
    this.#at = end;
    if (!isHuffman) return this.#block.toString('latin1', start, end);
    const text = decodeHuffman(this.#block, start, end);
    if (text === undefined) throw new CompressionError('a string is not encoded correctly');
    return text;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new CompressionError('a header block ends within a field');
    return this.#block[this.#at++]!;
  }
}

const NONE = Buffer.alloc(0);
