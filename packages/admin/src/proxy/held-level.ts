import { LOGGER_NAMES, LOG_LEVELS, type LoggerName, type Loggers } from '@edge-gateway/core';
import type { SettableLevel } from './levels.ts';

/** Lowers the levels of loggers temporarily. */
export interface HeldLevel {
  /** Makes every logger log at least this level. Returns the function that ends it. */
  hold(level: SettableLevel): () => void;
}

/** Least to most severe. */
const ORDER: readonly SettableLevel[] = ['trace', ...LOG_LEVELS, 'off'];

/**
 * Creates a {@link HeldLevel}. The last release restores the level that each logger had before the first hold; a logger
 * whose level was set in the meantime keeps the new level.
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
