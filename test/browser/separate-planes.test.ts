import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { startBalancer, type Balancer } from '../faults/balancer.ts';
import { skipWithout } from '../parts/apt.ts';
import { screenshot, startChromium } from '../parts/chromium.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { startProtectedDemo, type ProtectedDemo } from './protected-demo.ts';

const ADMIN = 'admin@example.com';
const QUERY = '{ productsForHome { title } }';

/** Sessions that both proxies find, and the GraphQL API of the books behind the login, for the admin only. */
function shared(resources: string, redis: string): string {
  const rbac = `rbac:
            policies:
              admin-reads-books:
                principals: [{ jwtPrincipal: { claims: { email: ${ADMIN} } } }]
                permissions: { pathPrefix: /graphql }`;
  return resources
    .replace('            redis:\n', `            redis:\n              options: { host: '${redis}' }\n`)
    .replace(
      '    routes:\n      - name: goodbye\n',
      `    routes:
      - name: books
        matchers: [{ prefix: /graphql }]
        graphqlApiRef: { name: bookinfo, namespace: gw-system }
        options:
          ${rbac}
      - name: goodbye
`,
    );
}

describe('the protected pages of two proxies and a control plane, in a browser', () => {
  let browser: Browser;
  let redis: RedisServer;
  let balancer: Balancer;
  let demo: ProtectedDemo;
  /** The running proxies. */
  const proxies: GatewayProcess[] = [];
  const all: GatewayProcess[] = [];

  async function startServing(controlPlane: GatewayProcess): Promise<void> {
    const proxy = new GatewayProcess();
    all.push(proxy);
    await startProxy(proxy, [controlPlane.ready.xdsPort]);
    await until(() => httpsPort(proxy) !== undefined, 'the TLS listener');
    proxies.push(proxy);
  }
  const httpsPort = ({ ready }: GatewayProcess): number | undefined =>
    ready.listeners.find(({ protocol }) => protocol === 'https')?.port;

  before(async function () {
    await skipWithout(this, 'redis-server');
    browser = await startChromium(this);
    redis = await startRedis();
    balancer = await startBalancer(() => proxies.map((proxy) => ({ host: proxy.host, port: httpsPort(proxy)! })));
    demo = await startProtectedDemo({
      port: Number(new URL(balancer.url).port),
      change: (text) => shared(text, redis.host),
      async serve(controlPlane) {
        await startControlPlane(controlPlane);
        await startServing(controlPlane);
      },
    });
  });
  after(async () => {
    await browser?.close();
    await Promise.all(all.map((proxy) => proxy.close()));
    await demo?.close();
    await balancer?.close();
    await redis?.close();
  });

  /** Ends the proxy that serves, after another one has started: the browser has to connect to that one. */
  async function replaceProxy(): Promise<void> {
    await startServing(demo.gateway);
    const [before] = proxies.splice(0, 1);
    before!.child.kill('SIGTERM');
    expect(await before!.ended()).to.equal(0);
  }

  async function logIn(page: Page, email: string): Promise<void> {
    await page.goto(`${demo.appUrl}/account`);
    expect(page.url()).to.contain(`${demo.issuer}/interaction/`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(email.split('@', 1)[0]!);
    await page.getByRole('button', { name: 'Log in' }).click();
    await arrive(page, '/account');
  }

  /** Waits for a page; another one, which the error shows, is usually an error of a proxy, which its log explains. */
  async function arrive(page: Page, path: string): Promise<void> {
    await page.waitForURL(`${demo.appUrl}${path}`).catch(async (error: Error) => {
      const shown = `${page.url()}: ${await page.locator('body').innerText()}`;
      throw new Error([error.message, shown, ...all.map(({ errors }) => errors)].join('\n'));
    });
  }
  const newPage = async (): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    context.setDefaultTimeout(60_000);
    return context.newPage();
  };
  const books = (page: Page) => page.request.post(`${demo.appUrl}/graphql`, { data: { query: QUERY } });

  it('keeps a login when another proxy serves the next request', async () => {
    const page = await newPage();
    await logIn(page, ADMIN);
    await replaceProxy();
    await page.reload();
    expect(page.url()).to.equal(`${demo.appUrl}/account`);
    expect(await page.locator('#who').textContent()).to.equal(ADMIN);
    expect(await page.locator('[data-header="x-vendor-claim-email"]').textContent()).to.equal(ADMIN);
    await screenshot(page, 'planes-1-account');
  });

  it('completes a login that began at another proxy', async () => {
    const page = await newPage();
    await page.goto(`${demo.appUrl}/account`);
    await page.getByLabel('E-mail').fill(ADMIN);
    await page.getByLabel('Password').fill('admin');
    await replaceProxy();
    await page.getByRole('button', { name: 'Log in' }).click();
    await arrive(page, '/account');
    expect(await page.locator('#who').textContent()).to.equal(ADMIN);
  });

  it('lets only the admin query the GraphQL API, and nobody without a login', async () => {
    const page = await newPage();
    await logIn(page, ADMIN);
    const found = await books(page);
    expect(found.status()).to.equal(200);
    expect((await found.json()).data.productsForHome[0])
      .to.have.property('title')
      .that.is.a('string');
    const other = await newPage();
    await logIn(other, 'user@example.com');
    expect(await other.locator('main').textContent()).to.contain('RBAC: access denied');
    expect((await books(other)).status()).to.equal(403);
    await screenshot(other, 'planes-2-denied');
    const anonymous = await (
      await newPage()
    ).request.post(`${demo.appUrl}/graphql`, {
      data: { query: QUERY },
      maxRedirects: 0,
    });
    expect(anonymous.status()).to.be.oneOf([302, 401]);
  });

  it('logs out everywhere', async () => {
    const page = await newPage();
    await logIn(page, ADMIN);
    await page.locator('#logout').click();
    await arrive(page, '/goodbye');
    await replaceProxy();
    await page.goto(`${demo.appUrl}/account`);
    expect(page.url()).to.contain(`${demo.issuer}/interaction/`);
  });
});
