import { expect } from 'chai';
import type { RbacPolicy } from '@edge-gateway/core/schema';
import { compilePolicies } from '../../src/index.ts';

const CLAIMS = {
  email: 'admin@example.com',
  role: 'admin',
  active: true,
  groups: ['dev', 'ops'],
  address: { city: 'Cologne' },
  'dotted.name': 'as it is',
  level: 7,
};

const decide = (
  policies: Record<string, RbacPolicy>,
  { method = 'GET', path = '/api/x', claims = CLAIMS as Record<string, unknown> | null, provider = 'main' } = {},
) => compilePolicies(policies)({ method, path, claims: new Map(claims ? [[provider, claims]] : []) });

const who = (
  claims: Record<string, string>,
  more: object = {},
  policy: RbacPolicy = {},
): Record<string, RbacPolicy> => ({
  p: { principals: [{ jwtPrincipal: { claims, ...more } }], ...policy },
});

describe('a decision', () => {
  for (const [what, policies, allowed] of [
    ['the claim has the value', who({ email: 'admin@example.com' }), true],
    ['the claim has another value', who({ email: 'user@example.com' }), false],
    ['the claim differs in case', who({ role: 'Admin' }), false],
    ['all claims match', who({ email: 'admin@example.com', role: 'admin' }), true],
    ['one of two claims does not match', who({ email: 'admin@example.com', role: 'user' }), false],
    ['the claim is missing', who({ nothing: 'x' }), false],
    ['a number is not text', who({ level: '7' }), false],
    ['a list is not text', who({ groups: 'dev' }), false],
    ['a boolean is not text', who({ active: 'true' }), false],
    ['a boolean by the matcher for it', who({ active: 'true' }, { matcher: 'BOOLEAN' }), true],
    ['a boolean that is the other one', who({ active: 'false' }, { matcher: 'BOOLEAN' }), false],
    ['text that says true is not a boolean', who({ role: 'true' }, { matcher: 'BOOLEAN' }), false],
    ['a list that contains the value', who({ groups: 'ops' }, { matcher: 'LIST_CONTAINS' }), true],
    ['a list that does not contain it', who({ groups: 'op' }, { matcher: 'LIST_CONTAINS' }), false],
    ['text is not a list', who({ role: 'admin' }, { matcher: 'LIST_CONTAINS' }), false],
    [
      'a regular expression that fits as a whole',
      who({ email: '[a-z]+@example\\.com' }, { matcher: 'REGEX_MATCH' }),
      true,
    ],
    ['a regular expression that fits a part', who({ email: 'admin' }, { matcher: 'REGEX_MATCH' }), false],
    ['a nested claim without a delimiter', who({ 'address.city': 'Cologne' }), false],
    ['a nested claim with one', who({ 'address.city': 'Cologne' }, {}, { nestedClaimDelimiter: '.' }), true],
    [
      'a claim whose name has the delimiter in it',
      who({ 'dotted.name': 'as it is' }, {}, { nestedClaimDelimiter: '.' }),
      true,
    ],
    [
      'a nested claim through a name every object has',
      who({ 'address.constructor.name': 'Object' }, {}, { nestedClaimDelimiter: '.' }),
      false,
    ],
    ['the provider', who({ role: 'admin' }, { provider: 'main' }), true],
    ['another provider', who({ role: 'admin' }, { provider: 'other' }), false],
    ['a policy without principals', { p: {} }, true],
    ['no policy at all', {}, false],
    [
      'the second of two principals',
      { p: { principals: [...who({ role: 'x' })['p']!.principals!, ...who({ role: 'admin' })['p']!.principals!] } },
      true,
    ],
    ['the second of two policies', { a: who({ role: 'x' })['p']!, b: who({ role: 'admin' })['p']! }, true],
  ] as const) {
    it(`${allowed ? 'allows' : 'denies'}: ${what}`, () => {
      expect(decide(policies as Record<string, RbacPolicy>).allowed).to.equal(allowed);
    });
  }

  for (const [permissions, method, path, allowed] of [
    [{ methods: ['GET'] }, 'GET', '/api', true],
    [{ methods: ['GET'] }, 'get', '/api', false],
    [{ methods: ['GET'] }, 'POST', '/api', false],
    [{ pathPrefix: '/api' }, 'GET', '/api/pets?x=1', true],
    [{ pathPrefix: '/api' }, 'GET', '/ap', false],
    [{ pathPrefix: '/api' }, 'GET', '/x/api', false],
    [{ pathPrefix: '/api', methods: ['GET', 'HEAD'] }, 'HEAD', '/apis', true],
    [{ pathPrefix: '/api', methods: ['GET'] }, 'GET', '/API', false],
    [{ pathPrefix: '/caf%c3%a9' }, 'GET', '/caf%C3%A9/menu', true],
    [{ pathPrefix: '/café' }, 'GET', '/caf%C3%A9/menu', true],
    [{ pathPrefix: '/%61pi' }, 'GET', '/api/pets', true],
    [{ pathPrefix: '/a%2fb' }, 'GET', '/a%2Fb', true],
    [{ pathPrefix: '/a%2fb' }, 'GET', '/a%2fb/c', true],
    [{ pathPrefix: '/%7euser%2Dx%2E%5Fy%39' }, 'GET', '/~user-x._y9/z', true],
    [{ pathPrefix: '/%7euser' }, 'GET', '/user', false],
    [{ pathPrefix: '/a%25%36%31' }, 'GET', '/a%2561', true],
    [{ pathPrefix: '/a%25%36%31' }, 'GET', '/aa', false],
    [{ pathPrefix: '/%61%64min' }, 'POST', '/users', false],
    [{ pathPrefix: '/gr\u00fc\ud800' }, 'GET', '/gr%C3%BC%EF%BF%BD', true],
    [{ pathPrefix: '/a%2fb' }, 'GET', '/a/b', false],
    [{ pathPrefix: '/a/%2e%2e/b' }, 'GET', '/a/%2e%2e/b', false],
    [{}, 'DELETE', '/', true],
    [undefined, 'DELETE', '/', true],
  ] as const) {
    it(`${allowed ? 'permits' : 'does not permit'} ${method} ${path} with ${JSON.stringify(permissions)}`, () => {
      expect(decide({ p: { permissions } }, { method, path }).allowed).to.equal(allowed);
    });
  }

  it('rejects when no token was verified', () => {
    expect(decide(who({ role: 'admin' }), { claims: null })).to.deep.equal({
      allowed: false,
      closest: 'p',
      reason: 'no verified token',
    });
  });

  it('names the closest policy, and what was missing', () => {
    const policies = {
      elsewhere: { permissions: { pathPrefix: '/other' } },
      users: { principals: [{ jwtPrincipal: { claims: { role: 'user' } } }] },
    };
    expect(decide(policies)).to.deep.equal({
      allowed: false,
      closest: 'users',
      reason: 'the claim role does not have the required value',
    });
    expect(decide({ elsewhere: policies.elsewhere })).to.deep.equal({
      allowed: false,
      closest: 'elsewhere',
      reason: 'the path does not begin with /other',
    });
  });

  it('rejects a policy whose regular expression does not compile', () => {
    expect(() => compilePolicies(who({ a: '(' }, { matcher: 'REGEX_MATCH' }))).to.throw();
  });
});
