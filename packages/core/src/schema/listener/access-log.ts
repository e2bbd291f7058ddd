import * as f from '../field.ts';
import { HeaderMatcher } from '../route/matcher.ts';

const value = f.block({
  defaultValue: f.count('The number, unless the runtime key overrides it.', { default: 0 }),
  runtimeKey: f.text('Runtime key that may override it.'),
});
const comparison = f.group('The comparison.', {
  op: f.choice(['EQ', 'GE', 'LE'], 'Equal, at least, at most.'),
  value: f.of(value, 'The value to compare with.'),
});
const several = (description: string) =>
  f.group(description, { filters: f.list(f.self('AccessLogFilter'), 'The filters; at least two.') });

const filter = f.block(
  f.exactlyOne(
    'an access log filter must set exactly one condition',
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
  ),
  {
    statusCodeFilter: f.group('By status.', { comparison }),
    durationFilter: f.group('By duration in milliseconds.', { comparison }),
    notHealthCheckFilter: f.empty('All requests except health checks.'),
    traceableFilter: f.empty('Requests whose trace is sampled.'),
    runtimeFilter: f.group('A share of requests.', {
      runtimeKey: f.text('Runtime key with the share.'),
      percentSampled: f.group('Share of requests.', {
        numerator: f.count('Numerator of the fraction.'),
        denominator: f.choice(['HUNDRED', 'TEN_THOUSAND', 'MILLION'], 'Denominator of the fraction.'),
      }),
      useIndependentRandomness: f.flag('Draws a random number instead of using the request id.'),
    }),
    headerFilter: f.group('By request header.', { header: f.of(HeaderMatcher, 'The condition.') }),
    responseFlagFilter: f.group('By response flag.', { flags: f.texts('Flags, e.g. `NR`. Empty: any.') }),
    grpcStatusFilter: f.group('By gRPC status.', {
      statuses: f.list(f.anything(), 'Statuses by name, e.g. `UNAVAILABLE`, or number.'),
      exclude: f.flag('Excludes these statuses instead.'),
    }),
    andFilter: several('All of them must match.'),
    orFilter: several('One of them must match.'),
  },
);
/** Which requests are logged. */
export interface AccessLogFilter extends f.Static<typeof filter> {
  readonly andFilter?: { readonly filters?: readonly AccessLogFilter[] };
  readonly orFilter?: { readonly filters?: readonly AccessLogFilter[] };
}
export const AccessLogFilter = f.named<AccessLogFilter>('AccessLogFilter', filter);

const NO_FILTER_STATE =
  'Additional filter state objects to send. This gateway has no filters that keep such objects: log `%DYNAMIC_METADATA(…)%` instead.';

const fileSink = f.block(f.oneOf(['stringFormat', 'jsonFormat']), {
  path: f.text('File to append lines to; `/dev/stdout` is standard output.'),
  stringFormat: f.text('Format with command operators; must end with its own newline. Empty: the default format.'),
  jsonFormat: f.map(f.anything(), 'Command operators by key; one JSON object per line.'),
});
const grpcService = f.block({
  logName: f.text('Name of the log.'),
  staticClusterName: f.text('Cluster of the server, `<name>_<namespace>` of an Upstream.', {
    default: 'access_log_cluster',
  }),
  additionalRequestHeadersToLog: f.texts('Additional request headers to send. Values of credentials are redacted.'),
  additionalResponseHeadersToLog: f.texts('Additional response headers to send. Values of credentials are redacted.'),
  additionalResponseTrailersToLog: f.texts(
    'Additional response trailers to send, if they are forwarded. Values of credentials are redacted.',
  ),
  filterStateObjectsToLog: f.texts(NO_FILTER_STATE, f.unsupported),
});
const openTelemetry = f.block({
  logName: f.text('Name of the log.'),
  collector: f.group('The collector.', {
    endpoint: f.text('`host:port` for gRPC, or a URL for HTTP (path `/v1/logs` unless it has one).'),
    authority: f.text('`:authority` of the calls. Default: the address.'),
    headers: f.anything('Headers of the calls: values by name.', f.headerValue),
    insecure: f.flag('Calls `host:port` in plain text instead of TLS.'),
    sslConfig: f.anything('TLS to the collector, as `sslConfig` of an Upstream.'),
    timeout: f.duration('Timeout of a call.', { default: '5s' }),
  }),
  filterStateObjectsToLog: f.texts(NO_FILTER_STATE, f.unsupported),
  disableBuiltinLabels: f.flag(
    'Omits the resource attributes `log_name`, `cluster_name`, `node_name` and `zone_name`.',
  ),
  body: f.anything('Body of an entry: text with command operators, or an `AnyValue`.'),
  attributes: f.anything('Attributes of an entry: text with command operators by key, or a `KeyValueList`.'),
});
const log = f.block(f.oneOf(['fileSink', 'grpcService', 'openTelemetryService']), {
  fileSink: f.of(fileSink, 'Writes lines to a file or to standard output.'),
  grpcService: f.of(grpcService, "Sends entries to an access log service (Envoy's ALS, version 3)."),
  openTelemetryService: f.of(openTelemetry, 'Sends entries to an OpenTelemetry collector.'),
  filter: f.of(AccessLogFilter, 'Selects the requests to log. Unset: all.'),
});
/** One access log. */
export interface AccessLog extends f.Static<typeof log> {}
export const AccessLog = f.named<AccessLog>('AccessLog', log);

const service = f.block({
  accessLog: f.list(
    AccessLog,
    'Access logs. An empty list turns logging off. Default: one JSON line per request to standard output.',
  ),
});
/** Where requests are logged. */
export interface AccessLoggingService extends f.Static<typeof service> {}
export const AccessLoggingService = f.named<AccessLoggingService>('AccessLoggingService', service);
