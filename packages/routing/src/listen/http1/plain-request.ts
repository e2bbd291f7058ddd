import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { noteHasBody } from '@edge-gateway/core';
import { TAKEN, removeReceivedBody, setReceivedBody } from '../../http1/received-body.ts';
import type { PlainHead } from './plain-head.ts';

/** The part of the state of `IncomingMessage` that its parser sets. */
interface Internals {
  _consuming: boolean;
  readonly _readableState: { readingMore: boolean };
  _addHeaderLines(raw: string[], length: number): void;
  _dumpAndCloseReadable?(): void;
}

/** A request that was received completely before its handler starts. */
export class PlainRequest extends IncomingMessage {
  constructor(socket: Socket, { method, target, rawHeaders, contentLength }: PlainHead, body: Buffer | undefined) {
    super(socket);
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.httpVersion = '1.1';
    this.method = method;
    this.url = target;
    const internals = this as unknown as Internals & { upgrade: boolean };
    internals.upgrade = false;
    internals._addHeaderLines(rawHeaders, rawHeaders.length);
    noteHasBody(this, contentLength !== undefined && contentLength > 0);
    if (body && body.length > 0) setReceivedBody(this, body);
    // As `node:http` does with `optimizeEmptyRequests`.
    if (contentLength === undefined) this.#close();
  }

  /** Ends the stream without events: nothing will be read from it. */
  #close(): void {
    const internals = this as unknown as Internals;
    if (!internals._dumpAndCloseReadable) return;
    internals._dumpAndCloseReadable();
    this._read();
  }

  /** The body is complete: nothing more is read from the connection. */
  override _read(): void {
    const internals = this as unknown as Internals;
    if (internals._consuming) return;
    internals._consuming = true;
    internals._readableState.readingMore = false;
  }

  /** Pushes the body into the stream, unless it was taken: as in `node:http`, after the handler has started. */
  deliver(): void {
    const body = removeReceivedBody(this);
    if (body === TAKEN) this.#close();
    if (body === TAKEN || !body || this.destroyed) return this.finish();
    this.push(body);
    // `node:http` runs scheduled callbacks before it reports the end of a body.
    setImmediate(finish, this);
  }

  /** Ends the stream. */
  finish(): void {
    if (this.complete) return;
    this.complete = true;
    if (!this.destroyed) this.push(null);
  }
}

const finish = (req: PlainRequest): void => req.finish();
