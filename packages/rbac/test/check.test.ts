import { expect } from 'chai';
import type { FieldProblem } from '@edge-gateway/core';
import { accessChecks } from '../src/index.ts';

const KEY = '{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}';
const GOOD = { issuer: 'me', jwks: { local: { key: KEY } } };

function found(kind: string, spec: object): FieldProblem[] {
  return accessChecks.flatMap((each) => (each.kind === kind ? [...each.check(spec as never, ['spec'])] : []));
}
const ofOptions = (options: object) => found('RouteOption', { options });
const ofProvider = (main: object) => ofOptions({ jwt: { providers: { main } } });
const ofPolicy = (policy: object) => ofOptions({ rbac: { policies: { p: policy } } });
const told = (findings: FieldProblem[]) => findings.map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('checks of access', () => {
  for (const [kind, wrap, at] of [
    ['VirtualService', (options: object) => ({ virtualHost: { options } }), 'spec.virtualHost'],
    [
      'VirtualService',
      (options: object) => ({ virtualHost: { routes: [{}, { name: 'r', options }] } }),
      'spec.virtualHost.routes.1',
    ],
    ['RouteTable', (options: object) => ({ routes: [{ name: 'r', options }] }), 'spec.routes.0'],
    ['VirtualHostOption', (options: object) => ({ options }), 'spec'],
    ['RouteOption', (options: object) => ({ options }), 'spec'],
  ] as const) {
    it(`look into ${at} of a ${kind}`, () => {
      for (const [option, where] of [
        ['jwt', 'jwt'],
        ['jwtStaged', 'jwtStaged.beforeExtAuth'],
        ['jwtStaged', 'jwtStaged.afterExtAuth'],
        ['jwtProvidersStaged', 'jwtProvidersStaged.afterExtAuth'],
      ] as const) {
        const block = { providers: { main: { issuer: 'me' } } };
        const [, stage] = where.split('.');
        const findings = found(kind, wrap({ [option]: stage ? { [stage]: block } : block }));
        expect(told(findings)).to.deep.equal([
          `${at}.options.${where}.providers.main: a provider needs keys to verify signatures`,
        ]);
        if (at.includes('routes')) expect(findings[0]).to.include({ route: 'r' });
      }
    });
  }

  it('find no problem in valid or empty settings', () => {
    const remote = { url: 'http://keys/x', upstreamRef: { name: 'a' } };
    const claimsToHeaders = [{ claim: 'email', header: 'x-email' }];
    expect(ofProvider({ ...GOOD, claimsToHeaders })).to.deep.equal([]);
    expect(ofProvider({ audiences: ['me'], jwks: { remote } })).to.deep.equal([]);
    expect(ofPolicy({ permissions: { methods: ['GET'], pathPrefix: '/a' }, principals: [{}] })).to.deep.equal([]);
    expect(ofOptions({ jwt: { disable: true }, jwtStaged: { afterExtAuth: { disable: true } } })).to.deep.equal([]);
    for (const kind of ['VirtualService', 'RouteTable', 'VirtualHostOption', 'RouteOption'])
      expect(found(kind, {})).to.deep.equal([]);
  });

  it('warn of a block without providers, which allows every request', () => {
    for (const block of [{}, { providers: {} }, { validationPolicy: 'REQUIRE_VALID' }]) {
      const findings = ofOptions({ jwtStaged: { beforeExtAuth: block } });
      expect(told(findings)).to.deep.equal([
        'spec.options.jwtStaged.beforeExtAuth: no provider is configured, so every request passes, with or without a token',
      ]);
      expect(findings[0]).to.include({ severity: 'warning', hint: 'providers' });
    }
    expect(ofOptions({ jwt: { disable: false } })).to.deep.equal([]);
  });

  it('warn of a provider that accepts tokens of every issuer for every audience', () => {
    const findings = ofProvider({ audiences: [], jwks: { local: { key: KEY } } });
    expect(told(findings)).to.deep.equal([
      'spec.options.jwt.providers.main: neither issuer nor audiences are set, so every token with a valid signature is accepted',
    ]);
    expect(findings[0]).to.include({ severity: 'warning', hint: 'issuer and audiences' });
  });

  for (const [key, reason] of [
    ['nonsense', 'Jwks is an invalid JSON'],
    ['{"keys":[]}', "Jwks doesn't have any valid public key"],
    ['-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----', 'PEM pubkey parse fails'],
  ] as const) {
    it(`reject the keys ${JSON.stringify(key)}`, () => {
      expect(told(ofProvider({ issuer: 'me', jwks: { local: { key } } }))).to.deep.equal([
        `spec.options.jwt.providers.main.jwks.local.key: invalid keys: ${reason}`,
      ]);
    });
  }

  for (const url of ['', 'keys', '/keys', 'ftp://keys/a']) {
    it(`reject the address '${url}'`, () => {
      const findings = ofProvider({ jwks: { remote: { url, upstreamRef: { name: 'a' } } } });
      expect(told(findings)[0]).to.match(/jwks\.remote\.url: must be an absolute URL/);
    });
  }

  it('reject claims without header and headers without claim', () => {
    const claimsToHeaders = [
      { claim: 'a' },
      { claim: 'a', header: 'x-a' },
      { header: 'x' },
      { claim: 'a', header: 'a b' },
    ];
    expect(told(ofProvider({ ...GOOD, claimsToHeaders }))).to.deep.equal(
      [0, 2, 3].map((i) => `spec.options.jwt.providers.main.claimsToHeaders.${i}: needs a claim and a header name`),
    );
  });

  it('reject token sources that no request has', () => {
    const tokenSource = {
      headers: [{ header: 'jwt' }, { header: 'a b' }, { prefix: 'Bearer ' }],
      queryParams: ['t', ''],
    };
    expect(told(ofProvider({ ...GOOD, tokenSource }))).to.deep.equal([
      'spec.options.jwt.providers.main.tokenSource.headers.1: needs a header name',
      'spec.options.jwt.providers.main.tokenSource.headers.2: needs a header name',
      'spec.options.jwt.providers.main.tokenSource.queryParams.1: needs a parameter name',
    ]);
  });

  it('warn of values that no claim can have with their matcher', () => {
    const principal = (claims: object, matcher?: string) => ({ jwtPrincipal: { claims, ...(matcher && { matcher }) } });
    const findings = ofPolicy({
      principals: [
        principal({ a: true, b: 'true' }),
        principal({ a: false, b: 'x' }, 'LIST_CONTAINS'),
        principal({ a: true, b: 'false', c: 'yes' }, 'BOOLEAN'),
      ],
    });
    expect(findings.map(({ severity, path, hint }) => [severity, path.slice(5).join('.'), hint])).to.deep.equal([
      ['warning', 'principals.0.jwtPrincipal.claims.a', 'matcher: BOOLEAN'],
      ['warning', 'principals.1.jwtPrincipal.claims.a', 'matcher: BOOLEAN'],
      ['warning', 'principals.2.jwtPrincipal.claims.c', 'true or false'],
    ]);
  });

  for (const pathPrefix of ['/a/../b', '/a/%2e%2e/b', '/a//b', '/a\\b', '/a?b', '/a#b']) {
    it(`warn of the prefix ${pathPrefix}, which no path has`, () => {
      const [finding] = ofPolicy({ permissions: { pathPrefix } });
      expect(finding).to.include({ code: 'UNMATCHABLE_PATH', severity: 'warning' });
    });
  }

  it('find no problem in prefixes of valid paths', () => {
    for (const pathPrefix of ['/', '/.', '/a/..b', '/a%20b', '/caf%c3%a9', '/a;b'])
      expect(ofPolicy({ permissions: { pathPrefix } }), pathPrefix).to.deep.equal([]);
  });

  it('reject an expression that does not compile, but only if it is used as one', () => {
    const principals = (matcher: string) => [{}, { jwtPrincipal: { claims: { a: '.*', b: '(' }, matcher } }];
    expect(ofPolicy({ principals: principals('EXACT_STRING') })).to.deep.equal([]);
    const [finding, ...more] = ofPolicy({ principals: principals('REGEX_MATCH') });
    expect(more).to.deep.equal([]);
    expect(finding!.code).to.equal('INVALID_RBAC');
    expect(finding!.path.join('.')).to.equal('spec.options.rbac.policies.p.principals.1.jwtPrincipal.claims.b');
  });

  it('warn of methods and paths that no request has', () => {
    const findings = ofPolicy({ permissions: { methods: ['GET', 'post'], pathPrefix: 'api' } });
    expect(findings.map(({ severity, path, hint }) => [severity, path.slice(5).join('.'), hint])).to.deep.equal([
      ['warning', 'permissions.methods.1', 'did you mean POST?'],
      ['warning', 'permissions.pathPrefix', undefined],
    ]);
  });
});
