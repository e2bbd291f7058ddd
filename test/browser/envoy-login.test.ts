import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { startIdentityProvider, startService, type Service } from '@edge-gateway/demo';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { readPage } from '../docs/page.ts';
import { ROOT } from '../docs/workspace.ts';
import { startChromium } from '../parts/chromium.ts';
import { startEnvoyProcess, type EnvoyProcess } from '../parts/envoy-process.ts';
import { freePort } from '../parts/free-port.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';

const TABS = 10;
const EMAIL = 'admin@example.com';

/** A file of the documentation page about Envoy, which users copy. */
function printed(file: string): string {
  const blocks = readPage(join(ROOT, 'docs', 'envoy-auth.md'));
  return blocks.find(({ text }) => text.startsWith(`# file: ${file}\n`))!.text;
}

const AUTH = ({ issuer, appUrl, redis }: { issuer: string; appUrl: string; redis: string }): string => `
apiVersion: v1
kind: Secret
metadata: { name: shop, namespace: gw-system }
type: extauth.vendor.io/oauth
stringData: { client-secret: a-secret-that-only-the-server-knows }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: login, namespace: gw-system }
spec:
  configs:
    - oauth2:
        oidcAuthorizationCode:
          issuerUrl: ${issuer}
          clientId: shop
          clientSecretRef: { name: shop, namespace: gw-system }
          appUrl: ${appUrl}
          callbackPath: /callback
          logoutPath: /logout
          afterLogoutUrl: ${appUrl}/bye
          scopes: [email]
          identityToken: { claimsToHeaders: [{ claim: email, header: x-email }] }
          session: { redis: { options: { host: '${redis}' } }, cookieOptions: { notSecure: true } }
`;

