import { ask, askRaw, type Case, type Group } from '../scenario.ts';

const CHUNKED = 'transfer-encoding: chunked';
const raw = (status: string, headers: readonly string[], body = ''): string =>
  askRaw([`HTTP/1.1 ${status}`, ...headers], body);
const HELLO = '5\r\nhello\r\n0\r\n';

const LISTENER = { httpConnectionManagerSettings: { enableTrailers: true } };
const UPSTREAM = { connectionConfig: { http1ProtocolOptions: { enableTrailers: true } } };
const MANAGER = { http_protocol_options: { enable_trailers: true } };
const CLUSTER = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http_protocol_options: { enable_trailers: true } },
    },
  },
};

const REQUEST = ask('POST /', [CHUNKED, 'Trailer: x-a'], `${HELLO}X-A: 1\r\n\r\n`);
const upstream = (headers: readonly string[], fields: string): Case['upstream'] => [
  raw('200 OK', [CHUNKED, ...headers], `${HELLO}${fields}\r\n`),
];
const DROPPED: Group['cases'] = {
  'of a request': REQUEST,
  'of a response': { request: ask('GET /'), upstream: upstream([], 'x-t: 1\r\n') },
};

export const trailers: readonly Group[] = [
  {
    name: 'trailers',
    ours: { listener: LISTENER, upstream: UPSTREAM },
    envoy: { manager: MANAGER, cluster: CLUSTER },
    cases: {
      'of a request': REQUEST,
      'that are missing': ask('POST /', [CHUNKED], `${HELLO}\r\n`),
      'of a response': { request: ask('GET /', ['TE: trailers']), upstream: upstream([], 'x-t: 1\r\n') },
      'of a response that announces them': {
        request: ask('GET /', ['TE: trailers']),
        upstream: upstream(['trailer: x-t'], 'X-T: 1\r\n'),
      },
      'of a response to a client that does not ask for them': {
        request: ask('GET /'),
        upstream: upstream([], 'x-t: 1\r\nx-u: 2\r\nx-t: 3\r\n'),
      },
    },
  },
  {
    name: 'trailers that only the listener enables',
    ours: { listener: LISTENER },
    envoy: { manager: MANAGER },
    cases: DROPPED,
  },
  {
    name: 'trailers that only the upstream enables',
    ours: { upstream: UPSTREAM },
    envoy: { cluster: CLUSTER },
    cases: DROPPED,
  },
];
