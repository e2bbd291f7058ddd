import { MAX_DELAY_MS } from '@edge-gateway/core';

export interface Limited {
  expire(): void;
}

/** The exchanges with one time limit, in the order in which they began: one timer waits for the first of them. */
class Queue {
  readonly #limitMs: number;
  readonly #onEmpty: () => void;
  readonly #waiting = new Set<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onEmpty: () => void) {
    this.#limitMs = limitMs;
    this.#onEmpty = onEmpty;
  }

  add(deadline: Deadline, now: number): void {
    deadline.at = now + this.#limitMs;
    this.#waiting.add(deadline);
    if (!this.#timer) this.#wait(this.#limitMs);
  }

  /** Returns false if the deadline is over. */
  remove(deadline: Deadline): boolean {
    return this.#waiting.delete(deadline);
  }

  /** Expires all whose time is up, and waits for the next. */
  readonly #sweep = (): void => {
    const now = performance.now();
    try {
      for (const deadline of this.#waiting) {
        if (deadline.at > now) break;
        deadline.expire();
      }
    } finally {
      this.#timer = undefined;
      const [next] = this.#waiting;
      if (next) this.#wait(Math.max(Math.ceil(next.at - performance.now()), 1));
      else this.#onEmpty();
    }
  };

  #wait(delayMs: number): void {
    this.#timer = setTimeout(this.#due, delayMs).unref();
  }

  /** What arrived in the meantime is read first: after a standstill of this process it may be in time. */
  readonly #due = (): void => void setImmediate(this.#sweep);
}

export class Deadline {
  /** When it ends, on the clock of `performance.now()`. */
  at = 0;
  readonly #limited: Limited;
  readonly #queue: Queue;

  constructor(limited: Limited, queue: Queue) {
    this.#limited = limited;
    this.#queue = queue;
  }

  /** Begins again, unless it is over. */
  restart(): void {
    if (this.#queue.remove(this)) this.#queue.add(this, performance.now());
  }

  cancel(): void {
    this.#queue.remove(this);
  }

  expire(): void {
    this.cancel();
    this.#limited.expire();
  }
}

/**
 * The time limits of many exchanges: a fraction of the cost of a timer each, because those with the same limit are kept in the order
 * in which they end. Whole milliseconds, about 25 days at most; keeps no process alive.
 */
export class Deadlines {
  readonly #queues = new Map<number, Queue>();

  start(limited: Limited, limitMs: number, now: number): Deadline {
    const whole = Math.min(Math.ceil(limitMs), MAX_DELAY_MS);
    let queue = this.#queues.get(whole);
    if (!queue) this.#queues.set(whole, (queue = new Queue(whole, () => this.#queues.delete(whole))));
    const deadline = new Deadline(limited, queue);
    queue.add(deadline, now);
    return deadline;
  }
}
