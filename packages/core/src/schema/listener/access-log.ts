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
} from '../field.ts';
import { HeaderMatcher } from '../route/matcher.ts';

const value = block({
  defaultValue: int('The number, unless the runtime key overrides it.', { minimum: 0 }),
  runtimeKey: text('Runtime key that may override it.'),
});
const comparison = of(
  block({
    op: enumeration(['EQ', 'GE', 'LE'], 'Equal, at least, at most.', { default: 'EQ' }),
    value: of(value, 'The value to compare with.'),
  }),
  'The comparison.',
);
const several = (description: string) =>
  of(block({ filters: list(self('AccessLogFilter'), 'The filters; at least two.') }), description);

const filter = block(
  {
    statusCodeFilter: of(block({ comparison }), 'By status.'),
    durationFilter: of(block({ comparison }), 'By duration in milliseconds.'),
    notHealthCheckFilter: empty('All requests except health checks.'),
    traceableFilter: empty('Traced requests.', notYet),
    runtimeFilter: of(
      block({
        runtimeKey: text('Runtime key with the share.'),
        percentSampled: of(
          block({
            numerator: int('Numerator of the fraction.', { minimum: 0 }),
            denominator: enumeration(['HUNDRED', 'TEN_THOUSAND', 'MILLION'], 'Denominator of the fraction.', {
              default: 'HUNDRED',
            }),
          }),
          'Share of requests.',
        ),
        useIndependentRandomness: bool('Draws a random number instead of using the request id.', { default: false }),
      }),
      'A share of requests.',
    ),
    headerFilter: of(block({ header: of(HeaderMatcher, 'The condition.') }), 'By request header.'),
    responseFlagFilter: of(block({ flags: list(text(), 'Flags, e.g. `NR`. Empty: any.') }), 'By response flag.'),
    grpcStatusFilter: of(
      block({
        statuses: list(anything(), 'Statuses by name or number.'),
        exclude: bool('Excludes these statuses instead.', { default: false }),
      }),
      'By gRPC status.',
      notYet,
    ),
    andFilter: several('All of them must match.'),
    orFilter: several('One of them must match.'),
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
    path: text('File to append lines to; `/dev/stdout` is standard output.'),
    stringFormat: text('Format with command operators; must end with its own newline. Empty: the default format.'),
    jsonFormat: map(anything(), 'Command operators by key; one JSON object per line.'),
  },
  { oneOf: [{ members: ['stringFormat', 'jsonFormat'] }] },
);
const names = (what: string) => list(text(), what);
const grpcService = block({
  logName: text('Name of the log.'),
  staticClusterName: text('Cluster of the server.', { default: 'access_log_cluster' }),
  additionalRequestHeadersToLog: names('Additional request headers to send.'),
  additionalResponseHeadersToLog: names('Additional response headers to send.'),
  additionalResponseTrailersToLog: names('Additional response trailers to send.'),
  filterStateObjectsToLog: names('Additional filter state objects to send.'),
});
const openTelemetry = block({
  logName: text('Name of the log.'),
  collector: of(
    block({
      endpoint: text('Address of the collector.'),
      authority: text('`:authority` of the calls.'),
      headers: anything('Headers of the calls.'),
      insecure: bool('Plain text.', { default: false }),
      sslConfig: anything('TLS to the collector.'),
      timeout: duration('Timeout of a call.'),
    }),
    'The collector.',
  ),
  filterStateObjectsToLog: names('Additional filter state objects to send.'),
  disableBuiltinLabels: bool('Omits the built-in labels.', { default: false }),
  body: anything('Body of an entry.'),
  attributes: anything('Attributes of an entry.'),
});
const log = block(
  {
    fileSink: of(fileSink, 'Writes lines to a file or to standard output.'),
    grpcService: of(grpcService, 'Sends entries to a server.', notYet),
    openTelemetryService: of(openTelemetry, 'Sends entries to a collector.', notYet),
    filter: of(AccessLogFilter, 'Selects the requests to log. Unset: all.'),
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
