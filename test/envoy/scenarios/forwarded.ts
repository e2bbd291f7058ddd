import { ask, type Group } from '../scenario.ts';

const settings = (name: string, ours: object, envoy: object, cases: Group['cases']): Group => ({
  name,
  ours: { listener: { httpConnectionManagerSettings: ours } },
  envoy: { manager: envoy },
  cases,
});
const FORWARDED = [
  'x-forwarded-for: 1.2.3.4, 10.0.0.1',
  'x-forwarded-proto: https',
  'x-forwarded-host: h.example',
  'x-forwarded-port: 444',
];

export const forwarded: readonly Group[] = [
  {
    name: 'forwarded headers of a client',
    cases: {
      'x-forwarded-for is appended to': ask('GET /', ['x-forwarded-for: 1.2.3.4']),
      'x-forwarded-for in two headers': ask('GET /', ['x-forwarded-for: 1.2.3.4', 'x-forwarded-for: 5.6.7.8']),
      'x-forwarded-proto is replaced': ask('GET /', ['x-forwarded-proto: https']),
      'x-forwarded-host': ask('GET /', ['x-forwarded-host: evil.example']),
      'x-forwarded-port': ask('GET /', ['x-forwarded-port: 1']),
      'x-forwarded-prefix': ask('GET /', ['x-forwarded-prefix: /p']),
      'x-forwarded-client-cert is removed': ask('GET /', ['x-forwarded-client-cert: Hash=1']),
      'x-real-ip': ask('GET /', ['x-real-ip: 1.2.3.4']),
      'x-request-id is replaced': ask('GET /', ['x-request-id: mine']),
      'x-envoy-internal is removed': ask('GET /', ['x-envoy-internal: true']),
      'x-envoy-external-address is removed': ask('GET /', ['x-envoy-external-address: 1.2.3.4']),
      'x-envoy-decorator-operation': ask('GET /', ['x-envoy-decorator-operation: op']),
      'x-envoy-attempt-count': ask('GET /', ['x-envoy-attempt-count: 7']),
      'x-envoy-original-path': ask('GET /', ['x-envoy-original-path: /x']),
      'x-envoy-upstream-rq-timeout-ms': ask('GET /', ['x-envoy-upstream-rq-timeout-ms: 100']),
      'x-envoy-expected-rq-timeout-ms': ask('GET /', ['x-envoy-expected-rq-timeout-ms: 100']),
      'x-envoy-retry-on': ask('GET /', ['x-envoy-retry-on: 5xx', 'x-envoy-max-retries: 3']),
      'x-envoy-foo': ask('GET /', ['x-envoy-foo: 1']),
      traceparent: ask('GET /', ['traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01']),
    },
  },
  settings(
    'without useRemoteAddress',
    { useRemoteAddress: false },
    { use_remote_address: false },
    {
      'forwarded headers are kept': ask('GET /', FORWARDED),
      'nothing is appended': ask('GET /'),
      'a request id is kept': ask('GET /', ['x-request-id: 11111111-1111-4111-8111-111111111111']),
    },
  ),
  settings(
    'one trusted hop',
    { xffNumTrustedHops: 1 },
    { xff_num_trusted_hops: 1 },
    {
      'keeps what it forwards': ask('GET /', FORWARDED),
      'without forwarded headers': ask('GET /'),
    },
  ),
  settings(
    'internalAddressConfig',
    { internalAddressConfig: { cidrRanges: [{ addressPrefix: '127.0.0.0', prefixLen: 8 }] } },
    { internal_address_config: { cidr_ranges: [{ address_prefix: '127.0.0.0', prefix_len: 8 }] } },
    {
      'marks requests of internal clients': ask('GET /'),
      'and the request id of internal clients': ask('GET /', ['x-request-id: mine']),
      'and x-envoy headers of internal clients': ask('GET /', ['x-envoy-foo: 1', 'x-envoy-internal: false']),
      'and forwarded headers of internal clients': ask('GET /', [
        'x-forwarded-for: 1.2.3.4',
        'x-forwarded-proto: https',
      ]),
    },
  ),
  settings(
    'skipXffAppend',
    { skipXffAppend: true },
    { skip_xff_append: true },
    {
      'keeps x-forwarded-for': ask('GET /', ['x-forwarded-for: 1.2.3.4']),
      'adds none': ask('GET /'),
    },
  ),
  settings(
    'appendXForwardedPort',
    { appendXForwardedPort: true },
    { append_x_forwarded_port: true },
    {
      'adds the port': ask('GET /'),
      'with a port of the client': ask('GET /', ['x-forwarded-port: 1']),
    },
  ),
  settings(
    'preserveExternalRequestId',
    { preserveExternalRequestId: true },
    { preserve_external_request_id: true },
    {
      'keeps the id of the client': ask('GET /', ['x-request-id: mine']),
      'generates a missing id': ask('GET /'),
    },
  ),
  settings(
    'without generateRequestId',
    { generateRequestId: false },
    { generate_request_id: false },
    {
      'adds no id': ask('GET /'),
      'with an id of the client': ask('GET /', ['x-request-id: mine']),
    },
  ),
  {
    name: 'suppressEnvoyHeaders',
    ours: { listener: { router: { suppressEnvoyHeaders: true } } },
    envoy: {
      manager: {
        http_filters: [
          {
            name: 'router',
            typed_config: {
              '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
              suppress_envoy_headers: true,
            },
          },
        ],
      },
    },
    cases: {
      'sends none': {
        request: ask('GET /'),
        upstream: ['HTTP/1.1 200 OK\r\nx-envoy-foo: 1\r\ncontent-length: 0\r\n\r\n'],
      },
    },
  },
];
