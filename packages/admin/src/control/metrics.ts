import { renderPrometheus } from '../http/exposition.ts';
import type { ControlEndpointFactory } from './endpoint.ts';

/** `/metrics`: the metrics of the process in Prometheus' text format. */
export const metrics: ControlEndpointFactory = (options) => ({
  paths: ['/metrics'],
  help: 'metrics for Prometheus',
  get: () => renderPrometheus(options.metrics),
});
