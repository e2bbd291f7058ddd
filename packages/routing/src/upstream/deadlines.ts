import { startTimer } from '@edge-gateway/core';

export interface Limited {
  expire(): void;
}

/** Exchanges with the same time limit, ordered by start time: one timer runs for the first of them. */
class Queue {
  readonly #limitMs: number;
  readonly #onEmpty: () => void;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onEmpty: () => void) {
    this.#limitMs = limitMs;
    this.#onEmpty = onEmpty;
  }

  add(deadline: Deadline, now: number): void {
    deadline.at = now + this.#limitMs;
    deadline.before = this.#last;
    if (this.#last) this.#last.after = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    if (!this.#timer) this.#wait(this.#limitMs);
  }

  remove(deadline: Deadline): void {
    const { before, after } = deadline;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    deadline.before = undefined;
    deadline.after = undefined;
  }

  /** Expires all overdue exchanges, and sets the timer for the next. */
  readonly #sweep = (): void => {
    const now = performance.now();
    try {
      while (this.#first && this.#first.at <= now) this.#first.expire();
    } finally {
      this.#timer = undefined;
      if (this.#first) this.#wait(Math.max(Math.ceil(this.#first.at - performance.now()), 1));
      else this.#onEmpty();
    }
  };

  #wait(delayMs: number): void {
    this.#timer = startTimer(this.#due, delayMs).unref();
  }

  /** Received data is read first: if this process was blocked, it may have arrived in time. */
  readonly #due = (): void => void setImmediate(this.#sweep);
}

export class Deadline {
  /** Expiry on the clock of `performance.now()`; the other two are its neighbours in the queue. */
  at = 0;
  before: Deadline | undefined;
  after: Deadline | undefined;
  readonly #limited: Limited;
  readonly #queue: Queue;
  #waiting = true;

  constructor(limited: Limited, queue: Queue) {
    this.#limited = limited;
    this.#queue = queue;
  }

  /** Restarts the time limit. Returns false if it has ended. */
  restart(): boolean {
    if (!this.#waiting) return false;
    this.#queue.remove(this);
    this.#queue.add(this, performance.now());
    return true;
  }

  cancel(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#queue.remove(this);
  }

  expire(): void {
    this.cancel();
    this.#limited.expire();
  }
}

/**
 * The time limits of many exchanges: a fraction of the cost of a timer each, because those with the same limit are kept in the order
 * in which they end. Whole milliseconds; keeps no process alive.
 */
export class Deadlines {
  readonly #queues = new Map<number, Queue>();

  start(limited: Limited, limitMs: number, now: number): Deadline {
    const whole = Math.ceil(limitMs);
    let queue = this.#queues.get(whole);
    if (!queue) this.#queues.set(whole, (queue = new Queue(whole, () => this.#queues.delete(whole))));
    const deadline = new Deadline(limited, queue);
    queue.add(deadline, now);
    return deadline;
  }
}
