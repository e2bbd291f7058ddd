import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { readResponseHead } from '../../http1/response-head.ts';
import { acceptOf } from '../../websocket/accept.ts';
import type { Http2Request } from './http2-request.ts';
import type { Http2Response } from './http2-response.ts';

/** Maximum size of a response head, in bytes. */
const MAX_HEAD_BYTES = 64 * 1024;
const SWITCHING = 101;

/** HTTP/1.1 handshake headers that do not exist over HTTP/2 (RFC 8441 §5). */
const HANDSHAKE = new Set(['connection', 'upgrade', 'sec-websocket-key']);

/** Turns the extended CONNECT of a WebSocket into the handshake of HTTP/1.1 that routes, policies and upstreams understand. */
export function toWebSocketHandshake(req: Http2Request): void {
  const key = randomBytes(16).toString('base64');
  const raw = req.rawHeaders.filter((_text, i, all) => !HANDSHAKE.has(all[i - (i % 2)]!));
  req.method = 'GET';
  req.rawHeaders = [...raw, 'connection', 'Upgrade', 'upgrade', 'websocket', 'sec-websocket-key', key];
  Object.assign(req.headers, { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': key });
}

/**
 * An HTTP/2 stream with the interface of the socket of an HTTP/1.1 upgrade. Written data starts with an HTTP/1.1 response head, which is
 * sent as HTTP/2 HEADERS; the rest belongs to the tunnel.
 */
export class UpgradeStream extends Duplex {
  readonly req: Http2Request;
  readonly #response: Http2Response;
  #bytesRead = 0;
  #bytesWritten = 0;
  /** The head as written so far; `undefined` once it was sent. */
  #head: string | undefined = '';
  #reads = false;

  constructor(req: Http2Request, response: Http2Response) {
    super({ highWaterMark: 64 * 1024 });
    this.req = req;
    this.#response = response;
    req.removeBodyLimits();
    this.on('error', () => {});
    response.once('close', this.#closed);
  }

  /** The response to a request that is not upgraded. */
  get response(): ServerResponse {
    return this.#response as unknown as ServerResponse;
  }

  get bytesRead(): number {
    return this.#bytesRead;
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }

  get localPort(): number | undefined {
    return this.#socket.localPort;
  }

  get #socket(): Socket {
    return this.req.socket;
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  /** Ends the stream after all written data was sent, without waiting for the client to end it. */
  destroySoon(): void {
    if (!this.writableEnded) this.end();
    const { stream } = this.#response;
    const close = (): void => void this.destroy();
    if (stream.writableFinished || stream.destroyed) close();
    else stream.once('finish', close);
  }

  override _read(): void {
    if (this.#reads) return void this.req.resume();
    this.#reads = true;
    this.req.on('data', this.#receive).on('end', () => this.push(null));
    this.req.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#bytesWritten += chunk.length;
    let data = chunk;
    if (this.#head !== undefined) {
      const before = this.#head.length;
      const text = this.#head + chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      this.#head = text;
      if (end < 0) return done(text.length > MAX_HEAD_BYTES ? new Error('the head is too long') : undefined);
      try {
        this.#sendHead(text.slice(0, end + 2));
      } catch (error) {
        return done(error as Error);
      }
      data = chunk.subarray(end + 4 - before);
    }
    if (data.length === 0) done();
    else this.#response.write(data, () => done());
  }

  override _final(done: () => void): void {
    if (this.#head === undefined) this.#response.end();
    else if (!this.#response.headersSent) this.#response.destroy();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const { stream } = this.#response;
    const isComplete = this.writableFinished && (this.req.complete || stream.writableFinished);
    // After a complete response, a reset only stops the upload (RFC 9113 §8.1).
    const isRejected = this.#head !== undefined && this.#response.headersSent;
    if (!stream.destroyed && !stream.closed && !isRejected) {
      if (!isComplete) this.#response.destroy(error ?? undefined);
      else if (!this.req.complete) stream.close();
    }
    this.req.release();
    done(error);
  }

  #sendHead(text: string): void {
    const { status, headers, framing } = readResponseHead(text, false);
    if (framing === 'chunked') throw new Error('a chunked response cannot be sent over HTTP/2');
    const isUpgraded = status === SWITCHING;
    const key = this.req.headers['sec-websocket-key'];
    const sent: string[] = [];
    let accepted: string | undefined;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!.toLowerCase();
      if (name === 'sec-websocket-accept') accepted = headers[i + 1];
      else sent.push(name, headers[i + 1]!);
    }
    // The client cannot verify it, because the gateway generated the key.
    if (isUpgraded && (typeof key !== 'string' || accepted !== acceptOf(key)))
      throw new Error('invalid Sec-WebSocket-Accept in the handshake response');
    this.#head = undefined;
    this.req.isTunnel = isUpgraded || status < 300;
    this.#response.writeHead(isUpgraded ? 200 : status, sent);
    this.#response.flushHeaders();
  }

  readonly #receive = (chunk: Buffer): void => {
    this.#bytesRead += chunk.length;
    if (!this.push(chunk)) this.req.pause();
  };

  readonly #closed = (): void => {
    if (this.destroyed) return;
    const isReset = !this.req.complete || !this.writableFinished;
    if (isReset) this.destroy(Object.assign(new Error('the client closed the stream'), { code: 'ECONNRESET' }));
    // What the client sent last may not be read yet: this stream ends with it.
    else if (!this.req.isTunnel) this.destroy();
  };
}
