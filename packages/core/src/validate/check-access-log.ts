import type { FieldPath, FieldProblem } from '../resource/problem.ts';
import type { AccessLog, AccessLogFilter } from '../schema/listener/access-log.ts';
import { each, fields, reporterOf, within, type Check } from './check.ts';
import { checkFraction } from './share.ts';
import { GRPC_STATUSES } from '../syntax/grpc-status.ts';
import { formatProblem } from '../syntax/header-format.ts';
import { checkMatcherCondition } from './route/check-matcher.ts';

const invalid = reporterOf('INVALID_ACCESS_LOG');

/** Returns problems of one access log: its sink, formats with unknown operators, incomplete filters. */
export const checkAccessLog: Check<AccessLog> = (log, at) =>
  fields(log, at, {
    fileSink: (sink, path) => [
      ...invalid(!sink.path && 'the file sink has no path', path, { hint: 'path' }),
      ...fields(sink, path, { stringFormat: checkFormat, jsonFormat: checkFormat }),
    ],
    grpcService: ({ logName }, path) => invalid(!logName && 'the log has no name', path, { hint: 'logName' }),
    openTelemetryService: checkCollector,
    filter: checkFilter,
  });

const COLLECTOR = /^(?:https?:\/\/[^\s/]+(?:\/\S*)?|(?:\[[0-9a-f:.]+\]|[^\s/:[\]]+):\d{1,5})$/i;

const checkCollector: Check<NonNullable<AccessLog['openTelemetryService']>> = (service, at) => [
  ...fields(service, at, {
    collector: ({ endpoint = '' }, path) =>
      invalid(!COLLECTOR.test(endpoint) && `invalid address of the collector '${endpoint}'`, [...path, 'endpoint'], {
        hint: 'host:port or a URL',
      }),
    body: checkEntryFormat,
    attributes: checkEntryFormat,
  }),
  ...invalid(!service.collector && 'the log has no collector', at, { hint: 'collector.endpoint' }),
];

/** An invalid format of a line is a warning, because the default format is used instead. */
const checkFormat = (written: unknown, at: FieldPath): FieldProblem[] =>
  formatProblems(written, at, ({ message, ...more }) => ({
    message: `${message}; the default line is written instead`,
    severity: 'warning',
    ...more,
  }));

const checkEntryFormat = (written: unknown, at: FieldPath): FieldProblem[] =>
  formatProblems(written, at, (problem) => problem);

type FormatProblem = NonNullable<ReturnType<typeof formatProblem>> & { readonly severity?: 'warning' };

/** Returns the problems of every text in a value. */
function formatProblems(
  written: unknown,
  at: FieldPath,
  describe: (problem: FormatProblem) => FormatProblem,
): FieldProblem[] {
  if (Array.isArray(written)) return written.flatMap((part, i) => formatProblems(part, [...at, i], describe));
  if (typeof written === 'object' && written !== null)
    return Object.entries(written).flatMap(([key, value]) => formatProblems(value, [...at, key], describe));
  const problem = typeof written === 'string' ? formatProblem(written, 'access log') : undefined;
  if (!problem) return [];
  const { message, ...more } = describe(problem);
  return invalid(message, at, more);
}

const checkFilter: Check<AccessLogFilter> = (filter, at) =>
  fields(filter, at, {
    grpcStatusFilter: ({ statuses = [] }, path) =>
      each(statuses, [...path, 'statuses'], (status, place) =>
        invalid(!isGrpcStatus(status) && `unknown gRPC status '${String(status)}'`, place, {
          hint: GRPC_STATUSES.join(', '),
        }),
      ),
    statusCodeFilter: checkComparison,
    durationFilter: checkComparison,
    headerFilter: ({ header }, path) => within(header, [...path, 'header'], checkMatcherCondition),
    runtimeFilter: (runtime, path) => fields(runtime, path, { percentSampled: checkFraction }),
    andFilter: checkSeveral,
    orFilter: checkSeveral,
  });

function isGrpcStatus(status: unknown): boolean {
  if (typeof status === 'number') return Number.isInteger(status) && status >= 0 && status < GRPC_STATUSES.length;
  return GRPC_STATUSES.includes(String(status).toUpperCase());
}

const checkComparison: Check<NonNullable<AccessLogFilter['statusCodeFilter']>> = ({ comparison }, at) =>
  invalid(!(comparison?.value && Object.keys(comparison.value).length > 0) && 'the filter has no comparison', at, {
    hint: 'comparison.value.defaultValue',
  });

const checkSeveral: Check<NonNullable<AccessLogFilter['andFilter']>> = ({ filters = [] }, at) => [
  ...each(filters, [...at, 'filters'], checkFilter),
  ...invalid(filters.length < 2 && 'the filter must contain at least two filters', at),
];
