import type { ServerHttp2Session } from 'node:http2';

/** Minimum change of the window, as a fraction of its size. */
const STEPS = 8;
/** Larger values would overflow the window arithmetic. */
const LARGEST = 2 ** 30;

/**
 * The flow-control window of a connection. Node grants it again as soon as data arrives, so that only stream windows would limit the data
 * that streams buffer. This class reduces the connection window by the buffered data.
 */
export class ConnectionWindow {
  readonly #session: ServerHttp2Session;
  readonly #size: number;
  /** The current window of nghttp2. */
  #current: number;
  /** Bytes that nghttp2 withholds because the window was reduced. */
  #reduction = 0;
  #held = 0;

  constructor(session: ServerHttp2Session, size: number) {
    this.#session = session;
    this.#current = this.#size = Math.min(size, LARGEST);
    session.setLocalWindowSize(this.#size);
  }

  /** Changes the number of bytes that streams buffer. */
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
    // Node sends the window update with the next frame.
    if (grows) this.#session.ping(ignore);
  }

  /**
   * A growing window first compensates for its reduction, which is not sent to the client. One extra byte is granted, because a client
   * without a window cannot send, and nghttp2 grants the rest only when data arrives.
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
