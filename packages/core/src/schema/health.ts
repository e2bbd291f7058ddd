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
} from './field.ts';

const headers = list(
  block({
    header: of(block({ key: text('Header name.'), value: text('Its value.') }), 'The header.'),
    headerSecretRef: anything('Secret of which every key becomes a header.'),
    append: bool('Adds to the values that are there.', { default: true }),
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
              block({ path: list(block({ key: text('Key of one step.') }), 'Steps to the value.') }),
              'Part of a JSON body.',
            ),
            ignoreErrorOnParse: bool('A body that is not JSON does not match.', { default: false }),
            header: text('Header that is looked at.'),
            body: empty('The body is looked at.'),
            regex: regex('RE2 expression.'),
          },
          { oneOf: [{ members: ['header', 'body'] }] },
        ),
        'What is looked for.',
      ),
      matchHealth,
    }),
    'The first that matches decides.',
  ),
  noMatchHealth: enumeration(['healthy', 'unhealthy'], 'What no match means.', { default: 'healthy' }),
});
const http = block({
  host: text('Host of a check. Default: the cluster name.'),
  path: text('Path of a check.'),
  serviceName: text('Service that has to answer.'),
  requestHeadersToAdd: headers,
  requestHeadersToRemove: list(text(), 'Headers taken off a check.'),
  useHttp2: bool('Checks over HTTP/2.', { default: false }),
  expectedStatuses: list(
    block({
      start: int('First status.', { minimum: 100, maximum: 599 }),
      end: int('Status after the last.', { minimum: 101, maximum: 600 }),
    }),
    'Statuses that mean healthy. Default: 200.',
  ),
  responseAssertions: of(assertions, 'What the answer has to hold.', notYet),
  method: anything('Method of a check. CONNECT is not allowed.', { default: 'GET' }),
});
const HEX = block({ text: text('Bytes as hex digits.') });
const fields = block(
  {
    timeout: duration('Longest time for a check.'),
    interval: duration('Time between checks.'),
    healthyThreshold: int('Good checks until an endpoint is healthy.', { minimum: 1 }),
    unhealthyThreshold: int('Bad checks until an endpoint is unhealthy.', { minimum: 1 }),
    initialJitter: duration('Longest random wait before the first check.'),
    intervalJitter: duration('Longest random time added to the interval.'),
    intervalJitterPercent: int('The same as a share of the interval, in percent.', { minimum: 0 }),
    noTrafficInterval: duration('Interval while there is no traffic.', { default: '60s' }),
    unhealthyInterval: duration('Interval while unhealthy. Default: `interval`.'),
    unhealthyEdgeInterval: duration('Interval after the first bad check. Default: `interval`.'),
    healthyEdgeInterval: duration('Interval after the first good check. Default: `interval`.'),
    reuseConnection: bool('Keeps the connection between checks.', { default: true }),
    eventLogPath: text('File that changes are written to.'),
    alwaysLogHealthCheckFailures: bool('Writes every failure, not the first only.', { default: false }),
    httpHealthCheck: of(http, 'Asks over HTTP.'),
    tcpHealthCheck: of(
      block({
        send: of(HEX, 'Bytes that are sent. Unset: connects only.'),
        receive: list(HEX, 'Bytes that have to come back.'),
      }),
      'Connects.',
    ),
    grpcHealthCheck: of(
      block({
        serviceName: text('Service that is asked for.'),
        authority: text('`:authority` of a check.'),
        initialMetadata: headers,
      }),
      'Asks over gRPC.',
    ),
    customHealthCheck: of(
      block({
        name: text('Name of the checker.'),
        config: anything('Its settings.'),
        typedConfig: map(anything(), 'Its settings, typed.'),
      }),
      'Another checker.',
    ),
  },
  { oneOf: [{ members: ['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck', 'customHealthCheck'] }] },
);
/** Asks endpoints how they are. */
export interface HealthCheck extends Static<typeof fields> {}
export const HealthCheck = named<HealthCheck>('HealthCheck', fields);

const PERCENT = { minimum: 0, maximum: 100 } as const;
const COUNT = { minimum: 0 } as const;
const outlier = block({
  interval: duration('Time between looks; needed.'),
  consecutive5xx: int('Answers 5xx in a row until an endpoint is ejected.', { ...COUNT, default: 5 }),
  baseEjectionTime: duration('First time out; grows with each ejection.', { default: '30s' }),
  maxEjectionPercent: int('Most endpoints out at a time, in percent.', { ...PERCENT, default: 10 }),
  enforcingConsecutive5xx: int('Chance of being ejected for it, in percent.', { ...PERCENT, default: 100 }),
  enforcingSuccessRate: int('Chance of being ejected for the success rate, in percent.', { ...PERCENT, default: 100 }),
  successRateMinimumHosts: int('Endpoints needed to compare success rates.', { ...COUNT, default: 5 }),
  successRateRequestVolume: int('Requests needed to count a success rate.', { ...COUNT, default: 100 }),
  successRateStdevFactor: int('Allowed distance from the mean, in thousandths of the deviation.', {
    ...COUNT,
    default: 1900,
  }),
  consecutiveGatewayFailure: int('Answers 502, 503 and 504 in a row until ejection.', { ...COUNT, default: 5 }),
  enforcingConsecutiveGatewayFailure: int('Chance of being ejected for it, in percent.', { ...PERCENT, default: 0 }),
  splitExternalLocalOriginErrors: bool('Counts own failures to connect apart.', { default: false }),
  consecutiveLocalOriginFailure: int('Own failures in a row until ejection.', { ...COUNT, default: 5 }),
  enforcingConsecutiveLocalOriginFailure: int('Chance of being ejected for it, in percent.', {
    ...PERCENT,
    default: 100,
  }),
  enforcingLocalOriginSuccessRate: int('Chance of being ejected for the own success rate, in percent.', {
    ...PERCENT,
    default: 100,
  }),
});
/** Ejects endpoints that answer badly. */
export interface OutlierDetection extends Static<typeof outlier> {}
export const OutlierDetection = named<OutlierDetection>('OutlierDetection', outlier);
