import type { FieldProblem } from '../resource/problem.ts';
import type { HealthCheck, OutlierDetection } from '../schema/upstream/health.ts';
import { parseDuration } from '../syntax/duration.ts';
import { each, fields, reporterOf, type Check } from './check.ts';
import { checkHeaderManipulation } from './route/check-header-manipulation.ts';

type HttpHealthCheck = NonNullable<HealthCheck['httpHealthCheck']>;
type TcpHealthCheck = NonNullable<HealthCheck['tcpHealthCheck']>;
type StatusRange = NonNullable<HttpHealthCheck['expectedStatuses']>[number];
type ResponseMatcher = NonNullable<NonNullable<HttpHealthCheck['responseAssertions']>['responseMatchers']>[number];

const REQUIRED = ['healthyThreshold', 'unhealthyThreshold', 'timeout', 'interval'] as const;
const CHECKERS = ['httpHealthCheck', 'tcpHealthCheck', 'grpcHealthCheck', 'customHealthCheck'] as const;
const invalidHealthCheck = reporterOf('INVALID_HEALTH_CHECK');
const invalidOutliers = reporterOf('INVALID_OUTLIER_DETECTION');
const METHOD = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|TRACE|PATCH)$/;

/** Returns problems of outlier detection. */
export const checkOutlierDetection: Check<OutlierDetection> = ({ interval }, at) => [
  ...invalidOutliers(interval === undefined && 'outlierDetection needs an interval', at),
  ...invalidOutliers(isZero(interval) && 'interval must be greater than 0s', [...at, 'interval']),
];

/** Returns problems of the health checks of an upstream. */
export const checkHealthChecks: Check<readonly HealthCheck[]> = (checks, at) => [
  ...each(checks, at, checkHealthCheck),
  ...invalidHealthCheck(checks.length > 1 && 'an upstream can have only one health check', [...at, 1]),
];

const checkHealthCheck: Check<HealthCheck> = (check, at) => {
  const missing: string[] = REQUIRED.filter((name) => check[name] === undefined);
  if (!CHECKERS.some((checker) => check[checker])) missing.push('one checker');
  const zero = (['timeout', 'interval'] as const).filter((name) => isZero(check[name]));
  return [
    ...missing.flatMap((name) => invalidHealthCheck(`a health check needs ${name}`, at)),
    ...zero.flatMap((name) => invalidHealthCheck(`${name} must be greater than 0s`, [...at, name])),
    ...fields(check, at, {
      httpHealthCheck: checkHttpHealthCheck,
      tcpHealthCheck: checkTcpHealthCheck,
      grpcHealthCheck: ({ initialMetadata }, path) =>
        checkHeaderManipulation({ requestHeadersToAdd: initialMetadata }, path).map(underMetadata),
      customHealthCheck: ({ name = '' }, path) =>
        invalidHealthCheck(`the custom health checker '${name}' is not supported`, path, {
          hint: 'httpHealthCheck, tcpHealthCheck, grpcHealthCheck',
        }),
    }),
  ];
};

/** The names of the headers are in another field than in the shared check. */
function underMetadata({ path, ...problem }: FieldProblem): FieldProblem {
  return { ...problem, path: path.map((part) => (part === 'requestHeadersToAdd' ? 'initialMetadata' : part)) };
}

const checkHttpHealthCheck: Check<HttpHealthCheck> = (check, at) => {
  const { path = '', host, method, expectedStatuses, requestHeadersToAdd, requestHeadersToRemove } = check;
  return [
    ...invalidHealthCheck(path === '' && 'an HTTP health check needs a path', at),
    ...invalidHealthCheck(path !== '' && pathProblem(path), [...at, 'path']),
    ...invalidHealthCheck(host !== undefined && hostProblem(host), [...at, 'host']),
    ...invalidHealthCheck(method === 'CONNECT' && 'a health check cannot use CONNECT', [...at, 'method']),
    ...each(expectedStatuses, [...at, 'expectedStatuses'], checkStatusRange),
    ...checkHeaderManipulation({ requestHeadersToAdd, requestHeadersToRemove }, at),
    ...each(
      check.responseAssertions?.responseMatchers,
      [...at, 'responseAssertions', 'responseMatchers'],
      checkMatcher,
    ),
  ];
};

const checkStatusRange: Check<StatusRange> = ({ start = 0, end = 0 }, at) =>
  invalidHealthCheck(start >= end && 'start must be less than end, which is exclusive', at);

const checkMatcher: Check<ResponseMatcher> = ({ responseMatch }, at) =>
  invalidHealthCheck(!responseMatch?.regex && 'a response matcher needs a regex', [...at, 'responseMatch']);

const checkTcpHealthCheck: Check<TcpHealthCheck> = ({ send, receive }, at) => [
  ...(send ? checkHex(send, [...at, 'send']) : []),
  ...each(receive, [...at, 'receive'], checkHex),
];

const checkHex: Check<{ readonly text?: string }> = ({ text = '' }, at) =>
  invalidHealthCheck(!/^([0-9a-fA-F]{2})+$/.test(text) && `'${text}' is not a sequence of hexadecimal bytes`, [
    ...at,
    'text',
  ]);

/** Returns problems of the settings of one host. */
export const checkHostHealthCheck: Check<{ readonly path?: string; readonly method?: string }> = (
  { path, method },
  at,
) => [
  ...invalidHealthCheck(path && pathProblem(path), [...at, 'path']),
  ...invalidHealthCheck(method && !METHOD.test(method) && `the method '${method}' is not allowed in a health check`, [
    ...at,
    'method',
  ]),
];

function pathProblem(path: string): string | false {
  return !/^\/[\x21-\x7e]*$/.test(path) && `the path '${path}' must begin with a slash and must not contain spaces`;
}

function hostProblem(host: string): string | false {
  return !/^[\x21-\x7e]*$/.test(host) && `invalid Host header '${host}'`;
}

function isZero(duration: string | undefined): boolean {
  return duration !== undefined && parseDuration(duration) === 0;
}
