import type { Histogram, Stat } from '@edge-gateway/core';
import { adminError } from '../error-codes.ts';
import { json, type EndpointResponse } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { renderPrometheus } from '../http/exposition.ts';
import { quantile } from '../http/quantile.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
import { refreshServerStats } from './server-stats.ts';
import { SELECTION_PARAMETERS, prometheusSelection, selectStats } from './stat-selection.ts';

type HistogramStat = Extract<Stat, { type: 'histogram' }>;
type PlainStat = Exclude<Stat, HistogramStat>;

/** The quantiles that statistics show, in percent. */
const QUANTILES = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 100] as const;

const FORMATS = ['text', 'json', 'prometheus'] as const;
const BUCKET_FORMS = ['summary', 'cumulative', 'disjoint'] as const;

/** Returns `/stats` (counters and gauges sorted by name, then histograms) and `/stats/prometheus`. */
export function statsEndpoints(options: ProxyAdminOptions): Endpoint[] {
  const { metrics } = options.context;
  const prometheus = async (parameters: URLSearchParams): Promise<EndpointResponse> => {
    await options.refresh?.('stats');
    refreshServerStats(options);
    return renderPrometheus(metrics, prometheusSelection(parameters));
  };
  return [
    {
      paths: ['/stats/prometheus'],
      help: 'statistics for Prometheus',
      parameters: SELECTION_PARAMETERS,
      respond: prometheus,
    },
    {
      paths: ['/stats'],
      help: 'statistics',
      parameters: [
        ...SELECTION_PARAMETERS,
        { name: 'format', help: 'output format', values: FORMATS },
        { name: 'histogram_buckets', help: 'format of histograms in text', values: BUCKET_FORMS },
      ],
      respond: async (parameters) => {
        const format = oneOf(FORMATS, parameters.get('format'), 'format');
        const form = oneOf(BUCKET_FORMS, parameters.get('histogram_buckets'), 'histogram_buckets');
        if (format === 'prometheus') return prometheus(parameters);
        await options.refresh?.('stats');
        refreshServerStats(options);
        const selected = selectStats(metrics, parameters);
        const histograms = selected.filter((stat) => stat.type === 'histogram');
        const plain = selected.filter((stat) => stat.type !== 'histogram');
        return format === 'json' ? asJson(plain, histograms) : { body: textLines(plain, histograms, form) };
      },
    },
  ];
}

function oneOf<const T extends readonly string[]>(values: T, value: string | null, name: string): T[number] {
  if (!value) return values[0]!;
  if (values.includes(value)) return value;
  throw adminError('ERR_ADMIN_BAD_PARAMETER', `usage: /stats?${name}=(${values.join('|')})`);
}

function* textLines(
  plain: PlainStat[],
  histograms: HistogramStat[],
  form: (typeof BUCKET_FORMS)[number],
): Iterable<string> {
  for (const { name, stat } of plain) yield `${name.path}: ${stat.value}\n`;
  for (const { name, stat } of histograms)
    yield `${name.path}: ${form === 'summary' ? summary(stat) : buckets(stat, form)}\n`;
}

/** The first of each pair is of the last interval, which is not kept: `nan`. */
function summary(histogram: Histogram): string {
  if (histogram.count === 0) return 'No recorded values';
  return QUANTILES.map((percent) => `P${percent}(nan,${quantile(histogram, percent)})`).join(' ');
}

function buckets({ bounds, buckets: below, count }: Histogram, form: 'cumulative' | 'disjoint'): string {
  const counts = [...below, count].map((cumulative, i) =>
    form === 'disjoint' ? cumulative - (below[i - 1] ?? 0) : cumulative,
  );
  return counts.map((each, i) => `B${bounds[i] ?? 'inf'}(nan,${each})`).join(' ');
}

function asJson(plain: PlainStat[], histograms: HistogramStat[]): EndpointResponse {
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
