import {
  anything,
  block,
  bool,
  duration,
  empty,
  enumeration,
  int,
  list,
  map,
  named,
  notYet,
  of,
  self,
  text,
  type Static,
} from './field.ts';
import { HeaderMatcher } from './matcher.ts';

const value = block({
  defaultValue: int('The number, unless the runtime key has another one.', { minimum: 0 }),
  runtimeKey: text('Runtime key that may replace it.'),
});
const comparison = of(
  block({
    op: enumeration(['EQ', 'GE', 'LE'], 'Equal, at least, at most.', { default: 'EQ' }),
    value: of(value, 'What it is compared with.'),
  }),
  'How it is compared.',
);
const several = (description: string) =>
  of(block({ filters: list(self('AccessLogFilter'), 'The filters; at least two.') }), description);

const filter = block(
  {
    statusCodeFilter: of(block({ comparison }), 'By status.'),
    durationFilter: of(block({ comparison }), 'By duration in milliseconds.'),
    notHealthCheckFilter: empty('All but health checks.'),
    traceableFilter: empty('Requests that are traced.', notYet),
    runtimeFilter: of(
      block({
        runtimeKey: text('Runtime key with the share.'),
        percentSampled: of(
          block({
            numerator: int('Upper part of the fraction.', { minimum: 0 }),
            denominator: enumeration(['HUNDRED', 'TEN_THOUSAND', 'MILLION'], 'Lower part.', { default: 'HUNDRED' }),
          }),
          'Share of requests.',
        ),
        useIndependentRandomness: bool('Draws anew instead of using the request id.', { default: false }),
      }),
      'A share of requests.',
    ),
    headerFilter: of(block({ header: of(HeaderMatcher, 'The condition.') }), 'By request header.'),
    responseFlagFilter: of(block({ flags: list(text(), 'Flags, e.g. `NR`. Empty: any.') }), 'By response flag.'),
    grpcStatusFilter: of(
      block({
        statuses: list(anything(), 'Statuses by name or number.'),
        exclude: bool('All but these.', { default: false }),
      }),
      'By gRPC status.',
      notYet,
    ),
    andFilter: several('All of them hold.'),
    orFilter: several('One of them holds.'),
  },
  {
    oneOf: [
      {
        members: [
          'statusCodeFilter',
          'durationFilter',
          'notHealthCheckFilter',
          'traceableFilter',
          'runtimeFilter',
          'headerFilter',
          'responseFlagFilter',
          'grpcStatusFilter',
          'andFilter',
          'orFilter',
        ],
        required: true,
        message: 'an access log filter must set exactly one condition',
      },
    ],
  },
);
/** Which requests are logged. */
export interface AccessLogFilter extends Static<typeof filter> {
  readonly andFilter?: { readonly filters?: readonly AccessLogFilter[] };
  readonly orFilter?: { readonly filters?: readonly AccessLogFilter[] };
}
export const AccessLogFilter = named<AccessLogFilter>('AccessLogFilter', filter);

const fileSink = block(
  {
    path: text('File that lines are added to; `/dev/stdout` is standard output.'),
    stringFormat: text('Line with command operators; needs its own newline. Empty: the default line.'),
    jsonFormat: map(anything(), 'Command operators by key; one JSON object a line.'),
  },
  { oneOf: [{ members: ['stringFormat', 'jsonFormat'] }] },
);
const names = (what: string) => list(text(), what);
const grpcService = block({
  logName: text('Name of the log.'),
  staticClusterName: text('Cluster of the server.', { default: 'access_log_cluster' }),
  additionalRequestHeadersToLog: names('Request headers sent in addition.'),
  additionalResponseHeadersToLog: names('Response headers sent in addition.'),
  additionalResponseTrailersToLog: names('Response trailers sent in addition.'),
  filterStateObjectsToLog: names('Objects of concerns sent in addition.'),
});
const openTelemetry = block({
  logName: text('Name of the log.'),
  collector: of(
    block({
      endpoint: text('Address of the collector.'),
      authority: text('`:authority` of the calls.'),
      headers: anything('Headers of the calls.'),
      insecure: bool('Plain text.', { default: false }),
      sslConfig: anything('TLS towards the collector.'),
      timeout: duration('Longest time for a call.'),
    }),
    'Who gets the lines.',
  ),
  filterStateObjectsToLog: names('Objects of concerns sent in addition.'),
  disableBuiltinLabels: bool('Leaves out the usual labels.', { default: false }),
  body: anything('Body of an entry.'),
  attributes: anything('Attributes of an entry.'),
});
const log = block(
  {
    fileSink: of(fileSink, 'Lines in a file or on standard output.'),
    grpcService: of(grpcService, 'Sends entries to a server.', notYet),
    openTelemetryService: of(openTelemetry, 'Sends entries to a collector.', notYet),
    filter: of(AccessLogFilter, 'Which requests are logged. Unset: all.'),
  },
  { oneOf: [{ members: ['fileSink', 'grpcService', 'openTelemetryService'] }] },
);
/** One access log. */
export interface AccessLog extends Static<typeof log> {}
export const AccessLog = named<AccessLog>('AccessLog', log);

const service = block({
  accessLog: list(
    AccessLog,
    'Access logs. An empty list turns logging off. Default: one JSON line per request to standard output.',
  ),
});
/** Where requests are logged. */
export interface AccessLoggingService extends Static<typeof service> {}
export const AccessLoggingService = named<AccessLoggingService>('AccessLoggingService', service);
