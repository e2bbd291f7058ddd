import type { EndpointFactory } from './endpoint.ts';
import { renderPrometheus } from '../http/exposition.ts';
import { refreshServerStats } from './server-stats.ts';
import { SELECTION_PARAMETERS, prometheusSelection } from './stat-selection.ts';

/** `/stats/prometheus`: the statistics in Prometheus' text format. */
export const statsPrometheus: EndpointFactory = (options) => ({
  paths: ['/stats/prometheus'],
  help: 'statistics for Prometheus',
  parameters: SELECTION_PARAMETERS,
  answer: (parameters) => {
    refreshServerStats(options);
    return renderPrometheus(options.context.metrics, prometheusSelection(parameters));
  },
});
