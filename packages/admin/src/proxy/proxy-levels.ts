import { LOGGER_NAMES, SETTABLE_LEVELS, type LoggerName, type Loggers, type SettableLevel } from '@edge-gateway/core';

/** The levels under their names in the proxy admin, least to most severe. */
export const PROXY_LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'] as const;

/** Returns the name of a level in the proxy admin. */
export function proxyLevelName(level: SettableLevel): (typeof PROXY_LEVELS)[number] {
  if (level === 'warn') return 'warning';
  return level === 'panic' || level === 'fatal' ? 'critical' : level;
}

/**
 * Returns a function that makes every logger log at least a level until the function that it returns is called. The last such call
 * restores the level that each logger had before the first; a logger whose level was set in the meantime keeps the new level.
 */
export function levelHolder(log: Loggers): (level: SettableLevel) => () => void {
  const before = new Map<LoggerName, { readonly level: SettableLevel; readonly held: SettableLevel }>();
  let holders = 0;
  const release = (): void => {
    if (--holders > 0) return;
    for (const [name, { level, held }] of before) if (log.level(name) === held) log.setLevel(level, name);
    before.clear();
  };
  return (held) => {
    holders++;
    for (const name of LOGGER_NAMES) {
      const level = log.level(name);
      if (SETTABLE_LEVELS.indexOf(level) <= SETTABLE_LEVELS.indexOf(held)) continue;
      before.set(name, { level: before.get(name)?.level ?? level, held });
      log.setLevel(held, name);
    }
    return release;
  };
}
