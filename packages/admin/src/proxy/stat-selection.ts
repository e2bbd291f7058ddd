import { compileRegex, type Metrics, type Stat } from '@edge-gateway/core';
import type { MetricSelection } from '../http/exposition.ts';
import { adminError } from '../error-codes.ts';
import { isOn, type Parameter } from '../http/endpoint.ts';

/** Maximum number of instructions; far more than a search for a name needs. */
const MAX_PROGRAM_SIZE = 2000;

const TYPES = {
  All: undefined,
  Counters: 'counter',
  Gauges: 'gauge',
  Histograms: 'histogram',
  TextReadouts: 'text',
} as const;

/** The parameters that select statistics. */
export const SELECTION_PARAMETERS: readonly Parameter[] = [
  { name: 'filter', help: 'only names that contain a match of this RE2 expression' },
  { name: 'usedonly', help: 'only statistics that were used', flag: true },
  { name: 'type', help: 'only statistics of this type', values: Object.keys(TYPES) },
];

/** The test of all of these parameters. Throws `ERR_ADMIN_BAD_PARAMETER`. */
function statSelection(parameters: URLSearchParams): (stat: Stat) => boolean {
  const matches = statFilter(parameters);
  const type = typeOf(parameters.get('type'));
  const usedOnly = isOn(parameters, 'usedonly');
  return (stat) => (!type || stat.type === type) && (!usedOnly || isUsed(stat)) && matches(stat.name.path);
}

/** The same for Prometheus; metrics beside the statistics have no type to select by, and are found by their name. */
export function prometheusSelection(parameters: URLSearchParams): MetricSelection {
  const matches = statFilter(parameters);
  return { stat: statSelection(parameters), other: (metric) => !parameters.get('type') && matches(metric) };
}

/** Returns the selected statistics, sorted by path. Throws `ERR_ADMIN_BAD_PARAMETER`. */
export function selectStats(metrics: Metrics, parameters: URLSearchParams): Stat[] {
  const selected = statSelection(parameters);
  const stats = [...metrics.families().values()].flatMap((family) => [...family].filter(selected));
  return stats.sort((a, b) => (a.name.path < b.name.path ? -1 : 1));
}

/** The test of `filter`; everything passes without one. Throws `ERR_ADMIN_BAD_PARAMETER`. */
export function statFilter(parameters: URLSearchParams): (name: string) => boolean {
  const pattern = parameters.get('filter');
  if (!pattern) return () => true;
  const regex = readRegex(pattern);
  return (name) => regex.test(name);
}

/** Compiles an RE2 expression of a query. Throws `ERR_ADMIN_BAD_PARAMETER`. */
export function readRegex(pattern: string): ReturnType<typeof compileRegex> {
  try {
    return compileRegex(pattern, { maxProgramSize: MAX_PROGRAM_SIZE });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'it cannot be compiled';
    throw adminError('ERR_ADMIN_BAD_PARAMETER', `Invalid re2 regex: ${reason}`, { cause });
  }
}

function typeOf(name: string | null): string | undefined {
  if (!name) return undefined;
  const known = Object.entries(TYPES).find(([type]) => type.toLowerCase() === name.toLowerCase());
  if (known) return known[1];
  throw adminError('ERR_ADMIN_BAD_PARAMETER', `invalid type, one of ${Object.keys(TYPES).join(', ')}`);
}

function isUsed({ type, stat }: Stat): boolean {
  return type === 'histogram' ? stat.count > 0 : stat.value !== 0;
}
