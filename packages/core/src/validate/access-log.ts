import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { AccessLog, AccessLogFilter } from '../schema/listener/access-log.ts';
import { each, fields, reporterOf, within, type Check } from './check.ts';
import { formatProblem } from '../syntax/header-format.ts';
import { checkMatcherCondition } from './route/matcher.ts';

const invalid = reporterOf('INVALID_ACCESS_LOG');

/** Returns problems of one access log: its sink, formats with unknown operators, incomplete filters. */
export const checkAccessLog: Check<AccessLog> = (log, at) =>
  fields(log, at, {
    fileSink: (sink, path) => [
      ...invalid(!sink.path && 'the file sink has no path', path, { hint: 'path' }),
      ...fields(sink, path, { stringFormat: checkFormat, jsonFormat: checkFormat }),
    ],
    filter: checkFilter,
  });

/** An invalid format is a warning, because the default format is used instead. */
function checkFormat(written: unknown, at: FieldPath): FieldProblem[] {
  if (Array.isArray(written)) return each(written, at, checkFormat);
  if (typeof written === 'object' && written !== null)
    return Object.entries(written).flatMap(([key, value]) => checkFormat(value, [...at, key]));
  const problem = typeof written === 'string' ? formatProblem(written, 'access log') : undefined;
  if (!problem) return [];
  const { message, ...more } = problem;
  return invalid(`${message}; the default line is written instead`, at, { severity: 'warning', ...more });
}

const checkFilter: Check<AccessLogFilter> = (filter, at) =>
  fields(filter, at, {
    statusCodeFilter: checkComparison,
    durationFilter: checkComparison,
    headerFilter: ({ header }, path) => within(header, [...path, 'header'], checkMatcherCondition),
    andFilter: checkSeveral,
    orFilter: checkSeveral,
  });

const checkComparison: Check<NonNullable<AccessLogFilter['statusCodeFilter']>> = ({ comparison }, at) =>
  invalid(comparison?.value?.defaultValue === undefined && 'the filter has no comparison', at, {
    hint: 'comparison.value.defaultValue',
  });

const checkSeveral: Check<NonNullable<AccessLogFilter['andFilter']>> = ({ filters = [] }, at) => [
  ...each(filters, [...at, 'filters'], checkFilter),
  ...invalid(filters.length < 2 && 'the filter must contain at least two filters', at),
];
