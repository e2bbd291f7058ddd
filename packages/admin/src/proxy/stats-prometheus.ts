import type { Answer } from '../answer.ts';
import { HISTOGRAM_BUCKETS, type Metrics, type Stat } from '@edge-gateway/core';
import type { EndpointFactory } from './endpoint.ts';
import { refreshServerStats } from './server-stats.ts';
import { SELECTION_PARAMETERS, selectStats, statFilter } from './stat-selection.ts';

/** `/stats/prometheus`: the statistics in Prometheus' text format. */
export const statsPrometheus: EndpointFactory = (options) => ({
  paths: ['/stats/prometheus'],
  help: 'statistics for Prometheus',
  parameters: SELECTION_PARAMETERS,
  answer: (parameters) => {
    refreshServerStats(options);
    return renderPrometheus(options.context.metrics, parameters);
  },
});

/** The statistics selected, and what else the registry holds (those by their metric's name). */
export async function renderPrometheus(metrics: Metrics, parameters: URLSearchParams): Promise<Answer> {
  const families = Map.groupBy(selectStats(metrics, parameters), (stat) => stat.name.metric);
  const blocks = [...families].map(([metric, stats]) => family(metric, stats));
  if (!parameters.get('type')) blocks.push(...(await foreign(metrics, statFilter(parameters))));
  return { type: 'prometheus', body: blocks.join('') };
}

function family(metric: string, stats: readonly Stat[]): string {
  const { type } = stats[0]!;
  return `# TYPE ${metric} ${type}\n${stats
    .filter((stat) => stat.type === type)
    .flatMap(samples)
    .join('')}`;
}

function samples({ name: { metric, labels = {} }, type, stat }: Stat): string[] {
  if (type !== 'histogram') return [sample(metric, labels, stat.value)];
  const bucket = (le: string, count: number): string => sample(`${metric}_bucket`, { ...labels, le }, count);
  return [
    ...HISTOGRAM_BUCKETS.map((bound, i) => bucket(String(bound), stat.buckets[i]!)),
    bucket('+Inf', stat.count),
    sample(`${metric}_sum`, labels, stat.sum),
    sample(`${metric}_count`, labels, stat.count),
  ];
}

function sample(metric: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([name, text]) => `${name}="${escapeLabel(text)}"`);
  return `${metric}{${pairs.join(',')}} ${value}\n`;
}

function escapeLabel(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}

/** Metrics that were registered beside the statistics, such as those of the process. */
async function foreign({ registry, list }: Metrics, matches: (name: string) => boolean): Promise<string[]> {
  const own = new Set(list().map((stat) => stat.name.metric));
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const wanted = names.filter((name) => !own.has(name) && matches(name));
  return Promise.all(wanted.map(async (name) => `${await registry.getSingleMetricAsString(name)}\n`));
}
