import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import type { Reply, UpstreamConnection } from '../scenario.ts';
import { http2Fields } from './forms.ts';

/** Where the frames of a response go. */
export interface ReplySink {
  headers(fields: readonly Field[], ends: boolean): void;
  data(text: string, ends: boolean): void;
  /** Ends the connection. */
  end(): void;
  /** Resets the connection. */
  reset(): void;
}

/** A reply has no form in HTTP/2. */
class NoForm extends Error {}

/** Sends replies in HTTP/1.1 as frames, as they are written. Throws for what HTTP/2 has no form for. */
export class ReplyWriter implements UpstreamConnection {
  readonly #method: string;
  readonly #sink: ReplySink;
  readonly #isPlainConnect: boolean;
  #text = '';
  #state: 'head' | 'chunks' | 'until the end' | 'done' | number = 'head';

  /** `protocol` is that of an extended CONNECT request. */
  constructor(method: string, sink: ReplySink, protocol = '') {
    this.#method = method;
    this.#isPlainConnect = method === 'CONNECT' && protocol === '';
    this.#sink = sink;
  }

  readonly send = (text: string): void => {
    this.#text += text;
    while (this.#take());
  };

  readonly end = (): void => {
    if (this.#state === 'until the end') {
      this.#state = 'done';
      return this.#sink.data('', true);
    }
    this.#sink.end();
  };

  readonly reset = (): void => this.#sink.reset();

  #take(): boolean {
    if (this.#state === 'head') return this.#takeHead();
    if (this.#state === 'chunks') return this.#takeChunk();
    if (this.#text === '') return false;
    if (this.#state === 'done') throw new NoForm();
    const body = this.#text.slice(0, this.#state === 'until the end' ? undefined : this.#state);
    this.#text = this.#text.slice(body.length);
    if (typeof this.#state === 'number') this.#state -= body.length;
    const ends = this.#state === 0;
    if (ends) this.#state = 'done';
    this.#sink.data(body, ends);
    return this.#text !== '';
  }

  #takeHead(): boolean {
    const end = this.#text.indexOf('\r\n\r\n');
    const [line = '', ...lines] = this.#text.slice(0, Math.max(end, 0)).split('\r\n');
    if (end < 0) {
      if (this.#text.includes('\n\n')) throw new NoForm();
      return false;
    }
    const [, code] = /^HTTP\/1\.1 (\d{3}) /.exec(line) ?? [];
    const isTunnel =
      this.#method === 'CONNECT' && (code === '101' || (this.#isPlainConnect && code?.startsWith('2') === true));
    const all = http2Fields(isTunnel ? lines.filter((field) => !OF_HANDSHAKE.test(field)) : lines);
    if (code === undefined || !all) throw new NoForm();
    this.#text = this.#text.slice(end + 4);
    const fields: Field[] = [
      [':status', code === '101' && isTunnel ? '200' : code],
      ...all.filter(([name]) => name !== 'transfer-encoding'),
    ];
    const status = Number(fields[0]![1]);
    if (status === 101 || status > 599) throw new NoForm();
    if (status < 200) {
      this.#sink.headers(fields, false);
      return this.#text !== '';
    }
    const isBodiless = status === 204 || status === 304;
    if (isBodiless && this.#text !== '') throw new NoForm();
    if (this.#method === 'HEAD') this.#text = '';
    const length = all.find(([name]) => name === 'content-length')?.[1];
    const isEmpty = isBodiless || this.#method === 'HEAD' || length === '0';
    if (isTunnel) {
      this.#state = 'until the end';
      this.#sink.headers(fields, false);
      return this.#text !== '';
    }
    if (isEmpty) this.#state = 'done';
    else if (length !== undefined) this.#state = Number(length);
    else this.#state = all.some(([name]) => name === 'transfer-encoding') ? 'chunks' : 'until the end';
    this.#sink.headers(fields, isEmpty);
    return this.#text !== '';
  }

  #takeChunk(): boolean {
    const [line] = /^[\da-f]+(?:;[^\r\n]*)?\r\n/i.exec(this.#text) ?? [];
    if (line === undefined) {
      if (this.#text.includes('\n')) throw new NoForm();
      return false;
    }
    const size = Number.parseInt(line, 16);
    if (size === 0) return this.#takeTrailers(line.length);
    const chunk = this.#text.slice(line.length, line.length + size);
    if (this.#text.length < line.length + size + 2) return false;
    if (!this.#text.startsWith('\r\n', line.length + size)) throw new NoForm();
    this.#text = this.#text.slice(line.length + size + 2);
    this.#sink.data(chunk, false);
    return true;
  }

  #takeTrailers(start: number): boolean {
    if (this.#text.startsWith('\r\n', start)) this.#sink.data('', true);
    else {
      const end = this.#text.indexOf('\r\n\r\n', start);
      if (end < 0) return false;
      const trailers = http2Fields(this.#text.slice(start, end).split('\r\n'));
      if (!trailers) throw new NoForm();
      this.#sink.headers(trailers, true);
      start = end + 2;
    }
    this.#text = this.#text.slice(start + 2);
    this.#state = 'done';
    return this.#text !== '';
  }
}

const OF_HANDSHAKE = /^(?:connection|upgrade|sec-websocket-accept):/i;

const NOWHERE: ReplySink = { headers() {}, data() {}, end() {}, reset() {} };

/** Whether HTTP/2 has a form for a reply. */
export function hasHttp2Form(reply: Reply, method = 'GET'): boolean {
  if (typeof reply === 'object') return true;
  const writer = new ReplyWriter(method, NOWHERE);
  try {
    if (typeof reply === 'string') writer.send(reply);
    else reply(writer);
    return true;
  } catch (error) {
    if (error instanceof NoForm) return false;
    throw error;
  }
}
