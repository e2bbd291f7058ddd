import { mock } from 'node:test';

/** Time passes in steps of this length, in milliseconds: shorter than the intervals of what is tested. */
const STEP_MS = 50;

// These stay real.
const nextTurn = setImmediate;
const later = setTimeout;
const realNow = performance.now.bind(performance);
/** Real milliseconds after which files or other processes must have done their part. */
const LIMIT_MS = 90_000;

/**
 * Time that passes only when a test says so: `performance.now()`, `setTimeout` and `setInterval` follow it. Files and sockets do not: while something waits
 * for them, any time may pass, so that a test knows only the least time that something takes.
 */
export interface FakeTime {
  pass(ms: number): Promise<void>;
  /** Lets time pass until a check holds. Throws if it does not hold within this time; default: any. */
  until(check: () => unknown, withinMs?: number): Promise<void>;
  /** Waits for files and sockets until a check holds, while no time passes. Throws if it does not hold. */
  reached(check: () => unknown): Promise<void>;
  restore(): void;
}

/** Replaces the time of this process until `restore`. */
export function fakeTime(): FakeTime {
  let passed = 0;
  const began = realNow();
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  performance.now = () => began + passed;

  function step(ms: number): void {
    passed += ms;
    mock.timers.tick(ms);
  }

  return {
    async pass(ms) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        step(Math.min(left, STEP_MS));
        // What the timers began continues in the next turn of the event loop.
        await new Promise<void>((resolve) => void nextTurn(resolve));
      }
    },
    async until(check, withinMs = Infinity) {
      const [end, giveUp] = [passed + withinMs, realNow() + LIMIT_MS];
      while (!check()) {
        if (passed > end || realNow() > giveUp) throw new Error(`not after ${passed} ms: ${String(check)}`);
        step(STEP_MS);
        // Gives files and sockets a moment.
        await new Promise<void>((resolve) => void later(resolve, 1));
      }
    },
    async reached(check) {
      const giveUp = realNow() + LIMIT_MS;
      while (!check()) {
        if (realNow() > giveUp) throw new Error(`not reached: ${String(check)}`);
        await new Promise<void>((resolve) => void later(resolve, 1));
      }
    },
    restore() {
      mock.timers.reset();
      Reflect.deleteProperty(performance, 'now');
    },
  };
}
