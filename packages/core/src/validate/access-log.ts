import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { AccessLog, AccessLogFilter } from '../schema/listener/access-log.ts';
import { within } from './check.ts';
import { formatProblem } from '../syntax/header-format.ts';
import { checkMatcherCondition } from './route/matcher.ts';

/** Returns problems of one access log: its sink, formats with unknown operators, incomplete filters. */
export function checkAccessLog({ fileSink, filter }: AccessLog, at: FieldPath): FieldProblem[] {
  const missing: FieldProblem[] =
    fileSink && !fileSink.path
      ? [{ code: 'INVALID_ACCESS_LOG', path: [...at, 'fileSink'], message: 'the file sink has no path', hint: 'path' }]
      : [];
  const sink = [...at, 'fileSink'];
  return [
    ...missing,
    ...checkFormat(fileSink?.stringFormat, [...sink, 'stringFormat']),
    ...checkFormat(fileSink?.jsonFormat, [...sink, 'jsonFormat']),
    ...within(filter, [...at, 'filter'], checkFilter),
  ];
}

/** An invalid format is a warning, because the default format is used instead. */
function checkFormat(written: unknown, at: FieldPath): FieldProblem[] {
  if (Array.isArray(written)) return written.flatMap((item, i) => checkFormat(item, [...at, i]));
  if (typeof written === 'object' && written !== null)
    return Object.entries(written).flatMap(([key, value]) => checkFormat(value, [...at, key]));
  const problem = typeof written === 'string' ? formatProblem(written, 'access log') : undefined;
  if (!problem) return [];
  const message = `${problem.message}; the default line is written instead`;
  return [{ code: 'INVALID_ACCESS_LOG', severity: 'warning', path: at, ...problem, message }];
}

function checkFilter(filter: AccessLogFilter, at: FieldPath): FieldProblem[] {
  return [
    ...within(filter.statusCodeFilter, [...at, 'statusCodeFilter'], checkComparison),
    ...within(filter.durationFilter, [...at, 'durationFilter'], checkComparison),
    ...within(filter.headerFilter?.header, [...at, 'headerFilter', 'header'], checkMatcherCondition),
    ...within(filter.andFilter, [...at, 'andFilter'], checkSeveral),
    ...within(filter.orFilter, [...at, 'orFilter'], checkSeveral),
  ];
}

type Comparing = NonNullable<AccessLogFilter['statusCodeFilter']>;

function checkComparison({ comparison }: Comparing, at: FieldPath): FieldProblem[] {
  if (comparison?.value?.defaultValue !== undefined) return [];
  return [
    {
      code: 'INVALID_ACCESS_LOG',
      path: at,
      message: 'the filter has no comparison',
      hint: 'comparison.value.defaultValue',
    },
  ];
}

function checkSeveral({ filters = [] }: NonNullable<AccessLogFilter['andFilter']>, at: FieldPath): FieldProblem[] {
  const findings = filters.flatMap((filter, i) => checkFilter(filter, [...at, 'filters', i]));
  if (filters.length >= 2) return findings;
  return [
    ...findings,
    { code: 'INVALID_ACCESS_LOG', path: at, message: 'the filter must contain at least two filters' },
  ];
}
