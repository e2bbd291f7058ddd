import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { linger } from '@edge-gateway/core';
import { FrameCursor } from './frame-cursor.ts';

/** Status code 1001, "going away" (RFC 6455 §7.4.1). */
const GOING_AWAY = Buffer.from([0x03, 0xe9]);
/** The end of a message and a close frame; a client masks what it sends. */
const CLOSE_TO_CLIENT = Buffer.from([0x88, 0x02, ...GOING_AWAY]);

function closeToUpstream(): Buffer {
  const mask = randomBytes(4);
  return Buffer.from([0x88, 0x82, ...mask, ...GOING_AWAY.map((byte, i) => byte ^ mask[i]!)]);
}

/**
 * The joined connections of a forwarded WebSocket, which can be closed with status 1001 on both sides. Create it before the
 * connections are piped: it follows the frames from the first byte.
 */
export class WebSocketTunnel {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #fromClient: FrameCursor;
  readonly #fromUpstream: FrameCursor;
  #isClosing = false;

  constructor(client: Socket, upstream: Socket) {
    this.#client = client;
    this.#upstream = upstream;
    this.#fromClient = this.#follow(client);
    this.#fromUpstream = this.#follow(upstream);
  }

  /**
   * Closes the WebSocket as soon as no frame is in progress. What either side sends after that is dropped. The connection of a
   * client that does not close is closed after the close delay.
   */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#endAfterFrame(this.#client, this.#upstream, this.#fromClient, closeToUpstream());
    this.#endAfterFrame(this.#upstream, this.#client, this.#fromUpstream, CLOSE_TO_CLIENT, () => linger(this.#client));
  }

  #follow(from: Socket): FrameCursor {
    const cursor = new FrameCursor();
    from.on('data', (chunk: Buffer) => {
      if (!this.#isClosing) cursor.follow(chunk);
    });
    return cursor;
  }

  #endAfterFrame(from: Socket, to: Socket, cursor: FrameCursor, close: Buffer, then?: () => void): void {
    from.unpipe(to);
    let ended = false;
    const endBetweenFrames = (): void => {
      if (ended || !cursor.isBetweenFrames) return;
      ended = true;
      if (to.writable) to.write(close);
      then?.();
    };
    from.on('data', (chunk: Buffer) => {
      if (ended) return;
      const rest = chunk.subarray(0, cursor.finishFrame(chunk));
      if (to.writable && !to.write(rest)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
      endBetweenFrames();
    });
    from.resume();
    endBetweenFrames();
  }
}
