import { ask, envoys, envoyText, ours, ourText, post, type Group } from '../scenario.ts';

const redirect = (name: string, redirectAction: object, envoyRedirect: object, path = '/a/b?c=d'): Group => ({
  name: `redirect ${name}`,
  ours: { routes: [{ matchers: [{ prefix: '/a' }], redirectAction }] },
  envoy: { routes: [{ match: { prefix: '/a' }, redirect: envoyRedirect }] },
  cases: { 'has the location': ask(`GET ${path}`) },
});
const directRoute = (status: number, body?: string) => ({
  ours: { matchers: [{ prefix: `/${status}` }], directResponseAction: { status, ...(body !== undefined && { body }) } },
  envoy: {
    match: { prefix: `/${status}` },
    direct_response: { status, ...(body !== undefined && { body: { inline_string: body } }) },
  },
});
const RESPONSES = [
  directRoute(200, 'hello'),
  directRoute(204),
  directRoute(201, 'made'),
  directRoute(304),
  directRoute(404, 'gone'),
  directRoute(503),
  directRoute(299, 'é'),
];

export const direct: readonly Group[] = [
  redirect('to a host', { hostRedirect: 'other.example' }, { host_redirect: 'other.example' }),
  redirect('to a path', { pathRedirect: '/x' }, { path_redirect: '/x' }),
  redirect(
    'to a path without the query',
    { pathRedirect: '/x', stripQuery: true },
    { path_redirect: '/x', strip_query: true },
  ),
  redirect('to a path with a query', { pathRedirect: '/x?y' }, { path_redirect: '/x?y' }),
  redirect('to a prefix', { prefixRewrite: '/x' }, { prefix_rewrite: '/x' }),
  redirect(
    'by a regex',
    { regexRewrite: { pattern: { regex: '^/a/(.*)$' }, substitution: '/x/\\1' } },
    { regex_rewrite: { pattern: { regex: '^/a/(.*)$' }, substitution: '/x/\\1' } },
  ),
  redirect('to https', { httpsRedirect: true }, { https_redirect: true }),
  redirect(
    'to a port',
    { portRedirect: 8443, hostRedirect: 'h.example' },
    { port_redirect: 8443, host_redirect: 'h.example' },
  ),
  ...(
    [
      ['FOUND', 302],
      ['SEE_OTHER', 303],
      ['TEMPORARY_REDIRECT', 307],
      ['PERMANENT_REDIRECT', 308],
    ] as const
  ).map(([code]) =>
    redirect(`with ${code}`, { pathRedirect: '/x', responseCode: code }, { path_redirect: '/x', response_code: code }),
  ),
  redirect(
    'of a path that begins with two slashes',
    { httpsRedirect: true },
    { https_redirect: true },
    '/a//evil.example',
  ),
  {
    name: 'redirect of a host with a port',
    ours: {
      routes: [{ matchers: [{ prefix: '/' }], redirectAction: { httpsRedirect: true } }],
      virtualHost: { domains: ['$host:80', '$host:8080'] },
    },
    envoy: {
      routes: [{ match: { prefix: '/' }, redirect: { https_redirect: true } }],
      virtualHost: { domains: ['$host:80', '$host:8080'] },
    },
    cases: {
      'drops the default port': 'GET / HTTP/1.1\r\nHost: $host:80\r\n\r\n',
      'with another port': 'GET / HTTP/1.1\r\nHost: $host:8080\r\n\r\n',
    },
  },
  {
    name: 'redirect with headers',
    ours: {
      routes: [
        {
          matchers: [{ prefix: '/' }],
          redirectAction: { pathRedirect: '/x' },
          options: {
            headerManipulation: {
              responseHeadersToAdd: [
                { header: { key: 'x-added', value: '1' } },
                { header: { key: 'set-cookie', value: 'a=b' } },
              ],
            },
          },
        },
      ],
    },
    envoy: {
      routes: [
        {
          match: { prefix: '/' },
          redirect: { path_redirect: '/x' },
          response_headers_to_add: [
            { header: { key: 'x-added', value: '1' } },
            { header: { key: 'set-cookie', value: 'a=b' } },
          ],
        },
      ],
    },
    cases: { 'adds them': ask('GET /a'), 'of a POST': post('/a', 'body'), 'of HEAD': ask('HEAD /a') },
  },
  {
    name: 'direct response',
    ours: { routes: RESPONSES.map((each) => each.ours) },
    envoy: { routes: RESPONSES.map((each) => each.envoy) },
    cases: {
      'has a body': ask('GET /200'),
      'to HEAD has no body': ask('HEAD /200'),
      'to POST with a body': post('/200', 'hello'),
      'with 204': ask('GET /204'),
      'with 201': ask('GET /201'),
      'with 304': ask('GET /304'),
      'with 404 and a body': ask('GET /404'),
      'with 503 and without body': ask('GET /503'),
      'with an unknown status and UTF-8': ask('GET /299'),
    },
  },
  {
    name: 'direct response with headers',
    ours: {
      routes: [
        ourText(
          '{}',
          { prefix: '/type' },
          {
            headerManipulation: {
              responseHeadersToAdd: [{ header: { key: 'content-type', value: 'application/json' }, append: false }],
            },
          },
        ),
        ourText(
          'x',
          { prefix: '/location' },
          { headerManipulation: { responseHeadersToAdd: [{ header: { key: 'location', value: '/x' } }] } },
        ),
        {
          matchers: [{ prefix: '/302' }],
          directResponseAction: { status: 302 },
          options: {
            headerManipulation: { responseHeadersToAdd: [{ header: { key: 'location', value: '/x' }, append: false }] },
          },
        },
        ourText(
          'x',
          { prefix: '/remove' },
          { headerManipulation: { responseHeadersToRemove: ['content-type', 'server'] } },
        ),
      ],
    },
    envoy: {
      routes: [
        envoyText(
          '{}',
          { prefix: '/type' },
          {
            response_headers_to_add: [
              {
                header: { key: 'content-type', value: 'application/json' },
                append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
              },
            ],
          },
        ),
        envoyText(
          'x',
          { prefix: '/location' },
          { response_headers_to_add: [{ header: { key: 'location', value: '/x' } }] },
        ),
        {
          match: { prefix: '/302' },
          direct_response: { status: 302 },
          response_headers_to_add: [
            { header: { key: 'location', value: '/x' }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
          ],
        },
        envoyText('x', { prefix: '/remove' }, { response_headers_to_remove: ['content-type', 'server'] }),
      ],
    },
    cases: {
      'keeps its own type': ask('GET /type'),
      'keeps its location': ask('GET /location'),
      'with 302 and a location': ask('GET /302'),
      'removes headers': ask('GET /remove'),
    },
  },
  {
    name: 'unmatched',
    ours: { routes: [ours({ prefix: '/known' })] },
    envoy: { routes: [envoys({ prefix: '/known' })] },
    cases: {
      'path gives 404': ask('GET /'),
      'path of a POST gives 404': post('/', 'hello'),
      'path of HEAD gives 404': ask('HEAD /'),
    },
  },
];
