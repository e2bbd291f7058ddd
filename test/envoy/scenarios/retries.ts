import { ask, envoys, ours, post, reply, LATER_MS, LIMIT, type Group, type Reply } from '../scenario.ts';

const FAST = { retryBackOff: { baseInterval: '0.01s', maxInterval: '0.02s' } };
const ENVOY_FAST = { retry_back_off: { base_interval: '0.01s', max_interval: '0.02s' } };
const policy = (
  name: string,
  option: object,
  envoy: object,
  cases: Group['cases'],
  more: { ours?: object; envoy?: object } = {},
): Group => ({
  name: `retries ${name}`,
  ours: { routes: [ours({ prefix: '/' }, { timeout: '5s', retries: { ...FAST, ...option } })], ...more.ours },
  envoy: {
    routes: [envoys({ prefix: '/' }, { timeout: '5s', retry_policy: { ...ENVOY_FAST, ...envoy } })],
    ...more.envoy,
  },
  cases,
});
const failed = (status: string, headers: readonly string[] = []): Reply => reply(status, headers, 'failed');
const ok = reply('200 OK', [], 'ok');
const reset: Reply = (to) => to.reset();
const get = (...upstream: readonly Reply[]) => ({ request: ask('GET /'), upstream });

export const retries: readonly Group[] = [
  policy(
    'on 5xx',
    { retryOn: '5xx', numRetries: 2 },
    { retry_on: '5xx', num_retries: 2 },
    {
      'until a response is good': get(failed('503 Service Unavailable'), failed('500 Internal Server Error'), ok),
      'return the last response': get(failed('500 Internal Server Error')),
      'of a reset': get(reset, ok),
      'of a POST send its body again': {
        request: post('/', 'hello'),
        upstream: [failed('503 Service Unavailable'), ok],
      },
      'leave 404': get(failed('404 Not Found'), ok),
      'of an invalid response': get('hello\r\n\r\n', ok),
      'leave a response that has begun': get(
        (to) => (to.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'), setTimeout(to.reset, LATER_MS)),
        ok,
      ),
      'of HEAD': {
        request: ask('HEAD /'),
        upstream: [
          'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n',
          'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n',
        ],
      },
      'keep the headers of a request': {
        request: ask('GET /p?q', ['X-A: 1', 'X-B: 2']),
        upstream: [failed('503 Service Unavailable'), ok],
        ordered: true,
      },
    },
  ),
  policy(
    'of resets',
    { retryOn: '5xx', numRetries: 2 },
    { retry_on: '5xx', num_retries: 2 },
    { 'return the last failure': get(reset) },
  ),
  policy(
    'on gateway-error',
    { retryOn: 'gateway-error' },
    { retry_on: 'gateway-error' },
    {
      'of 502': get(failed('502 Bad Gateway'), ok),
      'leave 500': get(failed('500 Internal Server Error'), ok),
      'happen once by default': get(failed('504 Gateway Timeout')),
    },
  ),
  policy(
    'on reset',
    { retryOn: 'reset' },
    { retry_on: 'reset' },
    {
      'of a reset': get(reset, ok),
      'leave 503': get(failed('503 Service Unavailable'), ok),
    },
  ),
  policy(
    'on connect-failure',
    { retryOn: 'connect-failure' },
    { retry_on: 'connect-failure' },
    {
      'leave a reset': get(reset, ok),
      'leave 503': get(failed('503 Service Unavailable'), ok),
    },
  ),
  policy(
    'on retriable-4xx',
    { retryOn: 'retriable-4xx' },
    { retry_on: 'retriable-4xx' },
    {
      'of 409': get(failed('409 Conflict'), ok),
      'leave 404': get(failed('404 Not Found'), ok),
    },
  ),
  policy(
    'on statuses',
    { retryOn: 'retriable-status-codes', retriableStatusCodes: [404, 429] },
    { retry_on: 'retriable-status-codes', retriable_status_codes: [404, 429] },
    { 'of a listed one': get(failed('404 Not Found'), ok), 'leave others': get(failed('503 Service Unavailable'), ok) },
  ),
  policy(
    'on envoy-ratelimited',
    { retryOn: 'envoy-ratelimited' },
    { retry_on: 'envoy-ratelimited' },
    {
      'of a response with the header': get(failed('429 Too Many Requests', ['x-envoy-ratelimited: true']), ok),
      'leave one without': get(failed('429 Too Many Requests'), ok),
    },
  ),
  policy(
    'on gRPC statuses',
    { retryOn: 'unavailable,cancelled' },
    { retry_on: 'unavailable,cancelled' },
    {
      'of a listed one': get(failed('200 OK', ['grpc-status: 14', 'content-type: application/grpc']), ok),
      'leave others': get(failed('200 OK', ['grpc-status: 5', 'content-type: application/grpc']), ok),
    },
  ),
  policy(
    'on a timeout of a try',
    { retryOn: '5xx', perTryTimeout: LIMIT },
    { retry_on: '5xx', per_try_timeout: LIMIT },
    {
      'of a try that hangs': get(() => {}, ok),
      'of only tries that hang': get(() => {}),
    },
  ),
  policy(
    'with counts',
    { retryOn: '5xx', numRetries: 2 },
    { retry_on: '5xx', num_retries: 2 },
    {
      'are counted in requests and the response': get(failed('503 Service Unavailable'), ok),
      'count one attempt': get(ok),
    },
    {
      ours: { virtualHost: { options: { includeRequestAttemptCount: true, includeAttemptCountInResponse: true } } },
      envoy: { virtualHost: { include_request_attempt_count: true, include_attempt_count_in_response: true } },
    },
  ),
  {
    name: 'retries of the virtual host',
    ours: {
      routes: [ours({ prefix: '/route' }, { retries: { ...FAST, retryOn: 'retriable-4xx' } }), ours()],
      virtualHost: { options: { retries: { ...FAST, retryOn: '5xx' } } },
    },
    envoy: {
      routes: [envoys({ prefix: '/route' }, { retry_policy: { ...ENVOY_FAST, retry_on: 'retriable-4xx' } }), envoys()],
      virtualHost: { retry_policy: { ...ENVOY_FAST, retry_on: '5xx' } },
    },
    cases: {
      'apply to routes': get(failed('503 Service Unavailable'), ok),
      'are replaced by those of a route': {
        request: ask('GET /route'),
        upstream: [failed('503 Service Unavailable'), ok],
      },
    },
  },
  {
    name: 'retries of a refused connection',
    ours: {
      routes: [ours({ prefix: '/' }, { retries: { ...FAST, retryOn: 'connect-failure', numRetries: 2 } }, '$refused')],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          { cluster: '$refused', retry_policy: { ...ENVOY_FAST, retry_on: 'connect-failure', num_retries: 2 } },
        ),
      ],
    },
    cases: { fail: ask('GET /') },
  },
  {
    name: 'retries asked for by a client',
    cases: {
      'are ignored': {
        request: ask('GET /', ['x-envoy-retry-on: 5xx', 'x-envoy-max-retries: 2']),
        upstream: [failed('503 Service Unavailable'), ok],
      },
    },
  },
];
