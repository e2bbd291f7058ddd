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
  regex,
  text,
  type Static,
} from '../field.ts';

const headers = list(
  block({
    header: of(block({ key: text('Header name.'), value: text('Its value.') }), 'The header.'),
    headerSecretRef: anything('Secret; each key becomes a header.'),
    append: bool('Appends to existing values.', { default: true }),
  }),
  'Headers added to a check.',
);
const matchHealth = enumeration(['healthy', 'unhealthy'], 'What a match means.', { default: 'healthy' });
const assertions = block({
  responseMatchers: list(
    block({
      responseMatch: of(
        block(
          {
            jsonKey: of(
              block({ path: list(block({ key: text('Key of one step.') }), 'Path to the value.') }),
              'Value in a JSON body.',
            ),
            ignoreErrorOnParse: bool('A body that is not JSON does not match.', { default: false }),
            header: text('Header to inspect.'),
            body: empty('Inspects the body.'),
            regex: regex('RE2 expression.'),
          },
          { oneOf: [{ members: ['header', 'body'] }] },
        ),
        'Patterns to find.',
      ),
      matchHealth,
    }),
    'The first match decides.',
  ),
  noMatchHealth: enumeration(['healthy', 'unhealthy'], 'What no match means.', { default: 'healthy' }),
});
const http = block({
  host: text('Host of a check. Default: the cluster name.'),
  path: text('Path of a check.'),
  serviceName: text('Service name that must match.'),
  requestHeadersToAdd: headers,
  requestHeadersToRemove: list(text(), 'Headers to remove from a check.'),
  useHttp2: bool('Checks over HTTP/2.', { default: false }),
  expectedStatuses: list(
    block({
      start: int('First status, inclusive.', { minimum: 100, maximum: 599 }),
      end: int('Last status, exclusive.', { minimum: 101, maximum: 600 }),
    }),
    'Statuses of healthy endpoints. Default: 200.',
  ),
  responseAssertions: of(assertions, 'What the response must contain.', notYet),
  method: anything('Method of a check. CONNECT is not allowed.', { default: 'GET' }),
});
const HEX = block({ text: text('Bytes as hex digits.') });
const fields = block(
  {
    timeout: duration('Timeout of a check.'),
    interval: duration('Interval between checks.'),
    healthyThreshold: int('Successful checks until an endpoint is healthy.', { minimum: 1 }),
    unhealthyThreshold: int('Failed checks until an endpoint is unhealthy.', { minimum: 1 }),
    initialJitter: duration('Maximum random delay before the first check.'),
    intervalJitter: duration('Maximum random time added to the interval.'),
    intervalJitterPercent: int('The same as a share of the interval, in percent.', { minimum: 0 }),
    noTrafficInterval: duration('Interval while the upstream has no traffic.', { default: '60s' }),
    unhealthyInterval: duration('Interval while unhealthy. Default: `interval`.'),
    unhealthyEdgeInterval: duration('Interval after the first failed check. Default: `interval`.'),
    healthyEdgeInterval: duration('Interval after the first successful check. Default: `interval`.'),
    reuseConnection: bool('Reuses the connection between checks.', { default: true }),
    eventLogPath: text('File to log health changes to.'),
    alwaysLogHealthCheckFailures: bool('Logs every failure, not only the first.', { default: false }),
    httpHealthCheck: of(http, 'Checks over HTTP.'),
    tcpHealthCheck: of(
      block({
        send: of(HEX, 'Bytes to send. Unset: only connects.'),
        receive: list(HEX, 'Bytes that the response must contain.'),
      }),
      'Connects.',
    ),
    grpcHealthCheck: of(
      block({
        serviceName: text('Service to check.'),
        authority: text('`:authority` of a check.'),
        initialMetadata: headers,
      }),
      'Checks over gRPC.',
    ),
    customHealthCheck: of(
      block({
        name: text('Name of the checker.'),
        config: anything('Its settings.'),
        typedConfig: map(anything(), 'Its settings, typed.'),
      }),
      'A custom checker.',
    ),
  },
  { oneOf: [{ members: ['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck', 'customHealthCheck'] }] },
);
/** Active health checks of the endpoints. */
export interface HealthCheck extends Static<typeof fields> {}
export const HealthCheck = named<HealthCheck>('HealthCheck', fields);

const PERCENT = { minimum: 0, maximum: 100 } as const;
const COUNT = { minimum: 0 } as const;
const outlier = block({
  interval: duration('Interval between evaluations; required.'),
  consecutive5xx: int('Consecutive 5xx responses until an endpoint is ejected.', { ...COUNT, default: 5 }),
  baseEjectionTime: duration('Base ejection time; grows with each ejection.', { default: '30s' }),
  maxEjectionPercent: int('Maximum share of ejected endpoints, in percent.', { ...PERCENT, default: 10 }),
  enforcingConsecutive5xx: int('Probability of the ejection, in percent.', { ...PERCENT, default: 100 }),
  enforcingSuccessRate: int('Probability of an ejection by success rate, in percent.', { ...PERCENT, default: 100 }),
  successRateMinimumHosts: int('Minimum number of endpoints to compare success rates.', { ...COUNT, default: 5 }),
  successRateRequestVolume: int('Minimum number of requests to compute a success rate.', { ...COUNT, default: 100 }),
  successRateStdevFactor: int('Allowed deviation from the mean, in thousandths of the standard deviation.', {
    ...COUNT,
    default: 1900,
  }),
  consecutiveGatewayFailure: int('Consecutive 502, 503 and 504 responses until ejection.', { ...COUNT, default: 5 }),
  enforcingConsecutiveGatewayFailure: int('Probability of the ejection, in percent.', { ...PERCENT, default: 0 }),
  splitExternalLocalOriginErrors: bool('Counts local connection failures separately.', { default: false }),
  consecutiveLocalOriginFailure: int('Consecutive local failures until ejection.', { ...COUNT, default: 5 }),
  enforcingConsecutiveLocalOriginFailure: int('Probability of the ejection, in percent.', {
    ...PERCENT,
    default: 100,
  }),
  enforcingLocalOriginSuccessRate: int('Probability of an ejection by local success rate, in percent.', {
    ...PERCENT,
    default: 100,
  }),
});
/** Ejects endpoints that fail. */
export interface OutlierDetection extends Static<typeof outlier> {}
export const OutlierDetection = named<OutlierDetection>('OutlierDetection', outlier);
