import { startTimer } from '@edge-gateway/core';
import type { Socket } from 'node:net';

/** Maximum number of connections above the limit that wait to be closed. */
export const MAX_WAITING = 1_000;

export interface OverflowLimits {
  readonly maxConnections: () => number;
  /** Milliseconds before a connection above the limit is closed. */
  readonly overflowDelayMs: () => number;
}

/** Counts the open connections of a listener, and closes those above the limit after a delay, without reading them. */
export class Overflow {
  readonly #limits: OverflowLimits;
  #open = 0;
  #waiting = 0;

  constructor(limits: OverflowLimits) {
    this.#limits = limits;
  }

  /** Number of connections from which on the server itself closes further ones. */
  get serverLimit(): number {
    const { maxConnections, overflowDelayMs } = this.#limits;
    return overflowDelayMs() > 0 ? maxConnections() + MAX_WAITING : maxConnections();
  }

  /** True while a further connection is within the limit. */
  get accepts(): boolean {
    return this.#open < this.#limits.maxConnections();
  }

  /** Counts a connection until it is closed, and returns it. */
  count(socket: Socket): Socket {
    this.#open++;
    return socket.on('close', this.#closed);
  }

  readonly #closed = (): void => void this.#open--;

  /** Closes a connection above the limit after the delay. */
  closeLater(socket: Socket): void {
    const delayMs = this.#limits.overflowDelayMs();
    socket.on('error', () => {});
    if (delayMs === 0 || this.#waiting >= MAX_WAITING) return void socket.destroy();
    this.#waiting++;
    const timer = startTimer(() => socket.destroy(), delayMs);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#waiting--;
    });
  }
}
