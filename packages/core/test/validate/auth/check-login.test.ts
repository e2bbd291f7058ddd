import { expect } from 'chai';
import { formatPath } from '../../../src/resource/problem.ts';
import { parseDocuments } from '../../../src/parse/parse.ts';
import { validateWritten } from '../../../src/validate/validate.ts';

const BLOCK = {
  clientId: 'shop',
  disableClientSecret: true,
  issuerUrl: 'https://id.example',
  appUrl: 'https://shop.example',
  callbackPath: '/callback',
};

function issuesOf(more: object, { mode = 'oidcAuthorizationCode', severity = 'error' } = {}) {
  const configs = [{ oauth2: { [mode]: { ...BLOCK, ...more } } }];
  const spec = {
    apiVersion: 'enterprise.gw.vendor.io/v1',
    kind: 'AuthConfig',
    metadata: { name: 'a' },
    spec: { configs },
  };
  const { issues } = validateWritten(parseDocuments(JSON.stringify(spec), 'a.yaml')[0]!);
  return issues.filter((issue) => issue.severity === severity);
}
const redis = (host: string): object => ({ session: { redis: { options: { host } } } });

describe('a login in an AuthConfig', () => {
  const good: Record<string, object> = {
    'as documented': {},
    'an issuer on this machine': { issuerUrl: 'http://127.0.0.1:3201/realms/shop' },
    'a path below the application': { appUrl: 'http://shop.example:8080/shop/' },
    'a callback that is a regular expression': { callbackPath: '/cb.*', parseCallbackPathAsRegex: true },
    'three paths': { logoutPath: '/logout', frontChannelLogout: { path: '/provider-logout' } },
    'an issuer over http elsewhere that allowHttp permits': { issuerUrl: 'http://id.example', allowHttp: true },
    'a session cookie with a prefix': { session: { redis: { cookieName: '__Host-sid' } } },
    'a deny-list': { session: { cookie: { logoutDenyList: { duration: '5m', redis: { host: 'redis' } } } } },
    'a session in memory': { session: { redis: {} } },
    ...Object.fromEntries(
      [
        'redis:6379',
        'redis',
        '[::1]:6379',
        '10.0.0.1:6379',
        'redis://redis',
        'rediss://user:p%40ss@redis:6379/3',
        'unix:///run/redis.sock',
        'unix://:p%40ss@/run/redis.sock',
      ].map((host) => [`a Redis at ${host}`, redis(host)]),
    ),
  };
  for (const [name, more] of Object.entries(good)) {
    it(`accepts ${name}`, () => expect(issuesOf(more)).to.deep.equal([]));
  }

  for (const [name, more, path] of [
    ['an issuer in the cluster', { issuerUrl: 'http://dex.gw-system.svc.cluster.local:32000/' }, 'issuerUrl'],
    ['a private key set', { discoveryOverride: { jwksUri: 'http://10.0.0.1/keys' } }, 'discoveryOverride.jwksUri'],
  ] as const) {
    it(`accepts ${name} over http with a warning, and with allowHttp without one`, () => {
      expect(issuesOf(more)).to.deep.equal([]);
      const warnings = issuesOf(more, { severity: 'warning' });
      expect(warnings.map((each) => formatPath(each.path))).to.deep.equal([
        `spec.configs[0].oauth2.oidcAuthorizationCode.${path}`,
      ]);
      expect(warnings[0]!.message).to.contain('unencrypted');
      expect(issuesOf({ ...more, allowHttp: true }, { severity: 'warning' })).to.deep.equal([]);
    });
  }

  const bad: Record<string, [object, string]> = {
    'an application that is a script': [{ appUrl: 'javascript:alert(1)' }, 'appUrl'],
    'an application with a query': [{ appUrl: 'https://shop.example/?x=1' }, 'appUrl'],
    'an application with a user': [{ appUrl: 'https://hunter2@shop.example/' }, 'appUrl'],
    'an issuer over http elsewhere': [{ issuerUrl: 'http://id.example' }, 'issuerUrl'],
    'an overridden endpoint over http elsewhere': [
      { discoveryOverride: { jwksUri: 'http://id.example/keys' } },
      'discoveryOverride.jwksUri',
    ],
    'an invalid name of the session cookie': [
      { session: { redis: { cookieName: 'a b' } } },
      'session.redis.cookieName',
    ],
    'a __Host- cookie for a domain': [
      { session: { redis: { cookieName: '__Host-a' }, cookieOptions: { domain: 'shop.example' } } },
      'session.redis.cookieName',
    ],
    'an invalid prefix of cookie names': [{ session: { cookie: { keyPrefix: 'a;' } } }, 'session.cookie.keyPrefix'],
    'a deny-list at a Redis that is none': [
      { session: { cookie: { logoutDenyList: { redis: { host: 'a b' } } } } },
      'session.cookie.logoutDenyList.redis.host',
    ],
    'an issuer with a password': [{ issuerUrl: 'https://me:hunter2@id.example' }, 'issuerUrl'],
    'no address as issuer': [{ issuerUrl: 'id.example' }, 'issuerUrl'],
    'a callback without slash': [{ callbackPath: 'callback' }, 'callbackPath'],
    'a logout without slash': [{ logoutPath: 'logout' }, 'logoutPath'],
    'a logout at the callback': [{ logoutPath: '/callback' }, 'callbackPath'],
    'two logouts in one': [{ logoutPath: '/x', frontChannelLogout: { path: '/x' } }, 'frontChannelLogout.path'],
    'cookies of other sites in the clear': [
      { session: { cookieOptions: { sameSite: 'NoneMode', notSecure: true } } },
      'session.cookieOptions.sameSite',
    ],
    ...Object.fromEntries(
      ['http://redis', ':hunter2@redis', 'redis://', 'unix://relative', 'a b', 'redis://:hunter2@:x', 'redis:port'].map(
        (host): [string, [object, string]] => [`a Redis at ${host}`, [redis(host), 'session.redis.options.host']],
      ),
    ),
  };
  for (const [name, [more, field]] of Object.entries(bad)) {
    it(`rejects ${name}, without repeating it`, () => {
      const [issue, ...others] = issuesOf(more);
      expect(others).to.deep.equal([]);
      expect(issue).to.include({ code: 'INVALID_AUTH_CONFIG' });
      expect(formatPath(issue!.path)).to.equal(`spec.configs[0].oauth2.oidcAuthorizationCode.${field}`);
      expect(issue!.message).to.not.contain('hunter2');
    });
  }

  it('applies the same checks to plain OAuth 2', () => {
    const endpoints = {
      issuerUrl: undefined,
      authEndpoint: 'http://id.example/a',
      tokenEndpoint: 'https://id.example/t',
    };
    const fields = issuesOf({ ...endpoints, callbackPath: 'x' }, { mode: 'oauth2' }).map(({ path }) => path.at(-1));
    expect(fields).to.have.members(['authEndpoint', 'callbackPath']);
  });
});
