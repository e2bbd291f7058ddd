import * as f from '../field.ts';

const headers = f.groups('Headers added to a check.', {
  header: f.group('The header.', { key: f.text('Header name.'), value: f.text('Its value.') }),
  headerSecretRef: f.anything('Secret; each key becomes a header.'),
  append: f.bool('Appends to existing values.', { default: true }),
});
const matchHealth = f.choice(['healthy', 'unhealthy'], 'What a match means.');
const assertions = f.block({
  responseMatchers: f.groups('The first match decides.', {
    responseMatch: f.group('Patterns to find.', f.oneOf(['header', 'body']), {
      jsonKey: f.group('Value in a JSON body.', {
        path: f.groups('Path to the value.', { key: f.text('Key of one step.') }),
      }),
      ignoreErrorOnParse: f.flag('A body that is not JSON does not match.'),
      header: f.text('Header to inspect.'),
      body: f.empty('Inspects the body.'),
      regex: f.regex('RE2 expression.'),
    }),
    matchHealth,
  }),
  noMatchHealth: f.choice(['healthy', 'unhealthy'], 'What no match means.'),
});
const http = f.block({
  host: f.text('Host of a check. Default: the cluster name.'),
  path: f.text('Path of a check.'),
  serviceName: f.text('Service name that must match.'),
  requestHeadersToAdd: headers,
  requestHeadersToRemove: f.texts('Headers to remove from a check.'),
  useHttp2: f.flag('Checks over HTTP/2.'),
  expectedStatuses: f.groups('Statuses of healthy endpoints. Default: 200.', {
    start: f.int('First status, inclusive.', { minimum: 100, maximum: 599 }),
    end: f.int('Last status, exclusive.', { minimum: 101, maximum: 600 }),
  }),
  responseAssertions: f.of(assertions, 'What the response must contain.', f.notYet),
  method: f.anything('Method of a check. CONNECT is not allowed.', { default: 'GET' }),
});
const HEX = f.block({ text: f.text('Bytes as hex digits.') });
const fields = f.block(f.oneOf(['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck', 'customHealthCheck']), {
  timeout: f.duration('Timeout of a check.'),
  interval: f.duration('Interval between checks.'),
  healthyThreshold: f.int('Successful checks until an endpoint is healthy.', { minimum: 1 }),
  unhealthyThreshold: f.int('Failed checks until an endpoint is unhealthy.', { minimum: 1 }),
  initialJitter: f.duration('Maximum random delay before the first check.'),
  intervalJitter: f.duration('Maximum random time added to the interval.'),
  intervalJitterPercent: f.count('The same as a share of the interval, in percent.'),
  noTrafficInterval: f.duration('Interval while the upstream has no traffic.', { default: '60s' }),
  unhealthyInterval: f.duration('Interval while unhealthy. Default: `interval`.'),
  unhealthyEdgeInterval: f.duration('Interval after the first failed check. Default: `interval`.'),
  healthyEdgeInterval: f.duration('Interval after the first successful check. Default: `interval`.'),
  reuseConnection: f.bool('Reuses the connection between checks.', { default: true }),
  eventLogPath: f.text('File to log health changes to.'),
  alwaysLogHealthCheckFailures: f.flag('Logs every failure, not only the first.'),
  httpHealthCheck: f.of(http, 'Checks over HTTP.'),
  tcpHealthCheck: f.group('Connects.', {
    send: f.of(HEX, 'Bytes to send. Unset: only connects.'),
    receive: f.list(HEX, 'Bytes that the response must contain.'),
  }),
  grpcHealthCheck: f.group('Checks over gRPC.', {
    serviceName: f.text('Service to check.'),
    authority: f.text('`:authority` of a check.'),
    initialMetadata: headers,
  }),
  customHealthCheck: f.group('A custom checker.', {
    name: f.text('Name of the checker.'),
    config: f.anything('Its settings.'),
    typedConfig: f.map(f.anything(), 'Its settings, typed.'),
  }),
});
/** Active health checks of the endpoints. */
export interface HealthCheck extends f.Static<typeof fields> {}
export const HealthCheck = f.named<HealthCheck>('HealthCheck', fields);

const PERCENT = { minimum: 0, maximum: 100 } as const;
const outlier = f.block({
  interval: f.duration('Interval between evaluations; required.'),
  consecutive5xx: f.count('Consecutive 5xx responses until an endpoint is ejected.', { default: 5 }),
  baseEjectionTime: f.duration('Base ejection time; grows with each ejection.', { default: '30s' }),
  maxEjectionPercent: f.int('Maximum share of ejected endpoints, in percent.', { ...PERCENT, default: 10 }),
  enforcingConsecutive5xx: f.int('Probability of the ejection, in percent.', { ...PERCENT, default: 100 }),
  enforcingSuccessRate: f.int('Probability of an ejection by success rate, in percent.', { ...PERCENT, default: 100 }),
  successRateMinimumHosts: f.count('Minimum number of endpoints to compare success rates.', { default: 5 }),
  successRateRequestVolume: f.count('Minimum number of requests to compute a success rate.', { default: 100 }),
  successRateStdevFactor: f.count('Allowed deviation from the mean, in thousandths of the standard deviation.', {
    default: 1900,
  }),
  consecutiveGatewayFailure: f.count('Consecutive 502, 503 and 504 responses until ejection.', { default: 5 }),
  enforcingConsecutiveGatewayFailure: f.int('Probability of the ejection, in percent.', { ...PERCENT, default: 0 }),
  splitExternalLocalOriginErrors: f.flag('Counts local connection failures separately.'),
  consecutiveLocalOriginFailure: f.count('Consecutive local failures until ejection.', { default: 5 }),
  enforcingConsecutiveLocalOriginFailure: f.int('Probability of the ejection, in percent.', {
    ...PERCENT,
    default: 100,
  }),
  enforcingLocalOriginSuccessRate: f.int('Probability of an ejection by local success rate, in percent.', {
    ...PERCENT,
    default: 100,
  }),
});
/** Ejects endpoints that fail. */
export interface OutlierDetection extends f.Static<typeof outlier> {}
export const OutlierDetection = f.named<OutlierDetection>('OutlierDetection', outlier);
