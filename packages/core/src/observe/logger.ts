import { constants } from 'node:os';
import { pino, type DestinationStream, type Level, type Logger as PinoLogger } from 'pino';
import { errorFields } from './error-fields.ts';
import { LOGGER_NAMES, type LoggerLevel, type LoggerName, type LogLevel, type SettableLevel } from './log-levels.ts';
import { createLineBuffer, type RecentLines } from './recent-lines.ts';
import { redact, redactText } from '../security/redact.ts';

/** Fields of a log line; the names that every line has are not available. */
export interface LogDetails {
  readonly [field: string]: unknown;
  readonly level?: never;
  readonly time?: never;
  readonly logger?: never;
  readonly msg?: never;
}

/** A logger with pino's `(object, message)` form. */
export interface Logger {
  debug(details: LogDetails, message: string): void;
  info(details: LogDetails, message: string): void;
  warn(details: LogDetails, message: string): void;
  error(details: LogDetails, message: string): void;
  fatal(details: LogDetails, message: string): void;
}

/** The named loggers of one process, with their levels. */
export interface Loggers {
  get(name: LoggerName): Logger;
  level(name: LoggerName): SettableLevel;
  /** One logger, or with no name all of them. */
  setLevel(level: SettableLevel, name?: LoggerName): void;
  /** The newest lines: at most 1,000 and 1 MiB. Missing if none are kept. */
  readonly recent?: RecentLines;
  /** Writes a line of another process, in JSON and with a line break. Missing if lines have no common destination. */
  append?(line: string): void;
}

const PINO_LEVEL: Readonly<Record<SettableLevel, Level | 'silent'>> = {
  trace: 'trace',
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
  panic: 'fatal',
  fatal: 'fatal',
  off: 'silent',
};

/** Paths whose values are never logged, in addition to those that {@link redact} recognises. */
const SECRET_PATHS = ['authorization', 'cookie', 'token', 'secret', 'password', 'code'].flatMap((key) => [
  key,
  `*.${key}`,
]);

/** Error codes have the same field name as authorization codes, but must be logged. */
function censor(value: unknown): string {
  const isOfError = typeof value === 'string' && (/^ERR_[A-Z_]+$/.test(value) || Object.hasOwn(constants.errno, value));
  return isOfError ? value : '[redacted]';
}

/** Errors keep their class until their serializer has read them. */
function withoutSecrets(details: Record<string, unknown>): Record<string, unknown> {
  const shown = ([key, value]: [string, unknown]) => [key, value instanceof Error ? value : redactField(key, value)];
  return Object.fromEntries(Object.entries(details).map(shown));
}

/** Cache of keys whose values are redacted only by content: most lines use the same few keys. */
const plainKeys = new Map<string, boolean>();
const MAX_KNOWN_KEYS = 1_000;

function isPlainKey(key: string): boolean {
  let isPlain = plainKeys.get(key);
  if (isPlain === undefined) {
    isPlain = redact({ [key]: '-' })[key] === '-';
    if (plainKeys.size < MAX_KNOWN_KEYS) plainKeys.set(key, isPlain);
  }
  return isPlain;
}

function redactField(key: string, value: unknown): unknown {
  if (typeof value === 'string' && isPlainKey(key)) return redactText(value);
  return redact({ [key]: value })[key];
}

/**
 * Creates the named loggers. `level` defaults to `info`, and `levels` are those of single loggers; without `destination` they write JSON lines to
 * standard output. Every line has `fields`.
 *
 * @example
 * const log = createLoggers({ level: 'warn' });
 * log.get('router').warn({ route: 'a' }, 'no healthy upstream');
 */
export function createLoggers(
  options: {
    level?: LogLevel;
    levels?: readonly LoggerLevel[];
    destination?: DestinationStream;
    fields?: Readonly<Record<string, unknown>>;
  } = {},
): Loggers {
  const recent = createLineBuffer();
  const destination = options.destination ?? pino.destination(1);
  const root = pino(
    {
      level: 'trace',
      base: options.fields ?? null,
      redact: { paths: SECRET_PATHS, censor },
      formatters: { log: withoutSecrets },
      hooks: {
        streamWrite(line) {
          recent.write(line);
          return line;
        },
      },
      serializers: { err: (error: Error) => redact(errorFields(error)) },
    },
    destination,
  );
  const loggers = new Map<LoggerName, PinoLogger>();
  const levels = new Map<LoggerName, SettableLevel>();
  for (const name of LOGGER_NAMES) loggers.set(name, root.child({ logger: name }));
  const setLevel = (level: SettableLevel, name?: LoggerName): void => {
    for (const each of name ? [name] : LOGGER_NAMES) {
      levels.set(each, level);
      loggers.get(each)!.level = PINO_LEVEL[level];
    }
  };
  setLevel(options.level ?? 'info');
  for (const { name, level } of options.levels ?? []) setLevel(level, name);
  return {
    get: (name) => loggers.get(name)!,
    level: (name) => levels.get(name)!,
    setLevel,
    recent,
    append(line) {
      recent.write(line);
      destination.write(line);
    },
  };
}

const nothing = (): void => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, fatal: nothing };

/** Loggers without output. */
export const silentLoggers: Loggers = { get: () => SILENT, level: () => 'off', setLevel: nothing };

/** Default in library use: warnings and errors as JSON lines, to standard error. */
export const libraryLoggers: Loggers = createLoggers({
  level: 'warn',
  // Not the descriptor, so that redirecting the stream also redirects these lines.
  destination: { write: (line) => void process.stderr.write(line) },
});
