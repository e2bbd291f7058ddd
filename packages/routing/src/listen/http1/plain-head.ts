import { isHeaderName, isHost } from '@edge-gateway/core';
import type { RequestRules } from '../../check/check-request.ts';

/** The head of a request in the plain grammar, and where the request ends. */
export interface PlainHead {
  readonly method: string;
  readonly target: string;
  /** Flat `[name, value, …]`, as received; the caller owns it. */
  readonly rawHeaders: string[];
  /** Length of the body in bytes; `undefined` without a `Content-Length`. */
  readonly contentLength: number | undefined;
  /** False with `Connection: close`. */
  readonly keepAlive: boolean;
  /** Offset of the body in the buffer. */
  readonly bodyStart: number;
}

/** The header lines of a request. */
interface HeaderBlock {
  readonly raw: readonly string[];
  readonly contentLength: number | undefined;
  readonly keepAlive: boolean;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Path characters of RFC 3986 that need no normalization. */
const TARGET = /^\/[\w\-.~!$&'()*+,;=:@%/?]*$/;
/** Visible ASCII, with spaces in between. */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;
const VERSION = ' HTTP/1.1';

/** Headers that affect parsing or rejection of a request. */
const UNUSUAL: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'proxy-connection',
  'keep-alive',
  'trailer',
  'http2-settings',
]);
/** Headers that may appear once. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'connection', 'content-length', 'content-type', 'authorization']);
/** Header lines of this size or larger are not cached. */
const MAX_REMEMBERED = 1_024;

/**
 * Reads the heads of requests in a plain subset of HTTP/1.1: a registered method, a path, one `Host`, at most one plain
 * `Content-Length`, headers of visible ASCII as nearly every client writes them. `node:http` parses every request that it accepts
 * identically, and `checkRequest` accepts it. All other requests are left to them.
 */
export class PlainHeadReader {
  readonly #rules: RequestRules;
  /** Cache of the last header lines of the connection: clients repeat them. */
  #text = '';
  #block: HeaderBlock | undefined;

  constructor(rules: RequestRules) {
    this.#rules = rules;
  }

  /** Returns the head at `start`, if all of it is within the buffer and in the plain grammar. */
  read(buffer: Buffer, start: number, end: number): PlainHead | undefined {
    const { maxHeadBytes, maxTargetBytes, maxBodyBytes } = this.#rules;
    let text = buffer.toString('latin1', start, Math.min(end, start + maxHeadBytes));
    const lineEnd = text.indexOf('\r\n');
    const headEnd = text.indexOf('\r\n\r\n', lineEnd);
    if (headEnd <= lineEnd || lineEnd < 0) return undefined;
    // What is cut out of a string, such as the remembered lines, keeps all of it in memory: here, the body.
    if (text.length > headEnd + 4) text = buffer.toString('latin1', start, start + headEnd + 4);
    const methodEnd = text.indexOf(' ');
    const targetEnd = lineEnd - VERSION.length;
    if (methodEnd >= targetEnd || !text.startsWith(VERSION, targetEnd)) return undefined;
    const method = text.slice(0, methodEnd);
    if (!METHODS.has(method)) return undefined;
    const target = text.slice(methodEnd + 1, targetEnd);
    if (target.length > maxTargetBytes || !TARGET.test(target)) return undefined;
    const block = this.#blockOf(text.slice(lineEnd + 2, headEnd + 2));
    if (!block) return undefined;
    const { contentLength, keepAlive } = block;
    if (contentLength !== undefined && maxBodyBytes > 0 && contentLength > maxBodyBytes) return undefined;
    return { method, target, rawHeaders: [...block.raw], contentLength, keepAlive, bodyStart: start + headEnd + 4 };
  }

  #blockOf(text: string): HeaderBlock | undefined {
    if (this.#block && text === this.#text) return this.#block;
    const block = readBlock(text, this.#rules);
    this.#block = block && text.length <= MAX_REMEMBERED ? block : undefined;
    this.#text = this.#block ? text : '';
    return block;
  }
}

function readBlock(text: string, { maxHeaders, refuseUnderscores }: RequestRules): HeaderBlock | undefined {
  const raw: string[] = [];
  let seen = 0;
  let hasHost = false;
  let contentLength: number | undefined;
  let keepAlive = true;
  for (let at = 0; at < text.length;) {
    const colon = text.indexOf(': ', at);
    const end = text.indexOf('\r\n', at);
    if (colon <= at || colon > end) return undefined;
    const name = text.slice(at, colon);
    const value = text.slice(colon + 2, end);
    at = end + 2;
    if (!isHeaderName(name) || !VALUE.test(value)) return undefined;
    raw.push(name, value);
    if (refuseUnderscores && name.includes('_')) return undefined;
    const lower = name.toLowerCase();
    if (UNUSUAL.has(lower)) return undefined;
    if (!SINGLE.has(lower)) continue;
    const bit = 1 << lower.length;
    if ((seen & bit) !== 0) return undefined;
    seen |= bit;
    if (lower === 'host') {
      if (!isHost(value)) return undefined;
      hasHost = true;
    } else if (lower === 'connection') {
      keepAlive = value !== 'close';
      if (keepAlive && value !== 'keep-alive' && value !== 'Keep-Alive') return undefined;
    } else if (lower === 'content-length') {
      if (!LENGTH.test(value)) return undefined;
      contentLength = Number(value);
    }
  }
  return hasHost && raw.length <= 2 * maxHeaders ? { raw, contentLength, keepAlive } : undefined;
}
