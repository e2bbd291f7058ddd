import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import { call, early, stream, type Described } from '../http2/calls.ts';
import type { Http2Call } from '../http2/http2-call.ts';
import { ask, envoys, envoyType, ours, post, reply, LATER_MS, type Case, type Group, type Reply } from '../scenario.ts';

const message = (text: string): string => `\0\0\0\0${String.fromCharCode(text.length)}${text}`;
const TYPE: Field = ['content-type', 'application/grpc'];
const grpc = (more: Described = {}): Http2Call =>
  call({
    method: 'POST',
    path: '/test.Echo/Unary',
    body: message('hi'),
    ...more,
    fields: [TYPE, ['te', 'trailers'], ...(more.fields ?? [])],
  });
const HEAD: Field[] = [[':status', '200'], TYPE];
const trailersOnly = (status: number, ...fields: Field[]): Reply =>
  stream((to) => to.headers([...HEAD, ['grpc-status', String(status)], ...fields], true));
const responds = (messages: readonly string[], trailers: readonly Field[]): Reply =>
  stream((to) => {
    to.headers(HEAD, false);
    for (const each of messages) to.data(message(each), false);
    to.headers(trailers, true);
  });
const fine = responds(['hello'], [['grpc-status', '0']]);
const asked = (...upstream: Reply[]): Case => ({ request: grpc(), upstream });

const retries = (retryOn: string, status: number): Group => ({
  name: `gRPC retries on ${retryOn}`,
  ours: { routes: [ours({ prefix: '/' }, { retries: { retryOn, numRetries: 1 } })] },
  envoy: { routes: [envoys({ prefix: '/' }, { retry_policy: { retry_on: retryOn, num_retries: 1 } })] },
  cases: {
    'of a response without messages': asked(trailersOnly(status), fine),
    'leave another status': asked(trailersOnly(3), fine),
    'leave a response with a message': asked(responds(['a'], [['grpc-status', String(status)]]), fine),
    'return the last failure': asked(trailersOnly(status)),
  },
});

const WEB_FILTER = {
  name: 'envoy.filters.http.grpc_web',
  typed_config: envoyType('filters.http.grpc_web.v3.GrpcWeb'),
};
const TIMEOUT = { maxStreamDuration: { grpcTimeoutHeaderMax: '0s' }, timeout: '0s' };
const web = (type: string, body: string, more: readonly string[] = []): string =>
  post('/test.Echo/Unary', body, [`content-type: ${type}`, ...more]);
const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

