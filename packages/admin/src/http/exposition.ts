import { metricHelp, samplesOf, type Metrics, type Stat } from '@edge-gateway/core';
import type { EndpointResponse } from './endpoint-response.ts';

/** The requested metrics. */
export interface MetricSelection {
  stat(stat: Stat): boolean;
  /** Metrics that are registered beside the statistics, by name. */
  other(metric: string): boolean;
}

const EVERYTHING: MetricSelection = { stat: () => true, other: () => true };

/** Metrics in Prometheus' text format: the statistics, and other metrics of the registry. */
export async function renderPrometheus(metrics: Metrics, selection = EVERYTHING): Promise<EndpointResponse> {
  const others = await otherMetrics(metrics, selection);
  return { type: 'prometheus', body: exposition(metrics, selection, others) };
}

function* exposition(metrics: Metrics, selection: MetricSelection, others: readonly string[]): Iterable<string> {
  // A copy: the output is sent in several writes, and must not contain a family twice.
  const families = [...metrics.families()];
  for (const [metric, family] of families) {
    const stats = [...family].filter((stat) => selection.stat(stat));
    const type = stats[0]?.type;
    if (type) yield `# HELP ${metric} ${metricHelp(metric)}\n# TYPE ${metric} ${type}\n`;
    for (const stat of stats) if (stat.type === type) yield linesOf(stat);
  }
  yield* others;
}

function linesOf(stat: Stat): string {
  return samplesOf(stat)
    .map(({ metricName = stat.name.metric, labels, value }) => sample(metricName, labels, value))
    .join('');
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

async function otherMetrics({ registry, families }: Metrics, selection: MetricSelection): Promise<string[]> {
  const own = families();
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const wanted = names.filter((name) => !own.has(name) && selection.other(name));
  return Promise.all(wanted.map(async (name) => `${await registry.getSingleMetricAsString(name)}\n`));
}
