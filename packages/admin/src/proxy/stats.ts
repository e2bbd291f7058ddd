import { renderPrometheus } from '../http/exposition.ts';
import { json, type Answer } from '../http/answer.ts';
import type { Histogram, Stat } from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';
import type { EndpointFactory } from './endpoint.ts';
import { QUANTILES, disjoint, quantile } from './quantiles.ts';
import { refreshServerStats } from './server-stats.ts';
import { SELECTION_PARAMETERS, prometheusSelection, selectStats } from './stat-selection.ts';

type HistogramStat = Extract<Stat, { type: 'histogram' }>;
type PlainStat = Exclude<Stat, HistogramStat>;

const FORMATS = ['text', 'json', 'prometheus'] as const;
const BUCKET_FORMS = ['summary', 'cumulative', 'disjoint'] as const;

/** `/stats`: counters and gauges sorted by name, then histograms. */
export const stats: EndpointFactory = (options) => ({
  paths: ['/stats'],
  help: 'statistics',
  parameters: [
    ...SELECTION_PARAMETERS,
    { name: 'format', help: 'output format', values: FORMATS },
    { name: 'histogram_buckets', help: 'format of histograms in text', values: BUCKET_FORMS },
  ],
  answer: (parameters) => {
    const format = oneOf(FORMATS, parameters.get('format'), 'format');
    const form = oneOf(BUCKET_FORMS, parameters.get('histogram_buckets'), 'histogram_buckets');
    refreshServerStats(options);
    if (format === 'prometheus') return renderPrometheus(options.context.metrics, prometheusSelection(parameters));
    const selected = selectStats(options.context.metrics, parameters);
    const histograms = selected.filter((stat) => stat.type === 'histogram');
    const plain = selected.filter((stat) => stat.type !== 'histogram');
    return format === 'json' ? asJson(plain, histograms) : asText(plain, histograms, form);
  },
});

function oneOf<const T extends readonly string[]>(values: T, value: string | null, name: string): T[number] {
  if (!value) return values[0]!;
  if (values.includes(value)) return value;
  throw adminError('ERR_ADMIN_BAD_PARAMETER', { message: `usage: /stats?${name}=(${values.join('|')})` });
}

type Print = (histogram: Histogram) => string;

function asText(plain: PlainStat[], histograms: HistogramStat[], form: (typeof BUCKET_FORMS)[number]): Answer {
  const print = form === 'summary' ? summary : form === 'cumulative' ? cumulativeBuckets : disjointBuckets;
  return { body: textLines(plain, histograms, print) };
}

function* textLines(plain: PlainStat[], histograms: HistogramStat[], print: Print): Iterable<string> {
  for (const { name, stat } of plain) yield `${name.path}: ${stat.value}\n`;
  for (const { name, stat } of histograms) yield `${name.path}: ${print(stat)}\n`;
}

/** The first of each pair is of the last interval, which is not kept: `nan`. */
function summary(histogram: Histogram): string {
  if (histogram.count === 0) return 'No recorded values';
  return QUANTILES.map((percent) => `P${percent}(nan,${quantile(histogram, percent)})`).join(' ');
}

function cumulativeBuckets(histogram: Histogram): string {
  return printed(histogram, [...histogram.buckets, histogram.count]);
}

function disjointBuckets(histogram: Histogram): string {
  return printed(histogram, disjoint(histogram));
}

function printed({ bounds }: Histogram, counts: readonly number[]): string {
  return counts.map((count, i) => `B${bounds[i] ?? 'inf'}(nan,${count})`).join(' ');
}

function asJson(plain: PlainStat[], histograms: HistogramStat[]): Answer {
  const list: object[] = plain.map(({ name, stat }) => ({ name: name.path, value: stat.value }));
  if (histograms.length > 0) list.push({ histograms: histogramsAsJson(histograms) });
  return json({ stats: list });
}

function histogramsAsJson(histograms: HistogramStat[]): object {
  const values = (stat: Histogram): object[] =>
    QUANTILES.map((percent) => ({ interval: null, cumulative: quantile(stat, percent) ?? null }));
  return {
    supported_quantiles: QUANTILES,
    computed_quantiles: histograms.map(({ name, stat }) => ({ name: name.path, values: values(stat) })),
  };
}
