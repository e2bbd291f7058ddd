import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 20;
const STEPS_PER_SLICE = 100;

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

/**
 * Runs steps in slices of at most 20 ms and 100 steps, between which other work runs. The first slice runs before it returns. Resolves with the
 * result of the steps, or with `undefined` if `isCancelled` returned true after a slice: then the steps are ended.
 */
export async function runInSlices<T>(steps: Steps<T>, isCancelled: () => boolean): Promise<T | undefined> {
  const yieldIfDue = createYielder(SLICE_MS, STEPS_PER_SLICE);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const turn = yieldIfDue();
    if (!turn) continue;
    await turn;
    if (isCancelled()) {
      steps.return(undefined as never);
      return undefined;
    }
  }
}
