import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { linger } from '@edge-gateway/core';
import { FrameCursor } from './frame-cursor.ts';

/** Status codes (RFC 6455 §7.4.1). */
export const GOING_AWAY = 1001;
export const POLICY_VIOLATION = 1008;

const closeToClient = (status: number): Buffer => Buffer.from([0x88, 0x02, ...bytesOf(status)]);

/** A client masks what it sends. */
function closeToUpstream(status: number): Buffer {
  const mask = randomBytes(4);
  return Buffer.from([0x88, 0x82, ...mask, ...bytesOf(status).map((byte, i) => byte ^ mask[i]!)]);
}

const bytesOf = (status: number): readonly number[] => [status >> 8, status & 0xff];

/**
 * The joined connections of a forwarded WebSocket, which can be closed with a status on both sides. Create it before the
 * first byte is read: it follows the frames.
 */
export class WebSocketTunnel {
  readonly #client: Socket;
  readonly #toUpstream: FrameRelay;
  readonly #toClient: FrameRelay;
  #isClosing = false;
  #hasSentClose = false;

  constructor(client: Socket, upstream: Duplex) {
    this.#client = client;
    this.#toUpstream = new FrameRelay(client, upstream);
    this.#toClient = new FrameRelay(upstream, client);
  }

  /**
   * Closes the WebSocket as soon as no frame is in progress. What either side sends after that is dropped. The connection of a
   * client that does not close is closed after the close delay.
   */
  close(status = GOING_AWAY): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#toUpstream.end(closeToUpstream(status));
    this.#toClient.end(closeToClient(status), () => {
      this.#hasSentClose = true;
      linger(this.#client);
    });
  }

  /**
   * True once the close frame was sent to the client. Its connection then ends by itself: if it ended with that of the upstream, a reset could overtake the
   * frame while the client is still sending.
   */
  get hasSentClose(): boolean {
    return this.#hasSentClose;
  }
}

/** One direction of a tunnel: piped by others, until its last frame is to be sent. */
class FrameRelay {
  readonly #from: Duplex;
  readonly #to: Duplex;
  readonly #cursor = new FrameCursor();
  readonly #follow = (chunk: Buffer): void => this.#cursor.follow(chunk);

  constructor(from: Duplex, to: Duplex) {
    this.#from = from;
    this.#to = to;
    from.on('data', this.#follow);
  }

  /** Relays the frame in progress, then sends the last one and drops everything else. */
  end(lastFrame: Buffer, onEnd?: () => void): void {
    const from = this.#from;
    const to = this.#to;
    let ended = false;
    const endBetweenFrames = (): void => {
      if (!this.#cursor.isBetweenFrames) return;
      ended = true;
      if (to.writable) to.write(lastFrame);
      onEnd?.();
    };
    const relay = (chunk: Buffer): void => {
      if (ended) return;
      const rest = chunk.subarray(0, this.#cursor.finishFrame(chunk));
      if (to.writable && !to.write(rest)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
      endBetweenFrames();
    };
    from.unpipe(to);
    from.off('data', this.#follow).on('data', relay).resume();
    endBetweenFrames();
  }
}
