import { ServerResponse, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isHeaderBytes } from '@edge-gateway/core';
import { bodyLength, bodyText, type BodyBytes } from '../../http1/body-bytes.ts';
import { queueMessage } from '../../http1/queued-messages.ts';
import type { ResponseHead } from '../../http1/response-head.ts';
import { currentDate } from './current-date.ts';
import { headerLines } from './header-lines.ts';

/** The part of a response that its server sets or reads. */
interface Internals {
  _keepAliveTimeout: number;
  _maxRequestsPerSocket: number;
  /** True if the connection closes with this response. */
  _last: boolean;
  _closed: boolean;
  _header: string | null;
  _headerSent: boolean;
  readonly _removedConnection?: boolean;
  /** Writes data after the head, which it writes too if that is still missing. */
  _send(data: string, encoding: BufferEncoding, callback?: Finish, length?: number): boolean;
}
type Carrier = Socket & { _httpMessage?: ServerResponse | null };

/** The declared type lacks the second parameter, which its server passes. */
const NodeResponse = ServerResponse as unknown as new (
  req: IncomingMessage,
  options: object,
) => ServerResponse & Internals;
type Finish = (error?: Error | null) => void;
const { writeHead, write, end } = ServerResponse.prototype;

/** A response that a server of `node:http` could have created, for a connection that has no other response in progress. */
export class PlainResponse extends NodeResponse {
  /** True if it was sent with its head in one write. */
  isWhole = false;
  /** The body that {@link end} sends together with the head. */
  #body: string | BodyBytes | undefined;

  constructor(req: IncomingMessage, socket: Socket, keepAliveTimeoutMs: number) {
    super(req, { highWaterMark: socket.writableHighWaterMark });
    this._keepAliveTimeout = keepAliveTimeoutMs;
    this._maxRequestsPerSocket = 0;
  }

  /** Lets the response write to its connection, without the listeners of `assignSocket`. */
  attach(socket: Socket): void {
    (socket as Carrier)._httpMessage = this;
    (this as { socket: Socket | null }).socket = socket;
  }

  /** Undoes {@link attach}. */
  detach(socket: Socket): void {
    (socket as Carrier)._httpMessage = null;
    (this as { socket: Socket | null }).socket = null;
  }

  /**
   * Sends a complete response in one write, byte for byte like `writeHead` and `end`. Returns false, and does nothing, if those have to send
   * it: they were replaced, headers were set before, the head is invalid or unusual, or its length is not that of the body. `received` is the
   * head of an upstream that most headers come from.
   */
  sendWhole(status: number, flat: readonly string[], body: BodyBytes | string, received?: ResponseHead): boolean {
    if (!this.#isUntouched() || this.req.method === 'HEAD' || status < 200 || status === 204 || status === 304)
      return false;
    const lines = headerLines(flat, bodyLength(body), received);
    if (lines === undefined) return false;
    const message = this.statusMessage || STATUS_CODES[status] || 'unknown';
    const date = lines.hasDate || !this.sendDate ? '' : `Date: ${currentDate()}\r\n`;
    const head = `HTTP/1.1 ${status} ${message}\r\n${lines.text}${date}${this.#connectionLines()}\r\n`;
    this.statusCode = status;
    this.statusMessage = message;
    this._header = head;
    this.#endWith(body);
    return true;
  }

  /** Sends the head and this body, and ends the response. */
  #endWith(body: string | BodyBytes): void {
    const socket = this.socket as Carrier | null;
    // `end` sends the head with its first bytes, and knows what to do without a usable connection.
    if (!socket?.writable || socket._httpMessage !== this) return void this.end(bodyText(body), 'latin1');
    this.#body = body;
    this.end();
  }

  /** Called by `end` for the rest of the response: here, all of it. Given the body, `end` would cork the connection and queue it. */
  override _send(data: string, encoding: BufferEncoding, callback?: Finish, length?: number): boolean {
    const body = this.#body;
    if (body === undefined) return super._send(data, encoding, callback, length);
    this.#body = undefined;
    this._headerSent = this.isWhole = true;
    queueMessage(this.socket!, this._header!, body, callback);
    return true;
  }

  /** True if the response has not begun, and nothing else handles it. */
  #isUntouched(): boolean {
    if (this.headersSent || this.writableEnded || this._removedConnection === true) return false;
    // `writeHead` throws then.
    if (this.statusMessage && !isHeaderBytes(this.statusMessage)) return false;
    if (this.writeHead !== writeHead || this.write !== write || this.end !== end) return false;
    return this.getHeaderNames().length === 0;
  }

  #connectionLines(): string {
    if (!this.shouldKeepAlive) {
      this._last = true;
      return 'Connection: close\r\n';
    }
    const seconds = Math.floor(this._keepAliveTimeout / 1_000);
    const keepAlive = this._keepAliveTimeout > 0 ? `Keep-Alive: timeout=${seconds}\r\n` : '';
    return `Connection: keep-alive\r\n${keepAlive}`;
  }
}
