import { ask, envoys, envoyText, envoyType, ours, ourText, reply, type Group } from '../scenario.ts';

const POLICY = {
  allowOrigin: ['https://a.example', 'http://b.example:8080'],
  allowOriginRegex: ['https://[a-z]+\\.trusted\\.example'],
  allowMethods: ['GET', 'POST'],
  allowHeaders: ['content-type', 'x-token'],
  exposeHeaders: ['x-exposed'],
  maxAge: '600',
  allowCredentials: true,
};
const ENVOY_POLICY = {
  'envoy.filters.http.cors': {
    ...envoyType('filters.http.cors.v3.CorsPolicy'),
    allow_origin_string_match: [
      { exact: 'https://a.example' },
      { exact: 'http://b.example:8080' },
      { safe_regex: { regex: 'https://[a-z]+\\.trusted\\.example' } },
    ],
    allow_methods: 'GET,POST',
    allow_headers: 'content-type,x-token',
    expose_headers: 'x-exposed',
    max_age: '600',
    allow_credentials: true,
  },
};
const preflight = (origin: string, method = 'POST'): string =>
  ask('OPTIONS /a', [`Origin: ${origin}`, `Access-Control-Request-Method: ${method}`]);
const simple = (origin: string): string => ask('GET /a', [`Origin: ${origin}`]);

export const cors: readonly Group[] = [
  {
    name: 'cors',
    ours: {
      routes: [ourText('direct', { prefix: '/direct' }, { cors: POLICY }), ours({ prefix: '/' }, { cors: POLICY })],
    },
    envoy: {
      routes: [
        envoyText('direct', { prefix: '/direct' }, { typed_per_filter_config: ENVOY_POLICY }),
        envoys({ prefix: '/' }, {}, { typed_per_filter_config: ENVOY_POLICY }),
      ],
    },
    cases: {
      'preflight of an allowed origin': preflight('https://a.example'),
      'preflight of an origin by regex': preflight('https://xyz.trusted.example'),
      'preflight of an origin that matches a regex in part': preflight('https://xyz.trusted.example.evil'),
      'preflight of another origin': preflight('https://evil.example'),
      'preflight of another method': preflight('https://a.example', 'DELETE'),
      'preflight with headers': ask('OPTIONS /a', [
        'Origin: https://a.example',
        'Access-Control-Request-Method: GET',
        'Access-Control-Request-Headers: x-other',
      ]),
      'preflight without method is forwarded': ask('OPTIONS /a', ['Origin: https://a.example']),
      'preflight for a private network': ask('OPTIONS /a', [
        'Origin: https://a.example',
        'Access-Control-Request-Method: GET',
        'Access-Control-Request-Private-Network: true',
      ]),
      'request of an allowed origin': simple('https://a.example'),
      'request of another origin': simple('https://evil.example'),
      'request of an origin in upper case': simple('HTTPS://A.EXAMPLE'),
      'request without origin': ask('GET /a'),
      'request with the origin null': simple('null'),
      'request whose upstream sends cors headers': {
        request: simple('https://a.example'),
        upstream: [reply('200 OK', ['access-control-allow-origin: *', 'access-control-expose-headers: x-up'], 'ok')],
      },
      'request of another origin whose upstream sends cors headers': {
        request: simple('https://evil.example'),
        upstream: [reply('200 OK', ['access-control-allow-origin: *'], 'ok')],
      },
      'direct response': ask('GET /direct', ['Origin: https://a.example']),
    },
  },
  {
    name: 'cors of any origin',
    ours: { routes: [ours({ prefix: '/' }, { cors: { allowOrigin: ['*'], allowMethods: ['GET'] } })] },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {},
          {
            typed_per_filter_config: {
              'envoy.filters.http.cors': {
                ...envoyType('filters.http.cors.v3.CorsPolicy'),
                allow_origin_string_match: [{ exact: '*' }],
                allow_methods: 'GET',
              },
            },
          },
        ),
      ],
    },
    cases: {
      'allows a request': simple('https://any.example'),
      'allows a preflight': preflight('https://any.example'),
    },
  },
  {
    name: 'cors of the virtual host',
    ours: {
      routes: [ours({ prefix: '/off' }, { cors: { disableForRoute: true } }), ours()],
      virtualHost: { options: { cors: { allowOrigin: ['https://a.example'] } } },
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/off' },
          {},
          {
            typed_per_filter_config: {
              'envoy.filters.http.cors': {
                ...envoyType('filters.http.cors.v3.CorsPolicy'),
                filter_enabled: { default_value: { numerator: 0 } },
              },
            },
          },
        ),
        envoys(),
      ],
      virtualHost: {
        typed_per_filter_config: {
          'envoy.filters.http.cors': {
            ...envoyType('filters.http.cors.v3.CorsPolicy'),
            allow_origin_string_match: [{ exact: 'https://a.example' }],
          },
        },
      },
    },
    cases: {
      'applies to routes': simple('https://a.example'),
      'has a preflight without methods': preflight('https://a.example'),
      'is off on a route': ask('GET /off', ['Origin: https://a.example']),
    },
  },
];
