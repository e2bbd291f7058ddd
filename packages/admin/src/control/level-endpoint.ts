import {
  LOG_LEVELS,
  LOGGER_NAMES,
  parseLoggerLevel,
  type LoggerLevel,
  type Loggers,
  type LogLevel,
} from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';
import { compactJson, type EndpointResponse } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';

interface Levels {
  /** Of all loggers. */
  readonly level?: LogLevel;
  /** Of single loggers, after that of all. */
  readonly loggers: readonly LoggerLevel[];
}

/**
 * `/logging`: the level of all loggers, and of those that have another one. `PUT {"level": "debug"}` sets all of them,
 * `PUT {"loggers": {"grpc": "debug"}}` single ones; either all changes are applied, or none.
 */
export function levelEndpoint(log: Loggers): Endpoint {
  return {
    paths: ['/logging'],
    help: 'log levels; PUT {"level":"debug"} sets all, PUT {"loggers":{"grpc":"debug"}} single ones',
    respond: () => levelsOf(log),
    put: (body) => {
      const { level, loggers } = levelsIn(body);
      if (level) log.setLevel(level);
      for (const { name, level: own } of loggers) log.setLevel(own, name);
      log.get('admin').info({ setTo: level ?? loggers }, 'log level set');
      return levelsOf(log);
    },
  };
}

function levelsOf(log: Loggers): EndpointResponse {
  const level = log.level('main');
  const others = LOGGER_NAMES.flatMap((name) => (log.level(name) === level ? [] : [[name, log.level(name)] as const]));
  return compactJson({ level, ...(others.length > 0 && { loggers: Object.fromEntries(others) }) });
}

function levelsIn(body: unknown): Levels {
  const { level, loggers, ...others } = isObject(body) ? body : {};
  const known = LOG_LEVELS.find((each) => each === level);
  const isEmpty = level === undefined && loggers === undefined;
  const isWrong = (level !== undefined && !known) || (loggers !== undefined && !isObject(loggers));
  if (isEmpty || isWrong || Object.keys(others).length > 0) throw badLevel();
  return { ...(known && { level: known }), loggers: Object.entries(loggers ?? {}).map(loggerLevelIn) };
}

function loggerLevelIn([name, level]: readonly [string, unknown]): LoggerLevel {
  const parsed = parseLoggerLevel(name, String(level));
  if (typeof parsed === 'string') throw badLevel(`${parsed}: ${name}: ${String(level).slice(0, 80)}. `);
  return parsed;
}

function badLevel(reason = ''): Error {
  const levels = LOG_LEVELS.join(', ');
  const form = `The body must be {"level": "<level>"} with one of ${levels}, or {"loggers": {"<name>": "<level>"}}.`;
  return adminError('ERR_ADMIN_BAD_LEVEL', reason + form);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
