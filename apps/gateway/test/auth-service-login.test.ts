import { expect } from 'chai';
import { createBrowser, type Browser } from '../../../packages/oidc/test/parts/browser.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../packages/oidc/test/parts/identity-provider.ts';
import { startRedis, type RedisServer } from '../../../test/parts/redis.ts';
import { optionFor, settingsFor, startAuthService, type AuthPlace, type RunningService } from './auth-service-parts.ts';
import { protect, type Protected } from './protection.ts';

/** Tokens of an hour are due for a renewal at once. */
const DUE = 'preExpiryBuffer: 2h';
const COMMON = 'requestTimeout: 10s, requestBody: { maxRequestBytes: 65536 }';

for (const place of ['embedded', 'gRPC', 'HTTP'] as const satisfies readonly AuthPlace[]) {
  describe(`a login of the auth service: ${place}`, function () {
    this.timeout(120_000);
    let redis: RedisServer;
    let idp: IdentityProvider;
    let service: RunningService;
    let gateway: Protected;
    let url: string;

    const config = (name: string, more = '', session = ''): string => `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: ${name}, namespace: gw-system }
spec:
  ${more}
  configs:
    - name: login
      oauth2:
        oidcAuthorizationCode:
          issuerUrl: ${idp.issuer}
          clientId: ${CLIENT_ID}
          clientSecretRef: { name: client }
          appUrl: ${url}
          callbackPath: /callback
          logoutPath: /logout
          afterLogoutUrl: ${url}/bye
          frontChannelLogout: { path: /channel }
          scopes: [email]
          identityToken: { claimsToHeaders: [{ claim: email, header: x-team }] }
          headers: { accessTokenHeader: x-from }
          session: { redis: { options: { host: '${redis.host}' }${session} }, cookieOptions: { notSecure: true } }
`;
    const shared = (): string => `
apiVersion: v1
kind: Secret
metadata: { name: client, namespace: gw-system }
type: extauth.vendor.io/oauth
stringData: { client-secret: ${CLIENT_SECRET} }
---${config('login')}---${config('script', 'failOnRedirect: true')}---${config('renewing', '', `, ${DUE}`)}---`;

    /** Resources of the gateway, or of the service. */
    const resources = (isGateway: boolean): string =>
      isGateway
        ? `${shared()}${settingsFor(place, ['login', 'script', 'renewing'], COMMON)}---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options: { ${optionFor(place, 'login')} }
    routes:
      - matchers: [{ prefix: /bye }]
        options: { extauth: { disable: true } }
        directResponseAction: { status: 200, body: bye }
      - matchers: [{ prefix: /script }]
        options: { ${optionFor(place, 'script')} }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: /renewing }]
        options: { ${optionFor(place, 'renewing')} }
        routeAction: { single: { upstream: { name: echo } } }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo } } }
`
        : shared() + settingsFor('embedded', [], COMMON);

    before(async () => {
      redis = await startRedis();
      gateway = await protect(' ');
      url = `http://127.0.0.1:${gateway.port}`;
      idp = await startIdentityProvider({
        redirectUris: [`${url}/callback`],
        postLogout: [`${url}/bye`],
        backChannel: `${url}/channel`,
      });
      service = await startAuthService(resources(false));
      gateway.source.set('upstreams-of-auth', service.upstreams);
      gateway.source.set('resources', resources(true));
      expect(gateway.state('VirtualService', 'shop')).to.equal('Accepted');
    });
    after(async () => {
      await gateway?.close();
      await service?.close();
      await idp?.close();
      await redis?.close();
    });

    const headersIn = (body: string) => (JSON.parse(body) as { headers: Record<string, string> }).headers;

    it('logs in, keeps the session in Redis, hides its cookie, and logs out', async () => {
      const browser = createBrowser('alice@example.com');
      const page = await browser.visit(`${url}/a?b=1`);
      expect(page.status, page.body).to.equal(200);
      expect(page.url).to.equal(`${url}/a?b=1`);
      expect(headersIn(page.body)).to.include({ 'x-user-id': 'alice@example.com', 'x-team': 'alice@example.com' });
      expect(headersIn(page.body)['cookie'] ?? '').to.not.include('__session');
      const again = await browser.send(`${url}/b`);
      expect(again.status).to.equal(200);
      expect(await redis.command(['dbsize'])).to.not.match(/:0\b/);
      expect((await browser.send(`${url}/script`)).status).to.equal(200);
      const out = await browser.send(`${url}/logout`);
      expect(out.status).to.equal(302);
      expect((await browser.send(`${url}/a`)).status).to.equal(302);
    });

    it('logs ten tabs in, while AuthConfigs change', async () => {
      const browser = createBrowser('bob@example.com');
      const tabs = Array.from({ length: 10 }, (_, i) => `${url}/tab/${i}`);
      const starts = await Promise.all(tabs.map((tab) => browser.send(tab)));
      for (const [i, start] of starts.entries()) {
        // The login under way continues with the AuthConfig compiled again.
        if (i === 5)
          for (const { source } of [service, gateway])
            source.set('resources', resources(source === gateway.source).replaceAll('[email]', '[email, profile]'));
        const { url: end, status, body } = await browser.visit(start.headers.get('location')!);
        expect(status, `tab ${i}: ${body}`).to.equal(200);
        expect(end).to.equal(tabs[i]);
        expect(headersIn(body)['x-user-id']).to.equal('bob@example.com');
      }
    });

    it('renews tokens that are about to expire, with the refresh token of the last renewal', async () => {
      const browser = createBrowser('carol@example.com');
      const tokenIn = (body: string): string | undefined => headersIn(body)['x-from'];
      const first = tokenIn((await browser.visit(`${url}/a`)).body);
      expect(first).to.be.a('string').and.not.equal('');
      const seen = new Set([first]);
      for (let i = 1; i <= 3; i++) {
        const calls = idp.tokenCalls.length;
        const { status, body } = await browser.visit(`${url}/renewing/${i}`);
        expect(status, body).to.equal(200);
        expect(headersIn(body)['x-user-id']).to.equal('carol@example.com');
        expect(idp.tokenCalls.length - calls, `renewal ${i}`).to.equal(1);
        seen.add(tokenIn(body));
      }
      expect(seen.size).to.equal(4);
      // Other routes use the renewed tokens, which they do not renew.
      const calls = idp.tokenCalls.length;
      const { status, body } = await browser.visit(`${url}/a`);
      expect([status, seen.has(tokenIn(body)), idp.tokenCalls.length]).to.deep.equal([200, true, calls]);
      expect(tokenIn(body)).to.not.equal(first);
    });

    it('ends a session by a logout at the provider, over the back channel, and no other', async () => {
      const [alice, bob] = ['alice@example.com', 'bob@example.com'].map((name) => createBrowser(name)) as [
        Browser,
        Browser,
      ];
      for (const browser of [alice, bob]) expect((await browser.visit(`${url}/a`)).status).to.equal(200);
      const ended = new Promise<void>((resolve) => idp.provider.once('backchannel.success', () => resolve()));
      const page = await alice.visit(`${idp.issuer}/session/end`);
      const xsrf = /name="xsrf" value="(\w+)"/.exec(page.body)![1]!;
      const body = new URLSearchParams({ xsrf, logout: 'yes' });
      await alice.send(`${idp.issuer}/session/end/confirm`, { method: 'POST', body });
      await ended;
      expect((await alice.send(`${url}/a`)).status).to.equal(302);
      expect((await bob.send(`${url}/a`)).status).to.equal(200);
    });

    it('rejects a logout token that the provider did not sign', async () => {
      const browser = createBrowser('dave@example.com');
      expect((await browser.visit(`${url}/a`)).status).to.equal(200);
      const body = new URLSearchParams({ logout_token: 'e30.e30.' });
      const { status } = await createBrowser().send(`${url}/channel`, { method: 'POST', body });
      expect(status).to.equal(400);
      expect((await browser.send(`${url}/a`)).status).to.equal(200);
    });

    it('returns 401 without a redirect if configured', async () => {
      const { status, headers } = await createBrowser().send(`${url}/script`);
      expect(status).to.equal(401);
      expect(headers.get('location')).to.equal(null);
      expect(headers.getSetCookie()).to.deep.equal([]);
    });

    it('returns the page of a front-channel logout with its status', async () => {
      const { status, headers } = await createBrowser().send(
        `${url}/channel?iss=${encodeURIComponent(idp.issuer)}&sid=1`,
      );
      expect(status).to.equal(200);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('x-edge-gateway-denied-status')).to.equal(null);
    });
  });
}
