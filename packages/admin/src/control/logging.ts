import { LOG_LEVELS, type LogLevel } from '@edge-gateway/core';
import { compactJson } from '../http/answer.ts';
import { adminError } from '../error-codes.ts';
import type { ControlEndpointFactory } from './endpoint.ts';

/** `/logging`: GET shows the level as `{level}`, PUT with the same sets it for every logger. */
export const logging: ControlEndpointFactory = ({ loggers }) => ({
  paths: ['/logging'],
  help: 'log level; PUT {"level":"debug"} sets it',
  get: () => compactJson({ level: loggers.level('main') }),
  put: (body) => {
    const level = levelIn(body);
    loggers.setLevel(level);
    loggers.get('admin').info({ level }, 'log level set');
    return compactJson({ level });
  },
});

function levelIn(body: unknown): LogLevel {
  const { level, ...others } = typeof body === 'object' && body !== null ? (body as { level?: unknown }) : {};
  const known = LOG_LEVELS.find((each) => each === level);
  if (known && Object.keys(others).length === 0) return known;
  throw adminError('ERR_ADMIN_BAD_LEVEL', {
    message: `The body has to be {"level": "<level>"} with one of ${LOG_LEVELS.join(', ')}.`,
  });
}
