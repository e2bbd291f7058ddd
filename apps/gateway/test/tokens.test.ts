import { generateKeyPairSync, sign } from 'node:crypto';
import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Someone who signs tokens with ES256. */
function createIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims: Claims): string => {
    const exp = Math.floor(Date.now() / 1000) + 300;
    const signed = `${part({ alg: 'ES256', kid: 'k1' })}.${part({ iss: 'me', exp, ...claims })}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  return { keySet: JSON.stringify({ keys: [key] }), token };
}

const provider = (header = ''): string => `
            issuer: me
            keepToken: true
            ${header && `tokenSource: { headers: [{ header: ${header} }] }`}
            claimsToHeaders: [{ claim: email, header: x-vendor-claim-email }]
            jwks: { remote: { url: 'http://idp.test/keys', upstreamRef: { name: echo } } }`;
const POLICY = `rbac: { policies: { admins: { principals: [{ jwtPrincipal: { claims: { email: admin@example.com } } }], permissions: { methods: [GET], pathPrefix: /admin } } } }`;

/** A host with these options, and a route with those. */
const host = (options: string, route = ''): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options:
      ${options}
    routes:
      - name: all
        matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
        options:
          timeout: 5s
          ${route}
`;

describe('tokens and policies on routes', () => {
  let gateway: Protected;
  let token: (claims: Claims) => string;
  afterEach(() => gateway.close());

  async function serve(options: string, route?: string, more = ''): Promise<void> {
    const issuer = createIssuer();
    token = issuer.token;
    gateway = await protect(host(options, route) + more, issuer.keySet);
    expect(gateway.state('VirtualService', 'shop')).to.equal('Accepted');
  }
  const bearer = (email: string) => ({ authorization: `Bearer ${token({ email })}` });

  const placements: Readonly<Record<string, readonly [host: string, route?: string]>> = {
    'jwt of the virtual host': [`jwt:\n        providers:\n          main:${provider()}\n      ${POLICY}`],
    'jwtStaged.afterExtAuth': [
      `jwtStaged:\n        afterExtAuth:\n         providers:\n          main:${provider()}\n      ${POLICY}`,
    ],
    'jwtStaged.beforeExtAuth': [
      `jwtStaged:\n        beforeExtAuth:\n         providers:\n          main:${provider()}\n      ${POLICY}`,
    ],
    'policies of the route': [
      `jwt:\n        providers:\n          main:${provider()}\n      rbac: { policies: {} }`,
      POLICY,
    ],
    'jwtProvidersStaged of the route': [
      POLICY,
      `jwtProvidersStaged:\n            afterExtAuth:\n             providers:\n              main:${provider().replaceAll('\n', '\n    ')}`,
    ],
  };
  for (const [name, [options, route]] of Object.entries(placements)) {
    it(`allows one user on one path: ${name}`, async () => {
      await serve(options, route);
      const missing = await gateway.ask('/admin');
      expect(missing).to.include({ status: 401, body: 'Jwt is missing' });
      expect(missing.headers).to.include({ 'content-type': 'text/plain' });
      expect(missing.headers['www-authenticate']).to.match(/^Bearer realm="http:\/\/.*\/admin"$/);
      const admin = bearer('admin@example.com');
      const inside = await gateway.ask('/admin', { ...admin, 'x-vendor-claim-email': 'forged' });
      expect(inside.status).to.equal(200);
      expect(JSON.parse(inside.body).headers).to.include({ 'x-vendor-claim-email': 'admin@example.com', ...admin });
      for (const [path, headers, body] of [
        ['/admin', bearer('user@example.com')],
        ['/other', admin],
        ['/admin', admin, 'posted'],
      ] as const) {
        const answer = await gateway.ask(path, headers, body);
        expect(answer).to.include({ status: 403, body: 'RBAC: access denied' });
        expect(answer.headers).to.include({ 'content-type': 'text/plain' });
      }
      expect(gateway.reached()).to.equal(1);
    });
  }

  for (const [name, route] of Object.entries({
    'jwt.disable': 'jwt: { disable: true }',
    'jwtStaged.afterExtAuth.disable': 'jwtStaged: { afterExtAuth: { disable: true } }',
    'providers of the route': `jwtProvidersStaged:
            afterExtAuth:
              validationPolicy: ALLOW_MISSING
              providers: { own: { jwks: { remote: { url: 'http://idp.test/keys', upstreamRef: { name: echo } } } } }`,
  })) {
    it(`strips forged claim headers where a route has other rules: ${name}`, async () => {
      await serve(`jwt:\n        providers:\n          main:${provider()}`, route);
      for (const name of ['X-Vendor-Claim-Email', 'x_vendor_claim_email']) {
        const { status, body } = await gateway.ask('/a', { [name]: 'root', 'x-other': 'stays' });
        expect(status).to.equal(200);
        expect(JSON.parse(body).headers)
          .to.include({ 'x-other': 'stays' })
          .and.not.have.any.keys('x-vendor-claim-email', 'x_vendor_claim_email');
      }
    });
  }

  it('keeps headers of a token verified before external auth if another route is selected after it', async () => {
    await serve(
      `jwtStaged:\n        beforeExtAuth:\n         providers:\n          main:${provider()}`,
      `jwtProvidersStaged:
            afterExtAuth:
              providers: { own: { jwks: { remote: { url: 'http://idp.test/keys', upstreamRef: { name: echo } } } } }`,
    );
    const { body } = await gateway.ask('/a', { ...bearer('a@x'), 'x-vendor-claim-email': 'root' });
    expect(JSON.parse(body).headers).to.include({ 'x-vendor-claim-email': 'a@x' });
  });

  it('removes the token from headers and query, unless keepToken is set', async () => {
    await serve(
      `jwt:\n        providers:\n          main:${provider().replace('keepToken: true', 'keepToken: false')}`,
    );
    const signed = token({ email: 'a' });
    const answer = await gateway.ask(`/a?x=1&access_token=${signed}&y=2`);
    expect(JSON.parse(answer.body).path).to.equal('/a?x=1&y=2');
    const byHeader = await gateway.ask('/a', { authorization: `Bearer ${signed}` });
    expect(JSON.parse(byHeader.body).headers).not.to.have.property('authorization');
  });

  it('disables verification on a route with disable', async () => {
    await serve(`jwt:\n        providers:\n          main:${provider()}`, 'jwt: { disable: true }');
    expect((await gateway.ask('/')).status).to.equal(200);
  });

  it('passes the jwt step of external auth with a verified token', async () => {
    const config = `---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: token, namespace: gw-system }
spec: { configs: [{ jwt: {} }] }
`;
    const staged = `jwtStaged:\n        beforeExtAuth:\n         validationPolicy: ALLOW_MISSING_OR_FAILED\n         providers:\n          main:${provider()}`;
    await serve(`${staged}\n      extauth: { configRef: { name: token } }`, undefined, config);
    expect((await gateway.ask('/')).status).to.equal(401);
    expect((await gateway.ask('/', { authorization: 'Bearer a.b.c' })).status).to.equal(401);
    expect((await gateway.ask('/', bearer('a@example.com'))).status).to.equal(200);
  });

  it('denies everything if policies are required and there are none', async () => {
    const settings = `---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { rbac: { requireRbac: true } }
`;
    await serve('headerManipulation: {}', undefined, settings);
    expect(await gateway.ask('/')).to.include({ status: 403, body: 'RBAC: access denied' });
    gateway.source.set('resources', host('rbac: { disable: true }') + settings);
    expect((await gateway.ask('/')).status).to.equal(200);
    gateway.source.set('resources', host('headerManipulation: {}'));
    expect((await gateway.ask('/')).status).to.equal(200);
  });
});
