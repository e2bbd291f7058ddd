import { startTimer } from './timer.ts';

/** Parts of a deadline that are waited for one after the other. */
const DEADLINE_PARTS = 4;

/** The error for work that is not done at its deadline. */
export const LATE = new Error('no response in time');

/**
 * Resolves as `work` does; rejects with {@link LATE} after `deadlineMs` milliseconds. The time is counted in parts, and what has arrived is read behind
 * each: while this process is blocked, at most one part passes, so that a process under load does not attribute its own delay to a server. Calls `onLate`
 * for a result after the deadline.
 */
export async function withDeadline<T>(work: Promise<T>, deadlineMs: number, onLate = (): void => {}): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let left = DEADLINE_PARTS;
  let timer: NodeJS.Timeout | undefined;
  let isSettled = false;
  function waitPart(): void {
    if (isSettled) return;
    if (left-- > 0) timer = startTimer(() => setImmediate(waitPart), deadlineMs / DEADLINE_PARTS);
    else reject(LATE);
  }
  waitPart();
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error === LATE) work.then(onLate, () => {});
    throw error;
  } finally {
    isSettled = true;
    clearTimeout(timer);
  }
}
