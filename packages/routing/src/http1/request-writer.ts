import type { Socket } from 'node:net';
import { queueMessage } from './queued-messages.ts';
import type { BodySink, RequestBody } from './request-body.ts';
import { free, freeWhenSent } from './spare-buffers.ts';
import { trailerLines } from './trailers.ts';

/** Maximum size of a body that is sent in one write with the head, in bytes. */
export const SMALL_BODY = 16 * 1024;

/** Writes a request whose body is streamed, with back-pressure. */
export class RequestWriter implements BodySink {
  readonly #socket: Socket;
  readonly #body: RequestBody;
  readonly #chunked: boolean;
  #head: string;
  #left: number;
  written = 0;

  constructor(socket: Socket, head: string, body: RequestBody) {
    this.#socket = socket;
    this.#body = body;
    this.#head = head;
    this.#chunked = body.length === undefined;
    this.#left = body.length ?? 0;
  }

  start(): void {
    this.#body.start(this);
    // Body data that was already received is sent with the head.
    process.nextTick(flush, this);
  }

  resume(): void {
    this.#body.resume();
  }

  flush(): void {
    if (this.#head === '' || this.#socket.destroyed) return;
    this.written += this.#head.length;
    this.#socket.write(this.#head, 'latin1');
    this.#head = '';
  }

  onChunk(chunk: Buffer, isOwned = false): void {
    const { length } = chunk;
    if (!this.#chunked && length > this.#left) {
      // The upstream would read excess bytes as another request.
      this.#socket.destroy(new Error('the body is longer than its content-length'));
      return;
    }
    const before = this.#chunked ? `${this.#head}${length.toString(16)}\r\n` : this.#head;
    const after = this.#chunked ? '\r\n' : '';
    this.#head = '';
    this.#left -= length;
    this.written += before.length + length + after.length;
    if (!this.#write(before, chunk, after, isOwned)) this.#body.pause();
  }

  onBodyError(error: Error): void {
    this.#socket.destroy(error);
  }

  onBodyEnd(): void {
    if (this.#socket.destroyed) return;
    if (!this.#chunked) {
      this.flush();
      // The upstream would read the next request as the missing bytes.
      if (this.#left !== 0) this.#socket.destroy(new Error('the body is shorter than its content-length'));
      return;
    }
    const last = `${this.#head}0\r\n${trailerLines(this.#body.trailers)}\r\n`;
    this.#head = '';
    this.written += last.length;
    this.#socket.write(last, 'latin1');
  }

  #write(before: string, chunk: Buffer, after: string, isOwned: boolean): boolean {
    const socket = this.#socket;
    const hasFrame = before !== '' || after !== '';
    if (hasFrame && chunk.length <= SMALL_BODY) {
      const text = before + chunk.toString('latin1') + after;
      if (isOwned) free(chunk);
      return socket.write(text, 'latin1');
    }
    const sent = isOwned ? freeWhenSent(chunk, socket) : undefined;
    if (!hasFrame) return socket.write(chunk, sent);
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    let more = socket.write(chunk, sent);
    if (after !== '') more = socket.write(after, 'latin1');
    socket.uncork();
    return more;
  }
}

const flush = (writer: RequestWriter): void => writer.flush();

/** Writes a request with a buffered body, if any. */
export function writeBuffered(socket: Socket, head: string, body: Buffer | undefined): void {
  if (body === undefined || body.length === 0) return queueMessage(socket, head);
  if (body.length <= SMALL_BODY) return queueMessage(socket, head, { buffer: body, start: 0, end: body.length });
  socket.cork();
  socket.write(head, 'latin1');
  socket.write(body);
  socket.uncork();
}
