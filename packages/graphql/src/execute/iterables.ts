import type { Run } from './field-plan.ts';
import { ignoreRejections } from './ignore-rejections.ts';
import { stopIfEnded } from './list.ts';

/** Returns the items of an iterable. Throws `ExecutionStopped` if they are more than a result may have. */
export function collect(values: Iterable<unknown>, { size }: Run): unknown[] {
  const items: unknown[] = [];
  try {
    for (const item of values) {
      items.push(item);
      size.check(items.length);
    }
  } catch (error) {
    ignoreRejections(items);
    throw error;
  }
  return items;
}

/** The same, for an asynchronous iterable, which is left when the operation ends. */
export async function collectAsync(values: AsyncIterable<unknown>, run: Run): Promise<unknown[]> {
  const items: unknown[] = [];
  const iterator = values[Symbol.asyncIterator]();
  const leave = (): void => leaveIterator(iterator);
  const { signal } = run.options;
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      items.push(next.value);
      stopIfEnded(run);
      run.size.check(items.length);
    }
  } catch (error) {
    ignoreRejections(items);
    leave();
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
  return items;
}

/** Ends an iterator whose items are no longer needed. It may fail, or never respond. */
export function leaveIterator(iterator: AsyncIterator<unknown>): void {
  try {
    ignoreRejections(iterator.return?.());
  } catch {
    // There is nobody to tell.
  }
}
