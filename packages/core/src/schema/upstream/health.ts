import * as f from '../field.ts';
import { RequestHeaderToAdd } from '../route/header-manipulation.ts';

const METHODS = [
  'METHOD_UNSPECIFIED',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
] as const;

const headers = (description: string) => f.list(RequestHeaderToAdd, description);
const HEALTH = ['healthy', 'degraded', 'unhealthy'] as const;
const assertions = f.block({
  responseMatchers: f.groups('Checked in order; the first one that matches decides.', {
    responseMatch: f.group('The value to match: a header or the body, or a part of it.', f.oneOf(['header', 'body']), {
      jsonKey: f.group('Parses the header or body as JSON and matches one value of it.', {
        path: f.groups('Keys of nested objects, the outermost first.', { key: f.text('Key of one level.') }),
      }),
      ignoreErrorOnParse: f.flag(
        'With `jsonKey`: true treats text that is not JSON as no match; false fails the check.',
      ),
      header: f.text('Name of the header to match. Several values are joined by a comma.'),
      body: f.empty('Matches the body, at most its first MiB. This is the default.'),
      regex: f.regex(
        'RE2 expression for the whole value. A value of JSON that is not a string is matched as JSON text, e.g. `true`.',
      ),
    }),
    matchHealth: f.enumeration(HEALTH, 'Result of the check if this matches. Default: healthy.'),
  }),
  noMatchHealth: f.enumeration(HEALTH, 'Result of the check if nothing matches. Default: unhealthy.'),
});
const http = f.block({
  host: f.text(
    '`Host` header of a check. Default: the `addr` of a static host or the address of a failover endpoint, else the cluster name, `<name>_<namespace>`.',
  ),
  path: f.text('Path and query of a check; required. It begins with a slash.'),
  serviceName: f.text(
    'Beginning of the response header `x-envoy-upstream-healthchecked-cluster`. Default: the header is not checked.',
  ),
  requestHeadersToAdd: headers('Headers to add to a check. Operators that need a request are empty.'),
  requestHeadersToRemove: f.texts('Headers to remove from a check, e.g. `user-agent`, which is `Envoy/HC`.'),
  useHttp2: f.flag('Checks over HTTP/2: with TLS by ALPN, otherwise with prior knowledge.'),
  expectedStatuses: f.groups('Ranges of statuses of healthy hosts. Default: only 200.', {
    start: f.int64('First status, inclusive, 100 to 599.', { minimum: 100, maximum: 599 }),
    end: f.int64('End of the range, exclusive, 101 to 600.', { minimum: 101, maximum: 600 }),
  }),
  responseAssertions: f.of(assertions, 'Conditions for the response, in addition to its status.'),
  method: f.enumeration(METHODS, 'Method of a check, without a body. CONNECT is not allowed. Default: GET.'),
});
const HEX = f.block({ text: f.text('Bytes as hexadecimal digits, e.g. `50494e47`.') });
const fields = f.block(f.oneOf(['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck', 'customHealthCheck']), {
  timeout: f.duration('Timeout of a check, including the connection; required, greater than 0s.'),
  interval: f.duration('Time between the end of a check and the start of the next; required, greater than 0s.'),
  healthyThreshold: f.int(
    'Number of passed checks in a row after which an unhealthy host is healthy; required. At the first check of a host, one is enough.',
    { minimum: 1 },
  ),
  unhealthyThreshold: f.int(
    'Number of checks in a row that fail to connect, or time out, after which a host is unhealthy; required. A single response that fails the check is enough.',
    { minimum: 1 },
  ),
  initialJitter: f.duration('Maximum random delay of the first check. Default: none.'),
  intervalJitter: f.duration('Maximum random time to add to each interval. Default: none.'),
  intervalJitterPercent: f.uint32('Maximum random time to add to each interval, in percent of the interval.', {
    default: 0,
  }),
  noTrafficInterval: f.duration('Interval while no request was sent to the upstream since the start of the proxy.', {
    default: '60s',
  }),
  unhealthyInterval: f.duration('Interval while the host is unhealthy. Default: `interval`.'),
  unhealthyEdgeInterval: f.duration(
    'Interval after a failed check of a host that is still healthy. Default: `unhealthyInterval`.',
  ),
  healthyEdgeInterval: f.duration(
    'Interval after a passed check of a host that is still unhealthy. Default: `interval`.',
  ),
  reuseConnection: f.bool('Keeps the connection for the next check.', { default: true }),
  eventLogPath: f.text('File for events, one JSON object per line, e.g. `/dev/stdout`. Default: none.'),
  alwaysLogHealthCheckFailures: f.flag('Logs every failed check, not only the first one and changes of the health.'),
  httpHealthCheck: f.of(http, 'Sends an HTTP request.'),
  tcpHealthCheck: f.group('Connects, and optionally exchanges bytes.', {
    send: f.of(HEX, 'Bytes to send. Default: none.'),
    receive: f.list(
      HEX,
      'Blocks of bytes to receive in this order; other bytes may be between them. Default: connecting is enough.',
    ),
  }),
  grpcHealthCheck: f.group('Calls `grpc.health.v1.Health/Check` over HTTP/2.', {
    serviceName: f.text('Service to check. Default: the server as a whole.'),
    authority: f.text('`:authority` of a check. Default: as `host` of `httpHealthCheck`.'),
    initialMetadata: headers('Metadata to add to a check.'),
  }),
  customHealthCheck: f.group('A checker of a proxy extension.', {
    name: f.text('Name of the checker.'),
    config: f.anything('Its settings.'),
    typedConfig: f.map(f.anything(), 'Its settings, typed.'),
  }),
});
/** Active health checks of hosts. */
export interface HealthCheck extends f.Static<typeof fields> {}
export const HealthCheck = f.named<HealthCheck>('HealthCheck', fields);

