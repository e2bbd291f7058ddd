import { operationEnded } from '../resolvers/calls.ts';
import { Located, nonNullViolation, note } from './errors.ts';
import type { Complete, FieldPlan, Place, Run } from './field-plan.ts';
import { ignoreRejections } from './ignore-rejections.ts';
import { ExecutionStopped } from './result-size.ts';
import { isTurnOver, pause } from './turns.ts';

export interface ItemType {
  readonly complete: Complete;
  readonly nullable: boolean;
}

/** Completes the items of a list: a long one in several turns of the event loop, so that other requests are served meanwhile. */
export function completeList(items: readonly unknown[], item: ItemType, field: FieldPlan, place: Place): unknown {
  const out = new Array<unknown>(items.length);
  let done = 0;
  let isWaiting = false;
  const { path, run } = place;

  /** Completes items until the turn is over. Returns true after the last one. */
  function advance(): boolean {
    try {
      for (; done < items.length; done++) {
        if (isTurnOver()) return false;
        run.size.add(1, 1);
        const at: Place = { path: { prev: path, key: done, typename: undefined }, run };
        const value = itemOf(items[done], item, field, at);
        out[done] = value;
        isWaiting ||= value instanceof Promise;
      }
      return true;
    } catch (error) {
      // No item is needed any more.
      ignoreRejections(out, 1);
      if (run.plan.values === 'any') ignoreRejections(items);
      throw error;
    }
  }

  let handled = 0;
  /** Continues in a later turn. Until then nothing awaits the completed items: a rejection would end the process. */
  function pauseList(resume: () => void): void {
    for (; handled < done; handled++) ignoreRejections(out[handled], 0);
    pause(run.paused, resume);
  }

  const result = (): unknown => (isWaiting ? Promise.all(out) : out);
  if (advance()) return result();
  // The other items wait as well, and so do their fields.
  if (run.plan.values === 'any') ignoreRejections(items, 2);
  return new Promise((resolve, reject) => {
    const resume = (): void => {
      try {
        stopIfEnded(run);
        if (advance()) resolve(result());
        else pauseList(resume);
      } catch (error) {
        reject(error);
      }
    };
    pauseList(resume);
  });
}

/** Throws `ExecutionStopped` if the result is too large, or the operation has timed out or lost its client. */
export function stopIfEnded({ size, options }: Run): void {
  size.check();
  if (!options.signal.aborted) return;
  const { message, code } = operationEnded();
  throw new ExecutionStopped(message, { code });
}

function itemOf(value: unknown, item: ItemType, field: FieldPlan, place: Place): unknown {
  try {
    const done = item.complete(value, field, place);
    if (!(done instanceof Promise)) return presentItem(done, item, field, place);
    return done.then(
      (settled: unknown) => presentItem(settled, item, field, place),
      (error: unknown) => failedItem(error, item, field, place),
    );
  } catch (error) {
    return failedItem(error, item, field, place);
  }
}

function presentItem(value: unknown, { nullable }: ItemType, field: FieldPlan, { path, run }: Place): unknown {
  if (typeof value === 'string') run.size.add(0, value.length);
  if (value === null && !nullable) throw new Located(nonNullViolation(field.parentType.name, field.name), path!, field);
  return value;
}

function failedItem(error: unknown, { nullable }: ItemType, field: FieldPlan, { path, run }: Place): null {
  if (error instanceof ExecutionStopped) throw error;
  const located = error instanceof Located ? error : new Located(error, path!, field);
  if (!nullable) throw located;
  note(run, located);
  return null;
}
