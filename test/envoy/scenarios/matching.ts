import { ask, envoys, envoyText, ours, ourText, post, type Group } from '../scenario.ts';

const everythingElse = { ours: ourText('else'), envoy: envoyText('else') };
const header = (name: string, match: object): object => ({ prefix: '/', headers: [{ name, ...match }] });
const exact = (value: string): object => ({ string_match: { exact: value } });

export const matching: readonly Group[] = [
  {
    name: 'everything',
    cases: {
      'forwards a request and its response': { request: ask('GET /a?x=1', ['Accept: */*']), everything: true },
      'forwards a body with a length': { request: post('/a', 'hello', ['Content-Type: text/plain']), everything: true },
      'rejects an invalid request': { request: 'GET / HTTP/1.1\r\nAccept: a\r\n\r\n', everything: true },
      'has no virtual host': { request: 'GET / HTTP/1.1\r\nHost: unknown.example\r\n\r\n', everything: true },
      'responds to HTTP/1.1 with close': { request: ask('GET /', ['Connection: close']), everything: true },
    },
  },
  {
    name: 'prefix',
    ours: { routes: [ourText('a', { prefix: '/a' }), ourText('b', { prefix: '/b/' })] },
    envoy: { routes: [envoyText('a', { prefix: '/a' }), envoyText('b', { prefix: '/b/' })] },
    cases: {
      'equals the path': ask('GET /a'),
      'is a plain string': ask('GET /abc'),
      'ignores the query': ask('GET /a?b=/c'),
      'distinguishes case': ask('GET /A'),
      'with a slash does not match without it': ask('GET /b'),
      'with a slash matches what follows it': ask('GET /b/c'),
      'does not match an escaped slash': ask('GET /b%2Fc'),
      'is no match in the query': ask('GET /?/a'),
    },
  },
  {
    name: 'exact',
    ours: { routes: [ourText('a', { exact: '/a' }), ourText('b', { exact: '/b', caseSensitive: false })] },
    envoy: { routes: [envoyText('a', { path: '/a' }), envoyText('b', { path: '/b', case_sensitive: false })] },
    cases: {
      'equals the path': ask('GET /a'),
      'ignores the query': ask('GET /a?x'),
      'does not match a longer path': ask('GET /a/'),
      'distinguishes case': ask('GET /A'),
      'ignores case on request': ask('GET /B'),
    },
  },
  {
    name: 'regex',
    ours: { routes: [ourText('digits', { regex: '/[0-9]+' }), ourText('dot', { regex: '/x.y' })] },
    envoy: {
      routes: [
        envoyText('digits', { safe_regex: { regex: '/[0-9]+' } }),
        envoyText('dot', { safe_regex: { regex: '/x.y' } }),
      ],
    },
    cases: {
      'matches the whole path': ask('GET /123'),
      'does not match a part of the path': ask('GET /123/a'),
      'ignores the query': ask('GET /123?a=b'),
      'matches an escaped character as written': ask('GET /x%2Ey'),
      'matches any character with a dot': ask('GET /x-y'),
    },
  },
  {
    name: 'first route',
    ours: {
      routes: [
        ourText('first', { prefix: '/a' }),
        ourText('second', { exact: '/a/b' }),
        ourText('post', { prefix: '/c', methods: ['POST'] }),
        ourText('any', { prefix: '/c' }),
      ],
    },
    envoy: {
      routes: [
        envoyText('first', { prefix: '/a' }),
        envoyText('second', { path: '/a/b' }),
        envoyText('post', { prefix: '/c', headers: [{ name: ':method', ...exact('POST') }] }),
        envoyText('any', { prefix: '/c' }),
      ],
    },
    cases: {
      'wins over a more specific one': ask('GET /a/b'),
      'with a method is passed over by others': ask('GET /c'),
      'with a method matches it': ask('POST /c', ['Content-Length: 0']),
    },
  },
  {
    name: 'methods',
    ours: { routes: [ourText('ours', { prefix: '/', methods: ['GET', 'PUT'] })] },
    envoy: {
      routes: [
        envoyText('ours', {
          prefix: '/',
          headers: [{ name: ':method', string_match: { safe_regex: { regex: 'GET|PUT' } } }],
        }),
      ],
    },
    cases: {
      'matches one of the list': ask('PUT /', ['Content-Length: 0']),
      'does not match another': ask('DELETE /'),
      'does not match HEAD for GET': ask('HEAD /'),
    },
  },
  {
    name: 'header',
    ours: {
      routes: [
        ourText('value', { prefix: '/', headers: [{ name: 'x-value', value: 'one' }] }),
        ourText('regex', { prefix: '/', headers: [{ name: 'x-regex', value: 'a+', regex: true }] }),
        ourText('present', { prefix: '/', headers: [{ name: 'x-present' }] }),
        ourText('absent', { prefix: '/absent', headers: [{ name: 'x-absent', invertMatch: true }] }),
        ourText('not', { prefix: '/not', headers: [{ name: 'x-not', value: 'no', invertMatch: true }] }),
        ourText('host', { prefix: '/', headers: [{ name: ':authority', value: 'other.$host' }] }),
        everythingElse.ours,
      ],
      virtualHost: { domains: ['$host', '*.$host'] },
    },
    envoy: {
      routes: [
        envoyText('value', header('x-value', exact('one'))),
        envoyText('regex', header('x-regex', { string_match: { safe_regex: { regex: 'a+' } } })),
        envoyText('present', header('x-present', { present_match: true })),
        envoyText('absent', {
          prefix: '/absent',
          headers: [{ name: 'x-absent', present_match: true, invert_match: true }],
        }),
        envoyText('not', { prefix: '/not', headers: [{ name: 'x-not', ...exact('no'), invert_match: true }] }),
        envoyText('host', header(':authority', exact('other.$host'))),
        everythingElse.envoy,
      ],
      virtualHost: { domains: ['$host', '*.$host'] },
    },
    cases: {
      'equals a value': ask('GET /', ['X-Value: one']),
      'distinguishes the case of values': ask('GET /', ['X-Value: One']),
      'does not match one of two values': ask('GET /', ['X-Value: one', 'X-Value: two']),
      'does not match the second of two values': ask('GET /', ['X-Value: two', 'X-Value: one']),
      'does not match in a list': ask('GET /', ['X-Value: one,two']),
      'matches a whole value by regex': ask('GET /', ['X-Regex: aaa']),
      'does not match a part by regex': ask('GET /', ['X-Regex: aab']),
      'is present': ask('GET /', ['X-Present: 1']),
      'is present and empty': ask('GET /', ['X-Present:']),
      'is absent': ask('GET /absent'),
      'is not absent': ask('GET /absent', ['X-Absent: 1']),
      'has another value': ask('GET /not', ['X-Not: yes']),
      'with an inverted value is missing': ask('GET /not'),
      'has the inverted value': ask('GET /not', ['X-Not: no']),
      'matches the authority': 'GET / HTTP/1.1\r\nHost: other.$host\r\n\r\n',
    },
  },
  {
    name: 'query parameter',
    ours: {
      routes: [
        ourText('value', { prefix: '/', queryParameters: [{ name: 'a', value: '1' }] }),
        ourText('regex', { prefix: '/', queryParameters: [{ name: 'b', value: '[0-9]+', regex: true }] }),
        ourText('present', { prefix: '/', queryParameters: [{ name: 'c' }] }),
        everythingElse.ours,
      ],
    },
    envoy: {
      routes: [
        envoyText('value', { prefix: '/', query_parameters: [{ name: 'a', ...exact('1') }] }),
        envoyText('regex', {
          prefix: '/',
          query_parameters: [{ name: 'b', string_match: { safe_regex: { regex: '[0-9]+' } } }],
        }),
        envoyText('present', { prefix: '/', query_parameters: [{ name: 'c', present_match: true }] }),
        everythingElse.envoy,
      ],
    },
    cases: {
      'equals a value': ask('GET /?a=1'),
      'has another value': ask('GET /?a=2'),
      'is the first of two': ask('GET /?a=1&a=2'),
      'is the second of two': ask('GET /?a=2&a=1'),
      'matches by regex': ask('GET /?x=y&b=12'),
      'does not match a part by regex': ask('GET /?b=12x'),
      'is present without a value': ask('GET /?c'),
      'is present with an empty value': ask('GET /?c='),
      'is escaped': ask('GET /?a=%31'),
      'has an escaped name': ask('GET /?%61=1'),
    },
  },
  {
    name: 'weights',
    ours: {
      routes: [
        {
          matchers: [{ prefix: '/' }],
          routeAction: {
            multi: {
              destinations: [
                { destination: { upstream: { name: '$up' } }, weight: 0 },
                { destination: { upstream: { name: '$other' } }, weight: 5 },
              ],
            },
          },
        },
      ],
    },
    envoy: {
      routes: [
        envoys(
          { prefix: '/' },
          {
            cluster: undefined,
            weighted_clusters: {
              clusters: [
                { name: '$up', weight: 0 },
                { name: '$other', weight: 5 },
              ],
            },
          },
        ),
      ],
    },
    cases: { 'of 0 gets no request': ask('GET /') },
  },
  {
    name: 'upstream',
    ours: { routes: [ours({ prefix: '/refused' }, {}, '$refused')] },
    envoy: { routes: [envoys({ prefix: '/refused' }, { cluster: '$refused' })] },
    cases: { 'without a route gives 404': ask('GET /other'), 'that refuses gives 503': ask('GET /refused') },
  },
];
