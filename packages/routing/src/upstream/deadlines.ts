import { MAX_DELAY_MS } from '@edge-gateway/core';

/** What may take only so long. */
export interface Limited {
  /** The time is up. */
  expire(): void;
}

/** All that may take equally long, in the order in which it began: one timer waits for the first of them. */
class Queue {
  readonly #limitMs: number;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
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

  /** Expires all whose time is up, and waits for the next. */
  readonly #sweep = (): void => {
    const now = performance.now();
    try {
      while (this.#first && this.#first.at <= now) this.#first.expire();
    } finally {
      this.#timer = undefined;
      if (this.#first) this.#wait(Math.max(Math.ceil(this.#first.at - performance.now()), 1));
      else queues.delete(this.#limitMs);
    }
  };

  #wait(delayMs: number): void {
    this.#timer = setTimeout(this.#due, delayMs).unref();
  }

  /** What has come in the meantime is read first: after a standstill of this process nobody is to blame for it. */
  readonly #due = (): void => void setImmediate(this.#sweep);
}

const queues = new Map<number, Queue>();

/**
 * The time limit of one of many: a fraction of the cost of a timer each, for they are kept in the order in which they end.
 * Whole milliseconds, about 25 days at most; keeps no process alive.
 */
export class Deadline {
  /** When it ends, on the clock of `performance.now()`; the other two are its neighbours. For the queue. */
  at = 0;
  before: Deadline | undefined;
  after: Deadline | undefined;
  readonly #limited: Limited;
  readonly #queue: Queue;
  #waiting = true;

  /** Begins at `now`. */
  constructor(limited: Limited, limitMs: number, now: number) {
    const whole = Math.min(Math.ceil(limitMs), MAX_DELAY_MS);
    let queue = queues.get(whole);
    if (!queue) queues.set(whole, (queue = new Queue(whole)));
    this.#limited = limited;
    this.#queue = queue;
    queue.add(this, now);
  }

  /** Begins again, unless it is over. */
  restart(): void {
    if (!this.#waiting) return;
    this.#queue.remove(this);
    this.#queue.add(this, performance.now());
  }

  /** Ends it without anything else. */
  cancel(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#queue.remove(this);
  }

  /** Ends it. */
  expire(): void {
    this.cancel();
    this.#limited.expire();
  }
}