const percent = (description: string, otherwise: number) =>
  f.int(`${description}, in percent, 0 to 100.`, { minimum: 0, maximum: 100, default: otherwise });
const outlier = f.block({
  interval: f.duration('Interval between evaluations; required, greater than 0s. Ejections end at an evaluation.'),
  consecutive5xx: f.uint32(
    'Number of 5xx responses and failed connections in a row after which a host is ejected immediately. 0: never.',
    { default: 5 },
  ),
  baseEjectionTime: f.duration(
    'Duration of the first ejection; the next ones are multiples of it, up to 300s or this value if longer.',
    { default: '30s' },
  ),
  maxEjectionPercent: percent('Ejections stop when this share of the hosts is ejected', 10),
  enforcingConsecutive5xx: percent('Probability of an ejection by `consecutive5xx`', 100),
  enforcingSuccessRate: percent('Probability of an ejection by success rate', 100),
  successRateMinimumHosts: f.uint32('Hosts with enough requests that are needed to compare success rates.', {
    default: 5,
  }),
  successRateRequestVolume: f.uint32('Requests per interval that a host needs for a success rate.', {
    default: 100,
  }),
  successRateStdevFactor: f.uint32(
    'A host is ejected if its success rate is below the mean by this many thousandths of the standard deviation.',
    { default: 1900 },
  ),
  consecutiveGatewayFailure: f.uint32(
    'Number of 502, 503 and 504 responses and failed connections in a row after which a host is ejected, see `enforcingConsecutiveGatewayFailure`. 0: never.',
    { default: 5 },
  ),
  enforcingConsecutiveGatewayFailure: percent('Probability of an ejection by `consecutiveGatewayFailure`', 0),
  splitExternalLocalOriginErrors: f.flag(
    'Counts failed connections and timeouts separately from responses, by the fields with `LocalOrigin` in their name.',
  ),
  consecutiveLocalOriginFailure: f.uint32(
    'Number of failed connections and timeouts in a row after which a host is ejected. 0: never.',
    { default: 5 },
  ),
  enforcingConsecutiveLocalOriginFailure: percent('Probability of an ejection by `consecutiveLocalOriginFailure`', 100),
  enforcingLocalOriginSuccessRate: percent('Probability of an ejection by the success rate of connections', 100),
});
/** Ejects hosts that fail. */
export interface OutlierDetection extends f.Static<typeof outlier> {}
export const OutlierDetection = f.named<OutlierDetection>('OutlierDetection', outlier);