export const grpcCalls: readonly Group[] = [
  {
    name: 'gRPC call',
    ours: { listener: { grpcWeb: { disable: true } } },
    cases: {
      'with one message': asked(fine),
      'with several messages': {
        request: grpc({ body: message('a') + message('b') }),
        upstream: [
          responds(
            ['a', 'b', 'c'],
            [
              ['grpc-status', '0'],
              ['x-last', '1'],
            ],
          ),
        ],
      },
      'that fails without a message': asked(trailersOnly(5, ['grpc-message', 'not%20here'])),
      'that fails after a message': asked(
        responds(
          ['a'],
          [
            ['grpc-status', '13'],
            ['grpc-message', 'b%C3%A4d'],
          ],
        ),
      ),
      'with binary metadata': {
        request: grpc({
          fields: [
            ['x-a-bin', 'AAEC'],
            ['x-a', '1'],
          ],
        }),
        upstream: [
          responds(
            ['a'],
            [
              ['grpc-status', '0'],
              ['x-b-bin', '/w'],
            ],
          ),
        ],
      },
      'without te': { request: call({ method: 'POST', body: message('a'), fields: [TYPE] }), upstream: [fine] },
      'with trailers of the client': { request: grpc({ trailers: [['x-t', '1']] }), upstream: [fine] },
      'whose response is no gRPC': asked(reply('503 Service Unavailable', ['content-type: text/plain'], 'down')),
      'whose response is 404': asked(reply('404 Not Found', [], 'none')),
      'whose response ends without a status': asked(
        stream((to) => (to.headers(HEAD, false), to.data(message('a'), true))),
      ),
      'that the server refuses': asked(stream((to) => to.reset(7))),
      'that the server resets': asked(stream((to) => to.reset(2))),
      'that the server resets with no error': asked(stream((to) => to.reset(0))),
      'that the server breaks off': asked(
        stream((to) => (to.headers(HEAD, false), to.data(message('a'), false), setTimeout(to.reset, LATER_MS, 2))),
      ),
      'whose server leaves': asked(stream((to) => to.end())),
      'whose upload the server does not need': {
        request: grpc({ isOpen: true, body: message('a') }),
        upstream: [early((to) => to.headers([...HEAD, ['grpc-status', '8']], true))],
      },
    },
  },
  {
    name: 'gRPC deadline',
    ours: { listener: { grpcWeb: { disable: true } }, routes: [ours({ prefix: '/' }, TIMEOUT)] },
    envoy: {
      routes: [envoys({ prefix: '/' }, { max_stream_duration: { grpc_timeout_header_max: '0s' }, timeout: '0s' })],
    },
    cases: {
      'in milliseconds': { request: grpc({ fields: [['grpc-timeout', '1000m']] }), upstream: [() => {}] },
      'in microseconds': { request: grpc({ fields: [['grpc-timeout', '1000000u']] }), upstream: [() => {}] },
      'in nanoseconds': { request: grpc({ fields: [['grpc-timeout', '99999999n']] }), upstream: [() => {}] },
      'that is met': { request: grpc({ fields: [['grpc-timeout', '10S']] }), upstream: [fine] },
      'that is invalid': { request: grpc({ fields: [['grpc-timeout', 'soon']] }), upstream: [fine] },
      'with too many digits': { request: grpc({ fields: [['grpc-timeout', '123456789m']] }), upstream: [fine] },
      'after a message': {
        request: grpc({ fields: [['grpc-timeout', '1000m']] }),
        upstream: [stream((to) => (to.headers(HEAD, false), to.data(message('a'), false)))],
      },
    },
  },
  retries('cancelled', 1),
  retries('deadline-exceeded', 4),
  retries('resource-exhausted', 8),
  retries('internal', 13),
  retries('unavailable', 14),
  {
    name: 'gRPC-Web',
    ours: { routes: [ours({ prefix: '/test.Echo' }), ours({ prefix: '/refused' }, {}, '$refused')] },
    envoy: {
      filters: [WEB_FILTER],
      routes: [envoys({ prefix: '/test.Echo' }), envoys({ prefix: '/refused' }, { cluster: '$refused' })],
    },
    cases: {
      'in binary form': { request: web('application/grpc-web', message('hi')), upstream: [fine] },
      'in binary form with a format': { request: web('application/grpc-web+proto', message('hi')), upstream: [fine] },
      'in text form': { request: web('application/grpc-web-text', base64(message('hi'))), upstream: [fine] },
      'in text form with a format': {
        request: web('application/grpc-web-text+proto', base64(message('hi')), [
          'accept: application/grpc-web-text+proto',
        ]),
        upstream: [fine],
      },
      'in text form, padded in parts': {
        request: web('application/grpc-web-text', base64(message('hi').slice(0, 4)) + base64(message('hi').slice(4))),
        upstream: [fine],
      },
      'in text form that is no base64': web('application/grpc-web-text', 'a*b?'),
      'with a binary response to text': {
        request: web('application/grpc-web-text', base64(message('hi')), ['accept: application/grpc-web']),
        upstream: [fine],
      },
      'that fails without a message': {
        request: web('application/grpc-web', message('hi')),
        upstream: [trailersOnly(5, ['grpc-message', 'none'])],
      },
      'with several messages': {
        request: web('application/grpc-web', message('hi')),
        upstream: [
          responds(
            ['a', 'b'],
            [
              ['grpc-status', '0'],
              ['x-last', '1'],
            ],
          ),
        ],
      },
      'whose response is no gRPC': {
        request: web('application/grpc-web', message('hi')),
        upstream: [reply('503 Service Unavailable', ['content-type: text/plain'], 'down')],
      },
      'to a closed port': post('/refused', message('hi'), ['content-type: application/grpc-web']),
      'without a route': post('/none', message('hi'), ['content-type: application/grpc-web']),
      'with GET': ask('GET /test.Echo/Unary', ['content-type: application/grpc-web']),
      'of gRPC itself': { request: grpc(), upstream: [fine] },
    },
  },
];
