import { ask, envoys, ours, reply, type Group } from '../scenario.ts';

const add = (key: string, value: string, append?: boolean) => ({
  header: { key, value },
  ...(append !== undefined && { append }),
});
const ADD_REQUEST = {
  requestHeadersToAdd: [
    add('x-a', 'added'),
    add('x-b', 'set', false),
    add('x-client', '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%'),
  ],
  requestHeadersToRemove: ['x-c', 'x-d'],
};
const set = (key: string, value: string) => ({ header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' });
const level = (name: string) => ({
  ours: {
    requestHeadersToAdd: [add('x-set', name, false), add('x-append', name)],
    responseHeadersToAdd: [add('x-set', name, false), add('x-append', name)],
  },
  envoy: {
    request_headers_to_add: [set('x-set', name), add('x-append', name)],
    response_headers_to_add: [set('x-set', name), add('x-append', name)],
  },
});
const levels = (name: string, mostSpecific: boolean): Group => ({
  name,
  ours: {
    routes: [
      {
        matchers: [{ prefix: '/' }],
        routeAction: {
          multi: {
            destinations: [
              {
                destination: { upstream: { name: '$up' } },
                weight: 1,
                options: { headerManipulation: level('destination').ours },
              },
            ],
          },
        },
        options: { headerManipulation: level('route').ours },
      },
    ],
    virtualHost: { options: { headerManipulation: level('host').ours } },
    ...(mostSpecific && { routeOptions: { mostSpecificHeaderMutationsWins: true } }),
  },
  envoy: {
    routes: [
      envoys(
        { prefix: '/' },
        {
          cluster: undefined,
          weighted_clusters: { clusters: [{ name: '$up', weight: 1, ...level('destination').envoy }] },
        },
        level('route').envoy,
      ),
    ],
    virtualHost: level('host').envoy,
    ...(mostSpecific && { routeConfiguration: { most_specific_header_mutations_wins: true } }),
  },
  cases: {
    'apply in their order': {
      request: ask('GET /', ['x-append: client']),
      upstream: [reply('200 OK', ['x-append: upstream', 'x-set: upstream'])],
    },
  },
});

const response = (headers: readonly string[]) => [reply('200 OK', headers, 'ok')];

export const headers: readonly Group[] = [
  {
    name: 'request headers',
    cases: {
      'keep their order': {
        request: ask('GET /', ['X-B: 1', 'Accept: */*', 'X-A: 2', 'User-Agent: u']),
        ordered: true,
      },
      'are lower-case upstream': { request: ask('GET /', ['X-Camel-Case: Value', 'ACCEPT: a']), ordered: true },
      'with several values': { request: ask('GET /', ['X-A: 1', 'X-B: 2', 'X-A: 3']), ordered: true },
      'with an empty value': ask('GET /', ['X-Empty:']),
      'with spaces around the value': ask('GET /', ['X-Space:   a b   ']),
      'with several cookies': { request: ask('GET /', ['Cookie: a=1', 'Cookie: b=2']), ordered: true },
      'with UTF-8 bytes': ask('GET /', ['X-Utf: \xc3\xa9']),
      'with an underscore': ask('GET /', ['X_Under: 1']),
      'with two content types': ask('GET /', ['Content-Type: a/b', 'Content-Type: c/d']),
      'with two authorizations': ask('GET /', ['Authorization: a', 'Authorization: b']),
      'named by Connection': ask('GET /', ['Connection: x-named', 'X-Named: 1']),
      'of the connection': ask('GET /', [
        'Keep-Alive: timeout=1',
        'Proxy-Connection: keep-alive',
        'Proxy-Authenticate: a',
        'X-Kept: 1',
      ]),
      'with proxy credentials': ask('GET /', ['Proxy-Authorization: Basic abc']),
      'TE: trailers': ask('GET /', ['TE: trailers']),
      'TE: trailers named by Connection': ask('GET /', ['TE: trailers', 'Connection: TE']),
      'TE: gzip': ask('GET /', ['TE: gzip']),
      'Upgrade-Insecure-Requests': ask('GET /', ['Upgrade-Insecure-Requests: 1']),
      Forwarded: ask('GET /', ['Forwarded: for=1.2.3.4']),
      Via: ask('GET /', ['Via: 1.1 a']),
      'Max-Forwards': ask('GET /', ['Max-Forwards: 3']),
      Range: ask('GET /', ['Range: bytes=0-1']),
    },
  },
  {
    name: 'response headers',
    cases: {
      'keep their order': {
        request: ask('GET /'),
        upstream: response(['x-b: 1', 'x-a: 2', 'cache-control: no-store']),
        ordered: true,
      },
      'are lower-case': { request: ask('GET /'), upstream: response(['X-Camel: Value']), ordered: true },
      'with several values': {
        request: ask('GET /'),
        upstream: response(['set-cookie: a=1', 'x: 1', 'set-cookie: b=2']),
        ordered: true,
      },
      'with an empty value': { request: ask('GET /'), upstream: response(['x-empty:']) },
      'server of the upstream': { request: ask('GET /'), upstream: response(['server: nginx']) },
      'date of the upstream': { request: ask('GET /'), upstream: response(['date: Thu, 01 Jan 1970 00:00:00 GMT']) },
      'via of the upstream': { request: ask('GET /'), upstream: response(['via: 1.1 a']) },
      'of the connection': {
        request: ask('GET /'),
        upstream: response(['keep-alive: timeout=5', 'proxy-authenticate: Basic', 'x-kept: 1']),
      },
      'named by Connection': { request: ask('GET /'), upstream: response(['connection: x-named', 'x-named: 1']) },
      'x-envoy headers of the upstream': {
        request: ask('GET /'),
        upstream: response(['x-envoy-upstream-service-time: 1234567', 'x-envoy-foo: 1', 'x-envoy-overloaded: true']),
      },
      'x-request-id of the upstream': { request: ask('GET /'), upstream: response(['x-request-id: up']) },
      trailer: { request: ask('GET /'), upstream: response(['trailer: x-a']) },
      'alt-svc': { request: ask('GET /'), upstream: response(['alt-svc: h3=":443"']) },
    },
  },
  {
    name: 'header manipulation',
    ours: {
      routes: [
        ours(
          { prefix: '/' },
          {
            headerManipulation: {
              ...ADD_REQUEST,
              responseHeadersToAdd: [add('x-a', 'added'), add('x-b', 'set', false), add('set-cookie', 'c=3')],
              responseHeadersToRemove: ['x-c', 'server'],
            },
          },
        ),
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {},
          {
            request_headers_to_add: [
              add('x-a', 'added'),
              set('x-b', 'set'),
              add('x-client', '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%'),
            ],
            request_headers_to_remove: ['x-c', 'x-d'],
            response_headers_to_add: [add('x-a', 'added'), set('x-b', 'set'), add('set-cookie', 'c=3')],
            response_headers_to_remove: ['x-c', 'server'],
          },
        ),
      ],
    },
    cases: {
      'adds what is missing': { request: ask('GET /') },
      'adds, sets and removes request headers': {
        request: ask('GET /', ['x-a: 1', 'x-b: 1', 'x-c: 1', 'X-D: 1', 'x-e: 1']),
      },
      'adds, sets and removes response headers': {
        request: ask('GET /'),
        upstream: response(['x-a: 1', 'x-b: 1', 'x-c: 1', 'x-e: 1', 'set-cookie: a=1']),
      },
    },
  },
  levels('levels of headers', false),
  levels('most specific headers', true),
  {
    name: 'added header',
    ours: {
      routes: [
        ours(
          { prefix: '/' },
          {
            headerManipulation: {
              requestHeadersToAdd: [
                add('x-percent', '100%%'),
                add('x-path', '%REQ(:PATH)%'),
                add('x-missing', '%REQ(X-MISSING)%'),
                add('x-protocol', '%PROTOCOL%'),
                add('x-mixed', 'a-%REQ(X-IN)%-b'),
              ],
              responseHeadersToAdd: [
                add('x-code', '%RESPONSE_CODE%'),
                add('x-host', '%UPSTREAM_HOST%'),
                add('x-req', '%REQ(X-IN)%'),
              ],
            },
          },
        ),
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {},
          {
            request_headers_to_add: [
              add('x-percent', '100%%'),
              add('x-path', '%REQ(:PATH)%'),
              add('x-missing', '%REQ(X-MISSING)%'),
              add('x-protocol', '%PROTOCOL%'),
              add('x-mixed', 'a-%REQ(X-IN)%-b'),
            ],
            response_headers_to_add: [
              add('x-code', '%RESPONSE_CODE%'),
              add('x-host', '%UPSTREAM_HOST%'),
              add('x-req', '%REQ(X-IN)%'),
            ],
          },
        ),
      ],
    },
    cases: {
      'contains values of the request': ask('GET /p?q', ['X-In: v']),
      'is left out without a value': ask('GET /'),
    },
  },
  {
    name: 'earlyHeaderManipulation',
    ours: {
      listener: {
        httpConnectionManagerSettings: {
          earlyHeaderManipulation: { headersToAdd: [add('x-early', '1', false)], headersToRemove: ['x-gone'] },
        },
      },
      routes: [ours({ prefix: '/', headers: [{ name: 'x-early', value: '1' }] })],
    },
    envoy: {
      routes: [envoys({ prefix: '/', headers: [{ name: 'x-early', string_match: { exact: '1' } }] })],
      manager: {
        early_header_mutation_extensions: [
          {
            name: 'envoy.http.early_header_mutation.header_mutation',
            typed_config: {
              '@type':
                'type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation',
              mutations: [
                { append: { header: { key: 'x-early', value: '1' }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' } },
                { remove: 'x-gone' },
              ],
            },
          },
        ],
      },
    },
    cases: { 'applies before matching': ask('GET /', ['x-gone: 1', 'x-early: 2']) },
  },
  {
    name: 'underscores',
    ours: { listener: { httpConnectionManagerSettings: { headersWithUnderscoresAction: 'REJECT_CLIENT_REQUEST' } } },
    envoy: { manager: { common_http_protocol_options: { headers_with_underscores_action: 'REJECT_REQUEST' } } },
    cases: { 'are rejected': ask('GET /', ['x_a: 1']) },
  },
  {
    name: 'underscores dropped',
    ours: { listener: { httpConnectionManagerSettings: { headersWithUnderscoresAction: 'DROP_HEADER' } } },
    envoy: { manager: { common_http_protocol_options: { headers_with_underscores_action: 'DROP_HEADER' } } },
    cases: { 'with their headers': ask('GET /', ['x_a: 1', 'x-b: 1']) },
  },
  ...(['OVERWRITE', 'APPEND_IF_ABSENT', 'PASS_THROUGH'] as const).map((transformation): Group => ({
    name: `server header, ${transformation}`,
    ours: {
      listener: { httpConnectionManagerSettings: { serverName: 'mine', serverHeaderTransformation: transformation } },
    },
    envoy: { manager: { server_name: 'mine', server_header_transformation: transformation } },
    cases: {
      'of the upstream': { request: ask('GET /'), upstream: response(['server: up']) },
      'absent upstream': ask('GET /'),
    },
  })),
  {
    name: 'via',
    ours: { listener: { httpConnectionManagerSettings: { via: 'gw' } } },
    envoy: { manager: { via: 'gw' } },
    cases: {
      'is appended': { request: ask('GET /', ['via: 1.1 a']), upstream: response(['via: 1.1 b']) },
      'is set': ask('GET /'),
    },
  },
];
