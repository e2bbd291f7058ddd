import type { ServerHttp2Session } from 'node:http2';

/** The window changes by at least this part of its size. */
const STEPS = 8;
/** Beyond it, the sums of a window would not fit. */
const LARGEST = 2 ** 30;

/**
 * The flow-control window of a connection. Node grants it again as soon as data arrives, so that what streams hold would be limited
 * only by their own windows; here it shrinks by what they hold.
 */
export class ConnectionWindow {
  readonly #session: ServerHttp2Session;
  readonly #size: number;
  /** The window that nghttp2 keeps now. */
  #current: number;
  /** Bytes that nghttp2 does not grant again because the window shrank. */
  #reduction = 0;
  #held = 0;

  constructor(session: ServerHttp2Session, size: number) {
    this.#session = session;
    this.#current = this.#size = Math.min(size, LARGEST);
    session.setLocalWindowSize(this.#size);
  }

  /** Streams hold this many bytes more, or fewer. */
  hold(change: number): void {
    this.#held += change;
    const size = this.#size;
    const target = Math.max(size - this.#held, 0);
    if (target === this.#current) return;
    const isEnd = target === 0 || target === size;
    if (!isEnd && Math.abs(target - this.#current) < size / STEPS) return;
    if (this.#session.destroyed) return;
    const grows = target > this.#current;
    if (grows) this.#grow();
    this.#shrinkTo(target);
    // Node sends what it has granted with the next frame.
    if (grows) this.#session.ping(ignore);
  }

  /**
   * A window that grows again first makes up for its reduction, which the client is not told. One byte more is granted, because a client
   * without any window sends nothing, and only what it sends makes nghttp2 grant the rest.
   */
  #grow(): void {
    this.#current += this.#reduction + 1;
    this.#reduction = 0;
    this.#session.setLocalWindowSize(this.#current);
  }

  #shrinkTo(target: number): void {
    this.#reduction += this.#current - target;
    this.#current = target;
    this.#session.setLocalWindowSize(target);
  }
}

const ignore = (): void => {};
