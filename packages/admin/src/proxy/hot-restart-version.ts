import type { EndpointFactory } from './endpoint.ts';

/** `/hot_restart_version`: configuration is swapped in place, so there is no hot restart. */
export const hotRestartVersion: EndpointFactory = () => ({
  paths: ['/hot_restart_version'],
  help: 'hot restart compatibility version (there is none)',
  answer: () => ({ body: 'disabled\n' }),
});
