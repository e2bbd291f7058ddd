import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import { call, early, stream } from '../http2/calls.ts';
import type { Http2Reply, UpstreamStream } from '../http2/http2-call.ts';
import { ask, envoys, ours, post, reply, LATER_MS, type Case, type Group, type Reply } from '../scenario.ts';

const OK: Field = [':status', '200'];
const ok = reply('200 OK', [], 'ok');
const get = (...upstream: Reply[]): Case => ({ request: ask('GET /'), upstream });
const responds = (act: (to: UpstreamStream) => void): Case => get(stream(act));
const head = (...fields: Field[]): Case => responds((to) => to.headers(fields, true));
const CODES = Array.from({ length: 14 }, (_, code) => code);
const resets = (code: number): Http2Reply => stream((to) => to.reset(code));

const policy = (name: string, retryOn: string, cases: Group['cases']): Group => ({
  name: `HTTP/2 retries on ${name}`,
  ours: { routes: [ours({ prefix: '/' }, { retries: { retryOn, numRetries: 1 } })] },
  envoy: { routes: [envoys({ prefix: '/' }, { retry_policy: { retry_on: retryOn, num_retries: 1 } })] },
  cases,
});

export const http2Upstreams: readonly Group[] = [
  {
    name: 'HTTP/2 upstream',
    cases: {
      'ends with its head': head(OK, ['x-a', '1']),
      'has trailers': responds(
        (to) => (to.headers([OK], false), to.data('a', false), to.headers([['x-t', '1']], true)),
      ),
      'has trailers behind its head': responds((to) => (to.headers([OK], false), to.headers([['x-t', '1']], true))),
      'has empty DATA frames': responds(
        (to) => (to.headers([OK], false), to.data('', false), to.data('a', false), to.data('', true)),
      ),
      'sends blanks around a value': head(OK, ['x-a', ' 1\t']),
      'sends several cookies': head(OK, ['set-cookie', 'a=1'], ['set-cookie', 'b=2']),
      'sends interim responses': responds(
        (to) => (
          to.headers([[':status', '103']], false),
          to.headers([[':status', '102']], false),
          to.headers([OK], true)
        ),
      ),
      ...Object.fromEntries(CODES.map((code) => [`resets with ${code} before the head`, get(resets(code))])),
      ...Object.fromEntries(
        [0, 2, 7, 8].map((code) => [
          `resets with ${code} within the body`,
          responds((to) => (to.headers([OK], false), to.data('half', false), setTimeout(to.reset, LATER_MS, code))),
        ]),
      ),
      'resets behind its end': responds((to) => (to.headers([OK], false), to.data('all', true), to.reset(0))),
      'responds before the upload ends': {
        request: call({ method: 'POST', body: 'x', isOpen: true }),
        upstream: [early((to) => (to.headers([[':status', '413']], false), to.data('too large', true)))],
      },
      'responds before the upload ends, and resets': {
        request: call({ method: 'POST', body: 'x', isOpen: true }),
        upstream: [early((to) => (to.headers([[':status', '413']], false), to.data('too large', true), to.reset(0)))],
      },
      'sends no response and ends': responds((to) => to.end()),
      'announces the end and responds': responds((to) => (to.goaway('after'), to.headers([OK], true))),
      'announces the end before the request': get(
        stream((to) => (to.goaway('before'), setTimeout(to.end, 50))),
        ok,
      ),
      'announces the end before a request with a body': {
        request: post('/', 'hello'),
        upstream: [stream((to) => (to.goaway('before'), setTimeout(to.end, 50))), ok],
      },
      'ends with an error': responds((to) => (to.goaway('after', 2), to.end())),
      'ends between requests': {
        request: [ask('GET /a'), ask('GET /b')],
        upstream: [stream((to) => (to.headers([OK], false), to.data('a', true), to.goaway('after'), to.end())), ok],
      },
    },
  },
  {
    name: 'HTTP/2 upstream, invalid',
    cases: {
      'without status': head(['x-a', '1']),
      'with two statuses': head(OK, OK),
      'with a status behind a header': head(['x-a', '1'], OK),
      'with a status that is no number': head([':status', 'abc']),
      'with status 1000': head([':status', '1000']),
      'with status 600': head([':status', '600']),
      'with status 101': head([':status', '101']),
      'with an interim response that ends': head([':status', '103']),
      'with a pseudo-header of requests': head(OK, [':path', '/']),
      'with an unknown pseudo-header': head(OK, [':x', '1']),
      'with capitals': head(OK, ['X-A', '1']),
      'with connection': head(OK, ['connection', 'close']),
      'with keep-alive': head(OK, ['keep-alive', 'timeout=1']),
      'with transfer-encoding': head(OK, ['transfer-encoding', 'chunked']),
      'with upgrade': head(OK, ['upgrade', 'h2c']),
      'with CR LF in a value': head(OK, ['x-a', '1\r\nx-b: 2']),
      'with NUL in a value': head(OK, ['x-a', '1\0']),
      'with a space in a name': head(OK, ['x a', '1']),
      'with an empty name': head(OK, ['', '1']),
      'with a colon in a name': head(OK, ['x:a', '1']),
      'with two lengths': head(OK, ['content-length', '0'], ['content-length', '0']),
      'with an invalid length': head(OK, ['content-length', '+1']),
      'with a length but no body': head(OK, ['content-length', '5']),
      'longer than its length': responds(
        (to) => (to.headers([OK, ['content-length', '1']], false), to.data('ab', true)),
      ),
      'shorter than its length': responds(
        (to) => (to.headers([OK, ['content-length', '3']], false), to.data('ab', true)),
      ),
      'with a body for HEAD': {
        request: ask('HEAD /'),
        upstream: [stream((to) => (to.headers([OK], false), to.data('ab', true)))],
      },
      'with a body for 204': responds((to) => (to.headers([[':status', '204']], false), to.data('ab', true))),
      'with a body for 304': responds((to) => (to.headers([[':status', '304']], false), to.data('ab', true))),
      'with a length for 204': head([':status', '204'], ['content-length', '0']),
      'with a length for 304': head([':status', '304'], ['content-length', '5']),
      'with a body before the head': responds((to) => to.data('ab', true)),
      'with trailers that do not end it': responds(
        (to) => (to.headers([OK], false), to.data('a', false), to.headers([['x-t', '1']], false)),
      ),
      'with data behind its end': responds((to) => {
        to.headers([OK], false);
        to.data('a', true);
        to.data('poison', true);
      }),
      'with a second head behind its end': responds((to) => {
        to.headers([OK], true);
        to.headers([OK, ['x-a', 'poison']], true);
      }),
      'with data behind a head that ends it': responds((to) => {
        to.headers([OK], true);
        to.data('poison', true);
      }),
      'with 20 interim responses': responds((to) => {
        for (let i = 0; i < 20; i++) to.headers([[':status', '103']], false);
        to.headers([OK], true);
      }),
      'with a pseudo-header in trailers': responds(
        (to) => (to.headers([OK], false), to.data('a', false), to.headers([[':status', '200']], true)),
      ),
      'with a length in trailers': responds(
        (to) => (to.headers([OK], false), to.data('a', false), to.headers([['content-length', '1']], true)),
      ),
    },
  },
  policy('refused-stream', 'refused-stream', {
    'of a refused stream': get(resets(7), ok),
    'of a refused stream with a body': { request: post('/', 'hello'), upstream: [resets(7), ok] },
    'of a request with a body before the end of the connection': {
      request: post('/', 'hello'),
      upstream: [stream((to) => (to.goaway('before'), setTimeout(to.end, 50))), ok],
    },
    'leave another reset': get(resets(8), ok),
    'leave 503': get(reply('503 Service Unavailable', [], 'no'), ok),
  }),
  policy('reset', 'reset', {
    'of a reset': get(resets(2), ok),
    'of a refused stream': get(resets(7), ok),
    'of a reset without an error': get(resets(0), ok),
    'return the last failure': get(resets(8)),
  }),
  policy('connect-failure', 'connect-failure', {
    'leave a reset': get(resets(2), ok),
    'leave a refused stream': get(resets(7), ok),
  }),
];
