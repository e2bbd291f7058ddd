import { LOGGER_NAMES, LOG_LEVELS, type LoggerName, type Loggers } from '@edge-gateway/core';
import type { SettableLevel } from '../levels.ts';

/** Lowers the levels of loggers for as long as somebody needs it. */
export interface HeldLevel {
  /** Lets every logger log at least this level. Returns the function that ends it. */
  hold(level: SettableLevel): () => void;
}

/** Least to most severe. */
const ORDER: readonly SettableLevel[] = ['trace', ...LOG_LEVELS, 'off'];

/**
 * Creates a {@link HeldLevel}. With the last release each logger gets the level back that it had before the first hold; one
 * whose level was set in the meantime keeps that.
 */
export function createHeldLevel(log: Loggers): HeldLevel {
  const before = new Map<LoggerName, { readonly level: SettableLevel; held: SettableLevel }>();
  let holders = 0;

  function release(): void {
    if (--holders > 0) return;
    for (const [name, { level, held }] of before) if (log.level(name) === held) log.setLevel(level, name);
    before.clear();
  }

  return {
    hold(wanted) {
      holders++;
      for (const name of LOGGER_NAMES) {
        const level = log.level(name);
        if (ORDER.indexOf(level) <= ORDER.indexOf(wanted)) continue;
        before.set(name, { level: before.get(name)?.level ?? level, held: wanted });
        log.setLevel(wanted, name);
      }
      let released = false;
      return () => {
        if (!released) release();
        released = true;
      };
    },
  };
}
