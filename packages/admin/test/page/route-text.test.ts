import { expect } from 'chai';
import { policiesOf } from '../../src/page/policies.ts';
import { actionText, matcherText } from '../../src/page/route-text.ts';

type Matcher = Parameters<typeof matcherText>[0];
type Action = Parameters<typeof actionText>[0];

const MATCHERS: readonly (readonly [Matcher, string])[] = [
  [{}, '/*'],
  [{ prefix: '/a' }, '/a*'],
  [{ exact: '/a', methods: ['GET', 'POST'] }, 'GET|POST = /a'],
  [{ regex: '/\\d+', caseSensitive: false }, '~ /\\d+ (any case)'],
  [{ connectMatcher: {} }, 'CONNECT'],
  [
    {
      prefix: '/',
      headers: [{ name: 'authorization', value: 'MARKER' }],
      queryParameters: [{ name: 'key', value: 'MARKER' }],
    },
    '/* (header authorization, parameter key)',
  ],
];

const destination = { upstream: 'a_gw', weight: 1, options: {} };
const ACTIONS: readonly (readonly [Action, string])[] = [
  [{ type: 'forward', destinations: [destination] }, 'a_gw'],
  [
    {
      type: 'forward',
      destinations: [
        { ...destination, weight: 3 },
        { ...destination, upstream: 'b_gw' },
      ],
    },
    'a_gw 75 %, b_gw 25 %',
  ],
  [
    { type: 'forward', destinations: [{ ...destination, broken: { status: 503, body: '', reason: 'not found' } }] },
    'a_gw (responds 503: not found)',
  ],
  [{ type: 'direct', status: 404, body: 'MARKER' }, 'respond 404'],
  [{ type: 'redirect', redirect: { hostRedirect: 'b.example', httpsRedirect: true } }, 'redirect to https://b.example'],
  [{ type: 'graphql', api: { namespace: 'gw', name: 'todos' } }, 'GraphQLApi gw/todos'],
  [{ type: 'replacement', status: 404, body: '', reason: 'missing' }, 'respond 404 instead: missing'],
];

describe('matcherText', () => {
  for (const [matcher, text] of MATCHERS) it(`is "${text}"`, () => expect(matcherText(matcher)).to.equal(text));
});

describe('actionText', () => {
  for (const [action, text] of ACTIONS) it(`is "${text}"`, () => expect(actionText(action)).to.equal(text));
});

describe('policiesOf', () => {
  const policies = (route: object, host: object = {}) =>
    policiesOf({ options: route } as never, { options: host } as never).map(({ name, detail, from }) =>
      [name, detail, from === 'route' ? '' : from].filter(Boolean).join(' '),
    );

  it('lists policies in the order in which requests meet them, without values', () => {
    const options = {
      timeout: '3s',
      headerManipulation: { requestHeadersToAdd: [{ header: { key: 'authorization', value: 'MARKER' } }] },
      rbac: { policies: { admins: {} } },
      jwt: { providers: { main: { issuer: 'MARKER' } } },
      extauth: { configRef: { namespace: 'gw', name: 'login' } },
    };
    expect(policies(options)).to.deep.equal([
      'external auth gw/login',
      'JWT main',
      'RBAC admins',
      'headers requestHeadersToAdd',
      'timeout 3s',
    ]);
  });

  it('shows those of the virtual host that the route does not replace', () => {
    const host = {
      extauth: { configRef: { namespace: 'gw', name: 'login' } },
      cors: { allowOrigin: ['https://a.example'] },
    };
    expect(policies({ extauth: { disable: true } }, host)).to.deep.equal([
      'CORS https://a.example virtual host',
      'external auth off',
    ]);
  });

  it('cuts long lists, and shows unknown options by their names', () => {
    const options = {
      rbac: { policies: { a: {}, b: {}, c: {}, d: {}, e: {}, f: {} } },
      somethingNew: { secret: 'MARKER' },
    };
    expect(policies(options)).to.deep.equal(['RBAC a, b, c, d and 2 more', 'somethingNew']);
  });
});
