import { windowAt, type Window } from '../rules/window.ts';
import type { Limit, Unit } from '../rules/limit.ts';
import { Counters, type KeyBudget, type Located } from './memory-counters.ts';
import type { Tally } from './store.ts';

/** Counters of one unit and algorithm. */
export interface MemoryAlgorithm {
  /** Sets the time of the charges that follow, and forgets counters that have expired. */
  advance(nowMs: number): void;
  /** Counts, and writes the state into the tally. Returns true if the key was known. */
  charge(key: Located, limit: Limit, tally: Tally): boolean;
}

/**
 * Returns the window that a time belongs to. A clock that goes back by less than one window keeps the window; one that
 * goes back further starts a new window.
 */
export function followingWindow(current: Window, unit: Unit, nowMs: number): Window {
  if (nowMs >= current.startMs && nowMs < current.endMs) return current;
  const isHeld = nowMs < current.startMs && nowMs >= 2 * current.startMs - current.endMs;
  return isHeld ? current : windowAt(unit, nowMs);
}

/** Counts in fixed windows. */
export function createFixedWindow(unit: Unit, budget: KeyBudget): MemoryAlgorithm {
  const counters = new Counters(1, budget);
  let window: Window = { startMs: 0, endMs: 0 };
  let nowMs = 0;
  return {
    advance(time) {
      nowMs = time;
      const next = followingWindow(window, unit, time);
      if (next === window) return;
      window = next;
      counters.clear();
    },
    charge(key, { requests }, tally) {
      const isKnown = key.epoch === counters.epoch || counters.locate(key);
      const { values, at } = key;
      const count = values[at]! + tally.cost;
      values[at] = Math.min(count, Number.MAX_SAFE_INTEGER);
      tally.isOver = count > requests;
      tally.remaining = Math.max(0, requests - count);
      tally.resetMs = window.endMs - nowMs;
      return isKnown;
    },
  };
}

/**
 * Counts in sliding windows: the requests of this window, and those of the previous one by the share that the last unit of time has in it.
 * Charges over the limit are not counted.
 */
export function createSlidingWindow(unit: Unit, budget: KeyBudget): MemoryAlgorithm {
  let counters = new Counters(1, budget);
  let previous = new Counters(1, budget);
  let window: Window = { startMs: 0, endMs: 0 };
  let nowMs = 0;
  return {
    advance(time) {
      nowMs = time;
      const next = followingWindow(window, unit, time);
      if (next === window) return;
      [counters, previous] = [previous, counters];
      counters.clear();
      if (next.startMs !== window.endMs) previous.clear();
      window = next;
    },
    charge(key, { requests }, tally) {
      let isKnown = true;
      if (key.epoch !== counters.epoch) {
        isKnown = counters.locate(key);
        key.earlier = previous.peek(key);
      }
      const { values, at } = key;
      const lengthMs = window.endMs - window.startMs;
      const shareMs = Math.min(window.endMs - nowMs, lengthMs);
      // In integers: requests times milliseconds.
      const earlier = key.earlier * shareMs;
      const count = values[at]! + tally.cost;
      const isOver = earlier + count * lengthMs > requests * lengthMs;
      if (!isOver) values[at] = count;
      const left = Math.floor(requests - values[at]! - earlier / lengthMs);
      tally.isOver = isOver;
      tally.remaining = Math.max(0, left);
      tally.resetMs = window.endMs - nowMs;
      return isKnown;
    },
  };
}
