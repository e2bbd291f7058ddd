import type { ControlEndpointFactory } from './endpoint.ts';

/** `/metrics`: the metrics of the process in Prometheus' text format. */
export const metrics: ControlEndpointFactory = (options) => ({
  paths: ['/metrics'],
  help: 'metrics for Prometheus',
  get: async () => ({ type: 'prometheus', body: await options.metrics.registry.metrics() }),
});
