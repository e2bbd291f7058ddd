import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const JWK = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' };
const ISSUER = 'https://id.example.com';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function tokenOf(claims: object, skewed = 0): string {
  const exp = Math.floor(Date.now() / 1000) + 600 + skewed;
  const input = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: ISSUER, exp, ...claims })}`;
  return `${input}.${createSign('sha256').update(input).sign(privateKey, 'base64url')}`;
}

const resources = (port: number): string => `apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: access }
spec:
  virtualHost:
    domains: ['*']
    options:
      jwtStaged:
        afterExtAuth:
          providers:
            main:
              issuer: ${ISSUER}
              audiences: [https://shop.example/]
              claimsToHeaders:
                - { claim: email, header: X-Email }
                - { claim: tier, header: x-tier }
              jwks: { local: { key: '${JSON.stringify(JWK)}' } }
      rbac:
        policies:
          admins:
            principals: [{ jwtPrincipal: { claims: { email: admin@example.com } } }]
            permissions: { pathPrefix: /api, methods: [GET, HEAD] }
          verified:
            principals: [{ jwtPrincipal: { claims: { email_verified: true }, matcher: BOOLEAN } }]
            permissions: { pathPrefix: /verified }
    routes:
      - name: gold
        matchers: [{ prefix: /api/tiers, headers: [{ name: x-tier, value: gold }] }]
        directResponseAction: { status: 200, body: gold }
      - name: tiers
        matchers: [{ prefix: /api/tiers }]
        directResponseAction: { status: 200, body: plain }
      - name: open
        matchers: [{ prefix: /open }]
        routeAction: { single: { upstream: { name: echo } } }
        options: { jwtStaged: { afterExtAuth: { disable: true } }, rbac: { disable: true } }
      - name: remote
        matchers: [{ prefix: /remote }]
        routeAction: { single: { upstream: { name: echo } } }
        options:
          rbac: { disable: true }
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main:
                  issuer: ${ISSUER}
                  jwks: { remote: { url: 'http://keys.example/jwks', upstreamRef: { name: echo }, asyncFetch: {} } }
      - name: rest
        matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('JWT and RBAC in the gateway', () => {
  const gateway = new GatewayProcess();
  let echo: Server;
  let keyFetches = 0;
  before(async () => {
    echo = createServer((req, res) => {
      if (req.url !== '/jwks') return void res.end(JSON.stringify({ url: req.url, headers: req.headers }));
      keyFetches++;
      res.end(JSON.stringify({ keys: [JWK] }));
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    gateway.write('all.yaml', resources((echo.address() as AddressInfo).port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    echo.close();
  });

  function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
    return new Promise((resolve, reject) => {
      request(`${gateway.url}${path}`, { method, headers: { host: 'shop.example', ...headers } }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (body += chunk));
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }));
      })
        .on('error', reject)
        .end();
    });
  }
  const as = (claims: object): Record<string, string> => ({
    authorization: `Bearer ${tokenOf({ aud: 'shop.example', ...claims })}`,
  });
  const ADMIN = { email: 'admin@example.com' };

  it('allows principals of a policy; the upstream receives the claim, but not the token or forged headers', async () => {
    for (const name of ['x-email', 'x_email']) {
      const { status, body } = await ask('/api/x?a=1', { ...as(ADMIN), [name]: 'forged' });
      expect(status, name).to.equal(200);
      const { url, headers } = JSON.parse(body) as { url: string; headers: Record<string, string> };
      expect(url).to.equal('/api/x?a=1');
      expect(headers).to.include({ 'x-email': 'admin@example.com' });
      expect(headers).to.not.have.any.keys('authorization', 'x_email');
    }
  });

  it('removes a token in the query from the path', async () => {
    const { body } = await ask(`/api/x?access_token=${tokenOf({ aud: 'shop.example', ...ADMIN })}&b=1`);
    expect((JSON.parse(body) as { url: string }).url).to.equal('/api/x?b=1');
  });

  it('responds with the exact text, its type and the challenge; without the text for HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await ask('/api/x?a=1', {}, method);
      expect(status).to.equal(401);
      expect(headers['content-type']).to.equal('text/plain');
      expect(headers['content-length']).to.equal('14');
      expect(headers['www-authenticate']).to.equal('Bearer realm="http://shop.example/api/x?a=1"');
      expect(body).to.equal(method === 'GET' ? 'Jwt is missing' : '');
    }
  });

  for (const [what, claims, status, body] of [
    ['an old token', { aud: 'shop.example', exp: 1 }, 401, 'Jwt is expired'],
    ['a foreign issuer', { aud: 'shop.example', iss: 'https://else.example' }, 401, 'Jwt issuer is not configured'],
    ['a foreign audience', { aud: 'else.example' }, 403, 'Audiences in Jwt are not allowed'],
    ['somebody else', { email: 'user@example.com' }, 403, 'RBAC: access denied'],
  ] as const) {
    it(`rejects ${what} with ${status} ${body}`, async () => {
      const answer = await ask('/api/x', as(claims));
      expect(answer).to.include({ status, body });
      expect(answer.headers['content-type']).to.equal('text/plain');
    });
  }

  it('denies another path and method in every spelling of the path', async () => {
    for (const path of ['/owners', '/%61pi/../owners', '/api/%2e%2e/owners', '/API/x']) {
      expect((await ask(path, as(ADMIN))).status, path).to.equal(403);
    }
    expect((await ask('//api/x', as(ADMIN))).status, 'read differently by some servers').to.equal(400);
    expect((await ask('/api/x', as(ADMIN), 'POST')).status).to.equal(403);
  });

  it('compares a boolean written without quotes', async () => {
    expect((await ask('/verified', as({ email_verified: true }))).status).to.equal(200);
    expect((await ask('/verified', as({ email_verified: false }))).status).to.equal(403);
    expect((await ask('/verified', as({ email_verified: 'true' }))).status).to.equal(403);
  });

  it('selects the route again by a claim', async () => {
    expect((await ask('/api/tiers', as({ ...ADMIN, tier: 'gold' }))).body).to.equal('gold');
    expect((await ask('/api/tiers', as({ ...ADMIN, tier: 'tin' }))).body).to.equal('plain');
    expect((await ask('/api/tiers', { ...as({ ...ADMIN, tier: 'tin' }), 'x-tier': 'gold' })).body).to.equal('plain');
  });

  it('ignores a forged claim header when it selects the route', async () => {
    expect((await ask('/api/tiers', { ...as(ADMIN), 'x-tier': 'gold' })).body).to.equal('plain');
  });

  it('disables the policies on a route', async () => {
    expect((await ask('/open')).status).to.equal(200);
  });

  it('fetches the keys of a provider before the first request, through the upstream', async () => {
    await until(() => keyFetches === 1, 'a fetch');
    expect((await ask('/remote', as({}))).status).to.equal(200);
    expect(keyFetches).to.equal(1);
  });

  it('logs the reason, with the details that tools expect', async () => {
    await ask('/api/x');
    await ask('/api/x', as({ email: 'user@example.com' }));
    await until(() => gateway.output.includes('rbac_access_denied_matched_policy[none]'), 'the access log');
    expect(gateway.output).to.include('jwt_authn_access_denied{Jwt_is_missing}');
    await until(() => (gateway.output + gateway.errors).includes('"policy":"admins"'), 'the reason');
    expect(gateway.output + gateway.errors).to.not.include('eyJ');
  });
});
