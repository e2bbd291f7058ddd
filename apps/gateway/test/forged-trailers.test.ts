import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess } from './gateway-process.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const JWK = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' };
const ISSUER = 'https://id.example.com';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token without the claim that would be copied. */
function token(): string {
  const exp = Math.floor(Date.now() / 1000) + 600;
  const input = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: ISSUER, exp })}`;
  return `${input}.${createSign('sha256').update(input).sign(privateKey, 'base64url')}`;
}

const resources = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec:
  static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] }
  connectionConfig: { http1ProtocolOptions: { enableTrailers: true } }
---
apiVersion: v1
kind: Secret
metadata: { name: alice, namespace: gw-system }
type: extauth.vendor.io/apikey
stringData: { api-key: k-1 }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: keys, namespace: gw-system }
spec:
  configs:
    - apiKeyAuth:
        k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: alice }] }
        headersFromMetadataEntry: { X-Plan: { name: plan } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /jwt }]
        options:
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main:
                  issuer: ${ISSUER}
                  claimsToHeaders: [{ claim: email, header: X-Email }]
                  jwks: { local: { key: '${JSON.stringify(JWK)}' } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /key }]
        options: { extauth: { configRef: { name: keys, namespace: gw-system } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /changed }]
        options:
          headerManipulation:
            requestHeadersToRemove: [X-Debug]
            requestHeadersToAdd:
              - { header: { key: X-Team, value: '%REQ(x-none)%' }, append: false }
              - { header: { key: X-Note, value: '%REQ(x-none)%' }, append: true }
        routeAction: { single: { upstream: { name: echo } } }
`;

describe('trailers of HTTP/2 clients', () => {
  const gateway = new GatewayProcess();
  let echo: Server;
  before(async () => {
    echo = createServer((req, res) => {
      req.resume().on('end', () => res.end(JSON.stringify({ headers: req.headers, trailers: req.trailers })));
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    gateway.write('all.yaml', resources((echo.address() as AddressInfo).port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    echo.close();
  });

  async function send(path: string, headers: Record<string, string>, trailers: Record<string, string>) {
    const session = connect(gateway.url);
    try {
      const stream = session.request(
        { ':method': 'POST', ':path': path, ...headers },
        { endStream: false, waitForTrailers: true },
      );
      stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      let body = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      stream.end('hello');
      await once(stream, 'end');
      return JSON.parse(body) as { headers: Record<string, string>; trailers: Record<string, string> };
    } finally {
      session.destroy();
    }
  }

  for (const [name, path, credentials, header] of [
    ['claims', '/jwt', (): Record<string, string> => ({ authorization: `Bearer ${token()}` }), 'x-email'],
    ['auth steps', '/key', (): Record<string, string> => ({ 'api-key': 'k-1' }), 'x-plan'],
  ] as const) {
    it(`do not pass as headers that ${name} set, even if this request sets none`, async () => {
      const spellings = [header, header.replace('-', '_')];
      const forged = { ...Object.fromEntries(spellings.map((each) => [each, 'forged'])), 'x-auth-user': 'forged' };
      for (const each of spellings) {
        const sent = { ...credentials(), [each]: 'forged', 'x-auth-user': 'forged' };
        const { headers, trailers } = await send(path, sent, { 'x-sum': '1', ...forged });
        expect(headers).not.to.have.any.keys(...spellings);
        expect(trailers).to.deep.equal({ 'x-sum': '1' });
      }
    });
  }

  it('do not pass as headers that a route removes or sets', async () => {
    const forged = { 'x-debug': '1', x_debug: '1', 'x-team': '1', x_team: '1', 'x-note': '1' };
    const { headers, trailers } = await send('/changed', { 'x-debug': '1' }, { 'x-sum': '1', ...forged });
    expect(headers).not.to.have.any.keys('x-debug', 'x-team');
    expect(trailers).to.deep.equal({ 'x-sum': '1', 'x-note': '1' });
  });
});
