import { httpStat, type Context, type Counter, type Gauge } from '@edge-gateway/core';

/** Maximum number of copies in progress. */
const MAX_SHADOWS = 512;
/** Maximum size of the bodies of all copies in progress, in bytes. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

/** Bounds and counts the copies of requests of all routes. */
export class ShadowLimits {
  readonly #active: Gauge;
  readonly #sent: Counter;
  readonly #failed: Counter;
  readonly #overflow: Counter;
  #heldBytes = 0;

  constructor({ metrics }: Context) {
    const counter = (name: string): Counter => metrics.counter(httpStat(`shadow.${name}`));
    this.#active = metrics.gauge(httpStat('shadow.active'));
    this.#sent = counter('sent');
    this.#failed = counter('failed');
    this.#overflow = counter('overflow');
  }

  /** Returns false if no further copy may begin. */
  acquire(): boolean {
    if (this.#active.value >= MAX_SHADOWS) {
      this.#overflow.value++;
      return false;
    }
    this.#active.value++;
    return true;
  }

  /** Reserves memory for a part of a body. Returns false above the limit. */
  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) return false;
    this.#heldBytes += bytes;
    return true;
  }

  /** Ends a copy that was never sent; its bytes are released already. */
  drop(): void {
    this.#active.value--;
    this.#overflow.value++;
  }

  unhold(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Ends a copy that was sent. */
  release(isSent: boolean, held: number): void {
    this.#active.value--;
    this.#heldBytes -= held;
    (isSent ? this.#sent : this.#failed).value++;
  }
}

/** Returns the limits of a data plane, the same for all its routes. */
export function shadowLimitsOf(context: Context): ShadowLimits {
  return context.state('shadowing', () => new ShadowLimits(context));
}
