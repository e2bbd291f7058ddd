import { isHeaderName } from '@edge-gateway/core';
import { UpstreamProtocolError } from './errors.ts';
import { hasBrokenLines } from './flat-headers.ts';

/** Maximum length of the extensions of one chunk and of the trailers, in bytes. */
const MAX_EXTENSIONS = 4096;
const MAX_TRAILERS = 16 * 1024;
/** Maximum hexadecimal digits of a chunk size; a longer one would not be a safe integer. */
const MAX_DIGITS = 12;

const CR = 13;
const LF = 10;

type State = 'size' | 'extension' | 'sizeEnd' | 'data' | 'dataCr' | 'dataLf' | 'trailers';

const NO_TRAILERS: readonly string[] = [];

export type OnChunkData = (start: number, end: number) => void;

/**
 * Decodes a chunked body (RFC 9112 7.1). Bare line feeds, spaces in a chunk size, and framing headers in the trailers cause
 * an `UpstreamProtocolError`; extensions are dropped.
 */
export class ChunkReader {
  done = false;
  /** Flat `[name, value, …]`, once it is done. */
  trailers: readonly string[] = NO_TRAILERS;
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #extensions = 0;
  #text = '';

  /** Decodes from `start` to `end` and returns where it stopped: at `end`, or after the last chunk. */
  read(buffer: Buffer, range: { readonly start: number; readonly end: number }, onData: OnChunkData): number {
    const { end } = range;
    let at = range.start;
    while (at < end && !this.done) {
      switch (this.#state) {
        case 'data': {
          const stop = Math.min(end, at + this.#size);
          onData(at, stop);
          this.#size -= stop - at;
          at = stop;
          if (this.#size === 0) this.#state = 'dataCr';
          break;
        }
        case 'trailers':
          at = this.#readTrailers(buffer, at, end);
          break;
        default:
          this.#readByte(buffer[at++]!);
      }
    }
    return at;
  }

  #readByte(byte: number): void {
    switch (this.#state) {
      case 'size':
        return this.#readSize(byte);
      case 'extension':
        if (byte === CR) this.#state = 'sizeEnd';
        else if (++this.#extensions > MAX_EXTENSIONS || (byte < 32 && byte !== 9) || byte === 127) {
          throw new UpstreamProtocolError('a chunk extension is too long or has a control character');
        }
        return;
      case 'sizeEnd':
        if (byte !== LF) throw new UpstreamProtocolError('a chunk size does not end its line');
        this.#state = this.#size === 0 ? 'trailers' : 'data';
        this.#digits = 0;
        this.#extensions = 0;
        return;
      case 'dataCr':
        if (byte !== CR) throw new UpstreamProtocolError('a chunk is longer than its size');
        this.#state = 'dataLf';
        return;
      default:
        if (byte !== LF) throw new UpstreamProtocolError('a chunk does not end with a line break');
        this.#state = 'size';
    }
  }

  #readSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      if (++this.#digits > MAX_DIGITS) throw new UpstreamProtocolError('a chunk size is too large');
      this.#size = this.#size * 16 + digit;
    } else if (this.#digits > 0 && byte === CR) this.#state = 'sizeEnd';
    else if (this.#digits > 0 && byte === 0x3b) this.#state = 'extension';
    else throw new UpstreamProtocolError('a chunk size is not a number');
  }

  #readTrailers(buffer: Buffer, start: number, end: number): number {
    const before = this.#text.length;
    if (before === 0 && start + 1 < end && buffer[start] === CR && buffer[start + 1] === LF) {
      this.done = true;
      return start + 2;
    }
    this.#text += buffer.toString('latin1', start, Math.min(end, start + MAX_TRAILERS - before));
    const none = this.#text.startsWith('\r\n');
    const blank = none ? 0 : this.#text.indexOf('\r\n\r\n', Math.max(before - 3, 0)) + 2;
    if (!none && blank < 2) {
      if (this.#text.length >= MAX_TRAILERS) throw new UpstreamProtocolError('the trailers are too long');
      return end;
    }
    if (blank > 0) this.trailers = readTrailers(this.#text.slice(0, blank));
    this.done = true;
    return start + blank + 2 - before;
  }
}

function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function readTrailers(text: string): readonly string[] {
  if (hasBrokenLines(text)) {
    throw new UpstreamProtocolError('a trailer has a bare line break or a control character');
  }
  const flat: string[] = [];
  for (const line of text.split('\r\n').slice(0, -1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!isHeaderName(name)) throw new UpstreamProtocolError('a trailer name is not a token');
    const lower = name.toLowerCase();
    if (lower === 'content-length' || lower === 'transfer-encoding') {
      throw new UpstreamProtocolError('a trailer must not be a framing header');
    }
    flat.push(name, line.slice(colon + 1).trim());
  }
  return flat;
}
