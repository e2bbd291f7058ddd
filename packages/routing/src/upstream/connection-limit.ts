import type { Counter } from '@edge-gateway/core';

/** All connections that the cluster allows are open. */
export class ConnectionOverflowError extends Error {
  readonly code = 'ERR_ROUTING_UPSTREAM_OVERFLOW';
}

/** A pool of connections that count for the limit. */
export interface LimitedPool {
  /** Opens connections for waiting requests, up to the limit. */
  serveWaiting(): void;
  /** Closes the connection that has been idle for the longest time. Returns false if there is none. */
  closeIdle(): boolean;
}

/** Counts the connections of all pools of a cluster. */
export class ConnectionLimit {
  readonly #max: number;
  readonly #overflow: Counter;
  #open = 0;
  /** In the order of waiting. A pool may have no waiting requests any more. */
  readonly #waiting = new Set<LimitedPool>();
  readonly #pools = new Set<LimitedPool>();

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

  /** The idle connections of the pool can be closed from now on, see {@link reserve}. */
  add(pool: LimitedPool): void {
    this.#pools.add(pool);
  }

  remove(pool: LimitedPool): void {
    this.#pools.delete(pool);
  }

  /**
   * Reserves a connection, in the place of an idle one of any pool if the limit is reached: those of a host that gets no requests would be kept
   * for long. As in Envoy, the first one of a pool is always allowed: otherwise its requests could wait forever.
   */
  reserve(isFirst: boolean): boolean {
    if (this.isReached) this.#closeIdle();
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
  wait(pool: LimitedPool): void {
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

  #closeIdle(): void {
    for (const pool of this.#pools) if (pool.closeIdle()) return;
  }
}
