import { expect } from 'chai';
import { startBadProvider, type BadProvider } from '../../../packages/oidc/test/parts/bad-provider.ts';
import { createBrowser } from '../../../packages/oidc/test/parts/browser.ts';
import { GatewayProcess, until } from './gateway-process.ts';

describe('a login where failOnRedirect is set', () => {
  let gateway: GatewayProcess;
  let idp: BadProvider;
  const resources = (failOnRedirect: boolean): string => `apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login }
spec:
  failOnRedirect: ${failOnRedirect}
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: ${idp.issuer}
          clientId: web
          disableClientSecret: true
          appUrl: ${gateway.ready ? gateway.url : 'http://127.0.0.1'}
          callbackPath: /callback
          session: { redis: {}, cookieOptions: { notSecure: true } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  virtualHost:
    domains: ['*']
    options: { extauth: { configRef: { name: login, namespace: gw-system } } }
    routes:
      - matchers: [{ prefix: / }]
        directResponseAction: { status: 200, body: in }
`;
  before(async () => {
    idp = await startBadProvider();
    gateway = new GatewayProcess();
    gateway.write('all.yaml', resources(false));
    await gateway.start();
  });
  after(async () => {
    await gateway?.close();
    await idp?.close();
  });

  it('returns 401 without cookies instead of a redirect; keeps an existing session', async () => {
    gateway.write('all.yaml', resources(false));
    const browser = createBrowser();
    // The first resources, which do not know the port, may still hold.
    const visit = () => browser.visit(`${gateway.url}/`).catch(() => ({ body: '' }));
    await until(async () => (await visit()).body === 'in', 'a login');
    gateway.write('all.yaml', resources(true));
    const other = createBrowser();
    await until(async () => (await other.send(`${gateway.url}/`)).status === 401, '401');
    const answer = await createBrowser().send(`${gateway.url}/`);
    expect(answer.status).to.equal(401);
    expect(answer.headers.get('location')).to.equal(null);
    expect(answer.headers.getSetCookie()).to.deep.equal([]);
    expect((await browser.send(`${gateway.url}/`)).status).to.equal(200);
  });
});
