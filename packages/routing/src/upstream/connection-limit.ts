import type { Counter } from '@edge-gateway/core';

/** All connections that the cluster allows are open. */
export class ConnectionOverflowError extends Error {
  readonly code = 'ERR_ROUTING_UPSTREAM_OVERFLOW';
}

/** A pool with requests that wait for a connection. */
export interface WaitingPool {
  /** Opens connections for waiting requests, up to the limit. */
  serveWaiting(): void;
}

/** Counts the connections of all pools of a cluster. */
export class ConnectionLimit {
  readonly #max: number;
  readonly #overflow: Counter;
  #open = 0;
  /** In the order of waiting. A pool may have no waiting requests any more. */
  readonly #waiting = new Set<WaitingPool>();

  constructor(max: number, overflow: Counter) {
    this.#max = max;
    this.#overflow = overflow;
  }

  /** Number of connections that are open or being opened. */
  get open(): number {
    return this.#open;
  }

  get isReached(): boolean {
    return this.#open >= this.#max;
  }

  /** Reserves a connection. As in Envoy, the first one of a pool is always allowed: otherwise its requests could wait forever. */
  reserve(isFirst: boolean): boolean {
    if (this.isReached) {
      this.#overflow.value++;
      if (!isFirst) return false;
    }
    this.#open++;
    return true;
  }

  /** Frees the place of a connection; {@link wake} assigns it. */
  free(): void {
    this.#open--;
  }

  /** Remembers a pool until a connection of the cluster is closed. */
  wait(pool: WaitingPool): void {
    this.#waiting.add(pool);
  }

  /** Lets waiting pools open connections, in turn. */
  wake(): void {
    for (const pool of this.#waiting) {
      if (this.isReached) return;
      this.#waiting.delete(pool);
      pool.serveWaiting();
    }
  }
}
