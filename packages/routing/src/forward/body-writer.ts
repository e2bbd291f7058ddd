import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { releasesChunks } from '../http1/read-buffer.ts';
import { freeWhenSent, isPooledView, recycleView } from '../http1/spare-buffers.ts';
import type { Channel } from '../upstream/channel.ts';

/** Data in the current read buffer of a channel. */
interface Received {
  readonly channel: Channel;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * Writes the body of a response as it is received. If no other middleware handles the response, chunks are written from the read buffer
 * directly to the client socket. Most are sent before the next read, so they are neither copied nor queued.
 */
export class BodyWriter {
  readonly #res: ServerResponse;
  readonly #onSent: () => void;
  #isHeadSent = false;
  #waitsForDrain = false;

  /** `onSent` is called when more can be written after {@link write} returned false, and possibly at other times. */
  constructor(res: ServerResponse, onSent: () => void) {
    this.#res = res;
    this.#onSent = onSent;
  }

  /** Sends the response head without body. */
  flushHead(): void {
    this.#isHeadSent = true;
    this.#res.flushHeaders();
  }

  /** Writes the data that a channel has just read. Returns false if some of it is queued. */
  write(channel: Channel, buffer: Buffer, start: number, end: number): boolean {
    const socket = this.#directSocket();
    if (socket) return this.#send(socket, { channel, buffer, start, end });
    this.#isHeadSent = true;
    if (!this.#waitsForDrain) {
      this.#waitsForDrain = true;
      this.#res.on('drain', this.#onSent);
    }
    return write(this.#res, channel.keep(buffer, start, end));
  }

  /** Writes the last part of the body and ends the response. */
  end(channel: Channel, buffer: Buffer, start: number, end: number): void {
    const socket = this.#directSocket();
    if (!socket) return void this.#res.end(channel.keep(buffer, start, end));
    this.#send(socket, { channel, buffer, start, end });
    this.#res.end();
  }

  /** The response has ended, or was handed over. */
  release(): void {
    if (this.#waitsForDrain) this.#res.off('drain', this.#onSent);
  }

  /** Returns the socket if the body can be written to it directly and nothing else keeps the data. */
  #directSocket(): Socket | undefined {
    const res = this.#res;
    const { socket } = res;
    if (!socket || res.chunkedEncoding || res.req.method === 'HEAD' || res.strictContentLength) return undefined;
    if (res.write !== ServerResponse.prototype.write || socket.write !== Duplex.prototype.write) return undefined;
    return res.writableLength === socket.writableLength ? socket : undefined;
  }

  #send(socket: Socket, { channel, buffer, start, end }: Received): boolean {
    const isOwned = channel.owns(buffer);
    const chunk = isOwned ? buffer.subarray(start, end) : channel.keep(buffer, start, end);
    let isKept = !isOwned && isPooledView(chunk);
    const sent = (error?: Error | null): void => {
      if (isKept && !error) recycleView(chunk);
      if (socket.writableLength === 0) this.#onSent();
    };
    if (this.#isHeadSent) socket.write(chunk, sent);
    else {
      socket.cork();
      this.flushHead();
      socket.write(chunk, sent);
      socket.uncork();
    }
    if (socket.writableLength === 0) return true;
    if (isOwned) {
      isKept = true;
      channel.detachBuffer();
    }
    return false;
  }
}

/** Writes a chunk. A large one is reused when it is sent, if the response does not keep it. */
function write(res: ServerResponse, chunk: Buffer): boolean {
  if (!isPooledView(chunk) || !releasesChunks(res)) return res.write(chunk);
  return res.write(chunk, freeWhenSent(chunk, res));
}
