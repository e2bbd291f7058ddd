/** Log levels, least to most severe. `panic` is between error and fatal. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'panic', 'fatal'] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A level that a logger can be set to. */
export type SettableLevel = LogLevel | 'trace' | 'off';

/** The levels that a logger can be set to, least to most severe; `off` writes nothing. */
export const SETTABLE_LEVELS: readonly SettableLevel[] = ['trace', ...LOG_LEVELS, 'off'];

/** The named loggers that `GET /logging` lists. */
export const LOGGER_NAMES = [
  'admin',
  'client',
  'config',
  'conn_handler',
  'connection',
  'ext_authz',
  'filter',
  'graphql',
  'grpc',
  'hc',
  'health_checker',
  'http',
  'http2',
  'init',
  'jwt',
  'main',
  'misc',
  'pool',
  'rate_limit_quota',
  'rbac',
  'redis',
  'router',
  'runtime',
  'secret',
  'stats',
  'tracing',
  'upstream',
  'websocket',
] as const;
/** One of {@link LOGGER_NAMES}. */
export type LoggerName = (typeof LOGGER_NAMES)[number];

/** The level of one logger. */
export interface LoggerLevel {
  readonly name: LoggerName;
  readonly level: SettableLevel;
}

/** Parses a level: `warn` and `warning`, `fatal` and `critical` are the same. */
export function parseLogLevel(word: string): SettableLevel | undefined {
  if (word === 'warning') return 'warn';
  if (word === 'critical') return 'fatal';
  return SETTABLE_LEVELS.find((level) => level === word);
}

/** Returns the level of one logger by its name, or why one of them is invalid. */
export function parseLoggerLevel(
  name: string,
  level: string,
): LoggerLevel | 'unknown logger name' | 'unknown logger level' {
  const known = LOGGER_NAMES.find((each) => each === name);
  if (!known) return 'unknown logger name';
  const parsed = parseLogLevel(level);
  return parsed ? { name: known, level: parsed } : 'unknown logger level';
}
