import type { Unit } from '../rules/limit.ts';
import { UNIT_MS } from '../rules/limit.ts';
import { Counters, type KeyBudget } from './memory-counters.ts';
import type { MemoryAlgorithm } from './memory-window.ts';

/**
 * Counts in token buckets. A key has two numbers: the tokens taken and not yet refilled, times the milliseconds of the unit, so that they
 * are integers; and the time of this state. Charges over the limit are not counted.
 */
export function createTokenBucket(unit: Unit, budget: KeyBudget): MemoryAlgorithm {
  const counters = new Counters(2, budget);
  const unitMs = UNIT_MS[unit];
  let nowMs = 0;
  /** Time after which every bucket is full. */
  let lifetimeMs = unitMs;
  return {
    advance(time) {
      nowMs = time;
      counters.expire(time, lifetimeMs);
    },
    charge(key, { requests, burst }, tally) {
      const { cost } = tally;
      const capacity = requests === 0 ? 0 : burst * unitMs;
      if (requests > 0) lifetimeMs = Math.max(lifetimeMs, Math.ceil(capacity / requests));
      const isKnown = key.epoch === counters.epoch || counters.locate(key);
      const { values, at } = key;
      // After the clock went back, the bucket refills from then on.
      const elapsedMs = Math.max(0, nowMs - values[at + 1]!);
      let taken = Math.max(0, values[at]! - elapsedMs * requests);
      const isOver = taken + cost * unitMs > capacity;
      if (!isOver) taken += cost * unitMs;
      values[at] = taken;
      values[at + 1] = nowMs;
      const left = Math.max(0, capacity - taken);
      const remaining = Math.floor(left / unitMs);
      // The tokens of a rejected charge, or one more; never more than the bucket holds.
      const wanted = Math.min(isOver ? cost * unitMs : (remaining + 1) * unitMs, capacity);
      tally.isOver = isOver;
      tally.remaining = remaining;
      tally.resetMs = requests === 0 ? unitMs : Math.max(0, Math.ceil((wanted - left) / requests));
      return isKnown;
    },
  };
}