describe('a login through Envoy with the auth server', () => {
  let browser: Browser;
  let redis: RedisServer;
  let app: Service;
  let provider: Service;
  let envoy: EnvoyProcess;
  let appUrl: string;
  let config: string;
  const server = new GatewayProcess();
  before(async function () {
    browser = await startChromium(this);
    redis = await startRedis();
    const port = await freePort();
    // Another host than that of the provider, whose cookies would be sent to it as well.
    appUrl = `http://localhost:${port}`;
    const client = {
      clientId: 'shop',
      clientSecret: 'a-secret-that-only-the-server-knows',
      redirectUris: [`${appUrl}/callback`],
      postLogoutRedirectUris: [`${appUrl}/bye`],
    };
    const issuerPort = await freePort();
    const issuer = `http://127.0.0.1:${issuerPort}`;
    provider = await startIdentityProvider({ client, port: issuerPort });
    app = await startService('app', (req, res) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ url: req.url, ...req.headers }));
    });
    server.write('login.yaml', AUTH({ issuer, appUrl, redis: redis.host }));
    server.write('api-keys.yaml', printed('auth/api-keys.yaml'));
    await server.startRole('extauth', '--grpc-port', '0', '--http-port', '0', '--stats-port', '0');
    config = printed('envoy.yaml')
      .replace('port_value: 10000', `port_value: ${port}`)
      .replace('port_value: 9901', 'port_value: 0')
      .replace('port_value: 3212', `port_value: ${app.port}`)
      .replace('port_value: 8083', `port_value: ${server.ready.grpcPort}`);
    envoy = await startEnvoyProcess(config, 'envoy.yaml');
    await until(async () => (await fetch(`${appUrl}/api/`)).status === 401, 'Envoy asks the auth server');
  });
  after(async () => {
    await browser?.close();
    await envoy?.close();
    await server.close();
    await provider?.close();
    await app?.close();
    await redis?.close();
  });

  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  async function newContext(): Promise<BrowserContext> {
    const context = await browser.newContext();
    context.setDefaultTimeout(60_000);
    contexts.push(context);
    return context;
  }

  async function fillIn(page: Page): Promise<void> {
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('admin');
    await page.getByRole('button', { name: 'Log in' }).click();
  }
  async function logIn(page: Page, path = '/account'): Promise<void> {
    await page.goto(appUrl + path);
    await fillIn(page);
    await page.waitForURL(appUrl + path);
  }
  /** What the application received. */
  async function received(page: Page): Promise<Record<string, string>> {
    return JSON.parse((await page.locator('body').textContent()) ?? '') as Record<string, string>;
  }

  /** Asks as a browser does, which the headers of `fetch` contradict. */
  async function get(path: string, headers: Record<string, string>): Promise<{ status?: number; body: string }> {
    const sent = request(appUrl + path, { headers, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode!, body: await text(response) };
  }

  it('logs in with the session in Redis, and forwards the user but no cookie of the login', async () => {
    const context = await newContext();
    await context.addCookies([{ name: 'theme', value: 'dark', url: appUrl }]);
    const page = await context.newPage();
    await page.setExtraHTTPHeaders({ 'x-user-id': 'root', 'x-email': 'root@example.com' });
    await logIn(page, '/account?a=1');
    const headers = await received(page);
    expect(headers).to.include({ url: '/account?a=1', 'x-user-id': EMAIL, 'x-email': EMAIL, cookie: 'theme=dark' });
    const session = (await context.cookies(appUrl)).find(({ name }) => name === '__session');
    expect(session).to.include({ httpOnly: true, sameSite: 'Lax' });
    expect(session!.value).not.to.match(/eyJ/);
    expect(await redis.command(['dbsize'])).to.match(/:[1-9]/);
  });

  it(`logs in concurrently in ${TABS} tabs`, async () => {
    const context = await newContext();
    const pages = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
    await Promise.all(pages.map((page, i) => page.goto(`${appUrl}/account?tab=${i}`)));
    await Promise.all(
      pages.map(async (page, i) => {
        await fillIn(page);
        await page.waitForURL(`${appUrl}/account?tab=${i}`);
      }),
    );
    for (const page of pages) expect(await received(page)).to.include({ 'x-user-id': EMAIL });
  });

  it('logs out at the auth server and the provider, and rejects the cookies of the ended session', async () => {
    const context = await newContext();
    const page = await context.newPage();
    await logIn(page);
    const before = await context.cookies(appUrl);
    await page.goto(`${appUrl}/logout`);
    // The provider asks for confirmation, because no page of the application led to it.
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL(`${appUrl}/bye`);
    expect(await page.locator('body').textContent()).to.equal('See you.\n');
    expect((await context.cookies(appUrl)).map(({ name }) => name)).not.to.include('__session');
    await page.goto(`${appUrl}/account`);
    expect(page.url()).to.include('/interaction/');
    await context.addCookies(before);
    await page.goto(`${appUrl}/account`);
    expect(page.url()).to.include('/interaction/');
  });

  it('rejects a callback that another browser began, and returns 401 to scripts', async () => {
    const page = await (await newContext()).newPage();
    const callbacks: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(`${appUrl}/callback`)) callbacks.push(request.url());
    });
    await logIn(page);
    const stranger = await fetch(callbacks[0]!, { redirect: 'manual' });
    expect(stranger.status).to.be.within(400, 499);
    const script = await fetch(`${appUrl}/account`, { headers: { 'sec-fetch-mode': 'cors' }, redirect: 'manual' });
    expect(script.status).to.equal(401);
  });

  it('checks API keys on their routes, and allows nothing for the keys of other routes', async () => {
    const allowed = await get('/api/pets', { 'api-key': 'key-of-alice', 'x-user-id': 'root', 'x-team': 'blue' });
    expect(JSON.parse(allowed.body)).to.include({ 'x-user-id': 'alice', 'x-team': 'red' });
    const forged = { 'x-user-id': 'root', config_id: 'gw-system.none', 'x-config-id': 'gw-system.none' };
    expect((await get('/api/pets', forged)).status).to.equal(401);
    expect((await get('/account', { 'api-key': 'key-of-alice' })).status).to.equal(302);
    expect((await get('/api/..%2faccount', { 'api-key': 'key-of-alice' })).status).to.equal(400);
  });

  it('follows changes of the resources', async () => {
    server.write('api-keys.yaml', printed('auth/api-keys.yaml').replace('key-of-alice', 'another-key'));
    const status = async (key: string) =>
      (await fetch(`${appUrl}/api/`, { headers: { 'api-key': key }, redirect: 'manual' })).status;
    await until(async () => (await status('another-key')) === 200, 'the new key');
    expect(await status('key-of-alice')).to.equal(401);
    server.write('api-keys.yaml', printed('auth/api-keys.yaml'));
    await until(async () => (await status('key-of-alice')) === 200, 'the former key');
  });

  it('counts its checks', async () => {
    const text = await (await fetch(`${server.stats}/metrics`)).text();
    expect(text).to.match(/^extauth_vendor_io_checks\{auth_config="gw-system\.api-keys",outcome="denied"\} [1-9]/m);
  });

  it('logs in over the HTTP form', async () => {
    await envoy.close();
    const form = readPage(join(ROOT, 'docs', 'envoy-auth.md')).find(({ text }) => text.startsWith('http_service:'))!;
    const indented = form.text
      .trimEnd()
      .replaceAll('\n', `\n${' '.repeat(22)}`)
      .replace('extauth-http', 'extauth');
    envoy = await startEnvoyProcess(
      config
        .replace(/grpc_service: .*/, indented)
        .replace(/\n *typed_extension_protocol_options:\n.*\n.*\n.*explicit_http_config.*/, '')
        .replace(/\n *health_checks:\n.*/, '')
        .replace(`port_value: ${server.ready.grpcPort}`, `port_value: ${server.ready.httpPort}`),
      'envoy.yaml',
    );
    const context = await newContext();
    await context.addCookies([{ name: 'theme', value: 'dark', url: appUrl }]);
    const page = await context.newPage();
    await page.setExtraHTTPHeaders({ 'x-user-id': 'root', x_user_id: 'root' });
    await logIn(page, '/account?a=1');
    const headers = await received(page);
    expect(headers).to.include({ url: '/account?a=1', 'x-user-id': EMAIL, cookie: 'theme=dark' });
    expect(headers).not.to.have.property('x_user_id');
  });

  it('ends without its checks in progress, after which Envoy rejects every request', async () => {
    server.child.kill('SIGTERM');
    expect(await server.ended()).to.equal(0);
    expect((await get('/api/', { 'api-key': 'key-of-alice' })).status).to.equal(403);
  });
});
