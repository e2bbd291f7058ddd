import { compactJson } from '../http/answer.ts';
import type { ControlEndpointFactory } from './endpoint.ts';

/** `/version`: of the running gateway, as `{version}`. */
export const version: ControlEndpointFactory = (options) => ({
  paths: ['/version'],
  help: 'version of the running gateway',
  get: () => compactJson({ version: options.version }),
});
