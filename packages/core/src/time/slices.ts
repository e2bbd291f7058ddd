import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 20;

/** Yields to other work after some time, or some calls. Default: 20 ms, and any number of calls. */
export function createYielder(sliceMs: number = SLICE_MS, maxCalls = Infinity): () => Promise<void> | undefined {
  let since = performance.now();
  let calls = 0;
  return () => {
    if (++calls < maxCalls && performance.now() - since < sliceMs) return undefined;
    calls = 0;
    return nextTurn().then(() => void (since = performance.now()));
  };
}

/** Work in steps, between which other work may run. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps at once, and returns their result. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
