import { expect } from 'chai';
import { protect, type Protected } from './protection.ts';

const RESOURCES = `
apiVersion: v1
kind: Secret
metadata: { name: alice, namespace: gw-system }
type: extauth.vendor.io/apikey
stringData: { api-key: k-1, plan: gold }
---
apiVersion: v1
kind: Secret
metadata: { name: client, namespace: gw-system }
type: extauth.vendor.io/oauth
stringData: { client-secret: s }
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
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login, namespace: gw-system }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          appUrl: https://app.example.com
          callbackPath: /callback
          clientId: c
          clientSecretRef: { name: client }
          issuerUrl: https://id.example.com
          headers: { idTokenHeader: jwt, accessTokenHeader: X-Access_Token }
          identityToken: { claimsToHeaders: [{ claim: email, header: X-Email }] }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: own-server, namespace: gw-system }
spec:
  configs:
    - passThroughAuth:
        http: { url: 'http://127.0.0.1:1', response: { allowedUpstreamHeadersToOverwrite: [X-Team] } }
    - oauth2:
        accessTokenValidation:
          jwt: { localJwks: { inlineString: '{"keys":[]}' } }
          claimsToHeaders: [{ claim: tier, header: X-Tier, append: true }]
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: [shop.example.com]
    routes:
      - matchers: [{ prefix: /login }]
        options: { extauth: { configRef: { name: login } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /own }]
        options: { extauth: { configRef: { name: own-server } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /partners }]
        options: { extauth: { configRef: { name: keys } } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /open }]
        options: { extauth: { disable: true } }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /shares }]
        routeAction:
          multi:
            destinations:
              - { weight: 1, destination: { upstream: { name: echo } }, options: { extauth: { disable: true } } }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: other, namespace: gw-system }
spec:
  virtualHost:
    domains: [other.example.com]
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`;
/** Requests with both spellings of one header are rejected before. */
const FORGED = [
  {
    'X-User-Id': 'root',
    'X-Plan': 'gold',
    JWT: 'a.b.c',
    'x-access-token': 'a',
    'x-email': 'root@example.com',
    'X-TEAM': 'a',
    'x-tier': 'gold',
  },
  {
    x_user_id: 'root',
    x_plan: 'gold',
    X_ACCESS_TOKEN: 'a',
    X_Email: 'root@example.com',
    x_team: 'a',
    x_tier: 'gold',
  },
  { 'X_USER-ID': 'root' },
] as const;
const names = FORGED.flatMap((headers) => Object.keys(headers).map((name) => name.toLowerCase()));

describe('headers that only external auth may set', () => {
  let gateway: Protected;
  beforeEach(async () => {
    gateway = await protect(RESOURCES);
  });
  afterEach(() => gateway.close());

  /** Returns the headers that the upstream received, for each request with forged ones. */
  async function upstreamSaw(path: string, more: Record<string, string> = {}): Promise<Record<string, string>[]> {
    const seen: Record<string, string>[] = [];
    for (const forged of FORGED) {
      const { status, body } = await gateway.ask(path, { host: 'shop.example.com', ...forged, ...more });
      expect(status).to.equal(200);
      seen.push((JSON.parse(body) as { headers: Record<string, string> }).headers);
    }
    return seen;
  }

  for (const path of ['/open', '/shares', '/nothing-said']) {
    it(`are removed in every spelling on a route without external auth: ${path}`, async () => {
      for (const seen of await upstreamSaw(path, { 'x-other': 'stays' })) {
        expect(seen).to.include({ 'x-other': 'stays' });
        expect(seen).not.to.have.any.keys(...names);
      }
    });
  }

  it('are removed where another AuthConfig applies, which grants its own', async () => {
    for (const seen of await upstreamSaw('/partners', { 'api-key': 'k-1' })) {
      expect(seen).to.include({ 'x-plan': 'gold', 'x-user-id': 'alice' });
      expect(seen).not.to.have.any.keys(...names.filter((name) => !['x-plan', 'x-user-id'].includes(name)));
    }
  });

  it('are rejected in two spellings at once', async () => {
    const { status } = await gateway.ask('/open', { host: 'shop.example.com', 'x-team': 'a', x_team: 'a' });
    expect(status).to.equal(400);
  });

  it('are kept on a virtual host without AuthConfig, until the Settings have an extauth block', async () => {
    const [kept] = await upstreamSaw('/', { host: 'other.example.com' });
    expect(kept).to.include({ 'x-user-id': 'root', 'x-plan': 'gold' });
    gateway.source.set(
      'settings',
      `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { extauth: { userIdHeader: X-Who } }
`,
    );
    const [seen] = await upstreamSaw('/', { host: 'other.example.com', 'x-who': 'root', X_WHO: 'root' });
    expect(seen).to.include({ 'x-user-id': 'root', 'x-plan': 'gold' });
    expect(seen).not.to.have.any.keys('x-who', 'x_who');
  });
});
