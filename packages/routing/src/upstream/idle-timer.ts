import { startTimer } from '@edge-gateway/core';
/** Reports a connection that was idle for too long. One timer serves many idle periods: if it fires early, it is set again. */
export class IdleTimer {
  readonly #onIdle: () => void;
  #limitMs: number;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
  }

  /** False if connections may not be idle at all. */
  get allows(): boolean {
    return this.#limitMs > 0;
  }

  limit(limitMs: number): void {
    if (limitMs >= this.#limitMs) return;
    this.#limitMs = limitMs;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The connection is idle from now on. */
  begin(): void {
    this.#since = performance.now();
    this.#timer ??= startTimer(expire, this.#limitMs, this).unref();
  }

  /** The connection is in use again. */
  end(): void {
    this.#since = undefined;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  expire(): void {
    this.#timer = undefined;
    if (this.#since === undefined) return;
    const leftMs = this.#since + this.#limitMs - performance.now();
    if (leftMs <= 0) this.#onIdle();
    else this.#timer = startTimer(expire, Math.ceil(leftMs), this).unref();
  }
}

const expire = (timer: IdleTimer): void => timer.expire();
