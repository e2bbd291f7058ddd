import { LOG_LEVELS, type LogLevel } from '@edge-gateway/core';

/** A level that a logger can be set to. */
export type SettableLevel = LogLevel | 'trace' | 'off';

/** The levels in the words of the proxy admin, least to most severe. */
export const PROXY_LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'] as const;

const SETTABLE: readonly SettableLevel[] = ['trace', ...LOG_LEVELS, 'off'];

/** Reads a level in the words of either port: `warn` and `warning`, `fatal` and `critical` are the same. */
export function parseLevel(word: string): SettableLevel | undefined {
  if (word === 'warning') return 'warn';
  if (word === 'critical') return 'fatal';
  return SETTABLE.find((level) => level === word);
}

/** A level in the words of the proxy admin. */
export function proxyLevelName(level: SettableLevel): (typeof PROXY_LEVELS)[number] {
  if (level === 'warn') return 'warning';
  return level === 'panic' || level === 'fatal' ? 'critical' : level;
}
