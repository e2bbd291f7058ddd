import {
  ask,
  envoys,
  ours,
  ourText,
  envoyText,
  post,
  reply,
  LATER_MS,
  LIMIT,
  type Case,
  type Group,
  type Reply,
} from '../scenario.ts';
import { HANDSHAKE, SWITCHED } from '../tunnel/handshakes.ts';

const logged = (request: Case['request'], ...upstream: Reply[]): Case => ({
  request,
  ...(upstream.length > 0 && { upstream }),
  logged: true,
});
const GET = ask('GET /a?b=c');
const reset: Reply = (to) => to.reset();
const failed = reply('503 Service Unavailable', ['content-type: text/plain'], 'failed');
const FAST = { retryBackOff: { baseInterval: '0.01s', maxInterval: '0.02s' } };
const ENVOY_FAST = { retry_back_off: { base_interval: '0.01s', max_interval: '0.02s' } };

export const accessLogs: readonly Group[] = [
  {
    name: 'access log',
    cases: {
      'of a request': logged(GET),
      'of a request with a body': logged(post('/a', 'hello')),
      'of HEAD': logged(ask('HEAD /'), 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n'),
      'of a response with a type': logged(GET, reply('200 OK', ['content-type: text/plain'], 'hello')),
      'of a response in chunks': logged(
        GET,
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
      ),
      'of a response without a body': logged(GET, 'HTTP/1.1 204 No Content\r\n\r\n'),
      'of an error of the upstream': logged(GET, failed),
      'of a reset': logged(post('/a', 'hello'), reset),
      'of a response that is cut off': logged(
        GET,
        (to) => (to.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'), setTimeout(to.reset, LATER_MS)),
      ),
      'of an invalid response': logged(GET, 'nonsense\r\n\r\n'),
      'of a rejected WebSocket': logged(HANDSHAKE, reply('403 Forbidden', [], 'no')),
      'of a WebSocket': { ...logged(HANDSHAKE, SWITCHED), talk: { says: ['one?', 'bye?'] } },
      'of a WebSocket that is reset': logged(HANDSHAKE, reset),
      'of a gRPC status': logged(GET, reply('200 OK', ['content-type: application/grpc', 'grpc-status: 5'], '')),
      'of several requests': logged([ask('GET /1'), ask('GET /2')]),
    },
  },
  {
    name: 'access log of rejections',
    ours: { routes: [ourText('hello', { exact: '/text' }), ours({ prefix: '/a' })] },
    envoy: { routes: [envoyText('hello', { path: '/text' }), envoys({ prefix: '/a' })] },
    cases: {
      'without a route': logged(ask('GET /other')),
      'by a direct response': logged(ask('GET /text')),
      'of an unknown host': logged('GET / HTTP/1.1\r\nHost: unknown.example\r\n\r\n'),
      'of too many headers': logged(
        ask(
          'GET /a',
          Array.from({ length: 120 }, (_, i) => `x-${i}: 1`),
        ),
      ),
    },
  },
  {
    name: 'access log without an upstream',
    ours: { routes: [ours({ prefix: '/' }, {}, '$refused')] },
    envoy: { routes: [envoys({ prefix: '/' }, { cluster: '$refused' })] },
    cases: { 'of a refused connection': logged(GET), 'of a WebSocket': logged(HANDSHAKE) },
  },
  {
    name: 'access log of a timeout',
    ours: { routes: [ours({ prefix: '/' }, { timeout: LIMIT })] },
    envoy: { routes: [envoys({ prefix: '/' }, { timeout: LIMIT })] },
    cases: { 'before the response': logged(GET, () => {}) },
  },
  {
    name: 'access log of retries',
    ours: { routes: [ours({ prefix: '/' }, { retries: { ...FAST, retryOn: '5xx', numRetries: 1 } })] },
    envoy: { routes: [envoys({ prefix: '/' }, { retry_policy: { ...ENVOY_FAST, retry_on: '5xx', num_retries: 1 } })] },
    cases: {
      'that help': logged(GET, failed, reply('200 OK', [], 'ok')),
      'that do not help': logged(GET, failed),
      'of resets': logged(post('/a', 'hello'), reset),
      'of a WebSocket': { ...logged(HANDSHAKE, failed, SWITCHED), talk: { says: ['bye?'] } },
    },
  },
  {
    name: 'access log of faults',
    ours: { routes: [ours({ prefix: '/' }, { faults: { abort: { percentage: 100, httpStatus: 418 } } })] },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {},
          {
            typed_per_filter_config: {
              'envoy.filters.http.fault': {
                '@type': 'type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault',
                abort: { http_status: 418, percentage: { numerator: 100 } },
              },
            },
          },
        ),
      ],
    },
    cases: { 'that abort': logged(GET) },
  },
  {
    name: 'access log above the limit of requests',
    ours: { upstream: { circuitBreakers: { maxRequests: 0 } } },
    envoy: { cluster: { circuit_breakers: { thresholds: [{ max_requests: 0 }] } } },
    cases: { 'of a request': logged(GET), 'of a WebSocket': logged(HANDSHAKE) },
  },
];
