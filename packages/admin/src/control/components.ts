import { compactJson } from '../http/answer.ts';
import type { ControlEndpointFactory } from './endpoint.ts';

/** `/components`: the parts of the running gateway with their state, as a list. */
export const components: ControlEndpointFactory = (options) => ({
  paths: ['/components'],
  help: 'health of the components',
  get: () => compactJson(options.components()),
});
