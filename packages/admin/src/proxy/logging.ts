import {
  LOGGER_NAMES,
  parseLoggerLevel,
  parseLogLevel,
  type LoggerName,
  type Loggers,
  type SettableLevel,
} from '@edge-gateway/core';
import { PROXY_LEVELS, proxyLevelName } from './proxy-levels.ts';
import type { Endpoint } from '../http/endpoint.ts';

const USAGE = `usage: /logging?level=<level> sets every logger
usage: /logging?<name>=<level> sets one logger
usage: /logging?paths=<name>:<level>,<name>:<level>,... sets several loggers
levels: ${PROXY_LEVELS.join(' ')}
`;

interface Setting {
  readonly name?: LoggerName;
  readonly level: SettableLevel;
}

/** `/logging`: lists the loggers; with parameters sets their levels, all of them or none. */
export function logging(log: Loggers): Endpoint {
  return {
    paths: ['/logging'],
    help: 'lists the loggers with their levels, and sets levels by POST',
    parameters: [
      { name: 'level', help: 'level for every logger', values: PROXY_LEVELS },
      { name: 'paths', help: 'levels of several loggers, <name>:<level>,...' },
    ],
    changes: (parameters) => parameters.size > 0,
    respond: (parameters) => {
      const settings = settingsOf(parameters);
      if (typeof settings === 'string') return { status: 400, body: `error: ${settings}\n\n${USAGE}` };
      for (const { name, level } of settings) log.setLevel(level, name);
      if (settings.length > 0) log.get('admin').info({ settings }, 'log levels set');
      const lines = LOGGER_NAMES.map((name) => `  ${name}: ${proxyLevelName(log.level(name))}\n`);
      return { body: `active loggers:\n${lines.join('')}\n` };
    },
  };
}

/** The requested change, or what is wrong with it. */
function settingsOf(parameters: URLSearchParams): Setting[] | string {
  const settings: Setting[] = [];
  for (const [name, value] of parameters) {
    const pairs = name === 'paths' ? value.split(',').map((pair) => pair.split(':')) : [[name, value]];
    for (const pair of pairs) {
      const setting = settingOf(pair, name === 'level');
      if (typeof setting === 'string') return setting;
      settings.push(setting);
    }
  }
  return settings;
}

function settingOf([name = '', value = '', ...rest]: readonly string[], forAll: boolean): Setting | string {
  if (rest.length > 0) return 'unknown logger level';
  if (!forAll) return parseLoggerLevel(name, value);
  const level = parseLogLevel(value);
  return level ? { level } : 'unknown logger level';
}
