import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { screenshot, startChromium } from '../parts/chromium.ts';
import { startProtectedDemo, type ProtectedDemo } from './protected-demo.ts';

const VARIANTS = [
  { title: 'the tokens in the gateway', slug: 'store', prefix: '', cookies: ['__Host-demo-session'] },
  {
    title: 'the tokens in cookies',
    slug: 'cookies',
    prefix: '/cookies',
    cookies: ['access_token', 'id_token', '__Host-token_mac'],
  },
];
const TABS = 10;

describe('the protected pages, in a browser', () => {
  let browser: Browser;
  let demo: ProtectedDemo;
  before(async function () {
    browser = await startChromium(this);
    demo = await startProtectedDemo();
  });
  after(async () => {
    await browser?.close();
    await demo?.close();
  });

  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  async function newContext(options: { readonly bypassCSP?: boolean } = {}): Promise<BrowserContext> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
    context.setDefaultTimeout(60_000);
    contexts.push(context);
    return context;
  }

  async function fillIn(page: Page, email: string): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(email.split('@', 1)[0]!);
    await page.getByRole('button', { name: 'Log in' }).click();
  }
  const header = (page: Page, name: string) => page.locator(`[data-header="${name}"]`).textContent();

  for (const { title, slug, prefix, cookies } of VARIANTS) {
    describe(`with ${title}`, () => {
      const url = (path: string): string => demo.appUrl + prefix + path;
      async function logIn(page: Page, email = 'admin@example.com'): Promise<void> {
        await page.goto(url('/account'));
        expect(page.url()).to.contain(`${demo.issuer}/interaction/`);
        await fillIn(page, email);
        await page.waitForURL(url('/account'));
      }

      it('logs in, and forwards the token and the claim but no cookie', async () => {
        const context = await newContext();
        const page = await context.newPage();
        await page.goto(url('/account'));
        await screenshot(page, `${slug}-1-login`);
        await logIn(page);
        expect(await page.locator('#who').textContent()).to.equal('admin@example.com');
        expect(await header(page, 'jwt')).to.match(/^eyJ/);
        expect(await header(page, 'x-vendor-claim-email')).to.equal('admin@example.com');
        expect(await page.locator('body').textContent()).to.contain('no cookies');
        expect(await page.locator('[data-header="cookie"]').count()).to.equal(0);
        const kept = await context.cookies(demo.appUrl);
        expect(kept.map(({ name }) => name)).to.include.members(cookies);
        for (const cookie of kept) expect(cookie, cookie.name).to.include({ httpOnly: true, secure: true });
        if (slug === 'store') for (const { value } of kept) expect(value).to.not.match(/eyJ.*\./);
        await screenshot(page, `${slug}-2-account`);
      });

      it('denies another path and another user', async () => {
        const page = await (await newContext()).newPage();
        await logIn(page);
        const elsewhere = await page.goto(url('/reports'));
        expect(elsewhere!.status()).to.equal(403);
        expect(await page.locator('h1').textContent()).to.equal('Access denied');
        expect(await page.locator('main').textContent())
          .to.contain('RBAC: access denied')
          .and.contain('You are signed in as admin@example.com');
        const away = await page.getByRole('link', { name: 'Switch accounts' }).getAttribute('href');
        expect(away).to.equal(`${prefix}/logout?switch_account=${encodeURIComponent(`${prefix}/reports`)}`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width: 400, height: 700 });
          await screenshot(page, `${slug}-3-denied-${colorScheme}`);
          expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(400);
        }
        await screenshot(page, `${slug}-3-another-path`);
        const other = await (await newContext()).newPage();
        await logIn(other, 'user@example.com');
        expect(await other.locator('main').textContent()).to.contain('RBAC: access denied');
        await screenshot(other, `${slug}-4-another-user`);
      });

      it('switches accounts with the form of the provider, and returns to the page', async () => {
        const page = await (await newContext()).newPage();
        await logIn(page, 'user@example.com');
        for (const email of ['user@example.com', 'admin@example.com']) {
          await page.getByRole('link', { name: 'Switch accounts' }).click();
          await page.waitForURL(`${demo.issuer}/interaction/**`);
          await fillIn(page, email);
          await page.waitForURL(url('/account'));
        }
        expect(await page.locator('#who').textContent()).to.equal('admin@example.com');
        await screenshot(page, `${slug}-7-switched`);
      });

      it('logs out at the gateway and the identity provider, and requires a new login', async () => {
        const context = await newContext();
        const page = await context.newPage();
        await logIn(page);
        const before = await context.cookies(demo.appUrl);
        const visited: string[] = [];
        page.on('request', (request) => visited.push(request.url()));
        await page.locator('#logout').click();
        await page.waitForURL(`${demo.appUrl}/goodbye`);
        expect(visited.join(' '), 'no token passes through the browser')
          .to.contain('/session/end?')
          .and.not.contain('eyJ');
        expect(await page.locator('body').textContent()).to.contain('You are logged out');
        await screenshot(page, `${slug}-5-goodbye`);
        const left = (await context.cookies(demo.appUrl)).map(({ name }) => name);
        for (const name of cookies) expect(left).to.not.include(name);
        await page.goto(url('/account'));
        expect(page.url()).to.contain(`${demo.issuer}/interaction/`);
        if (slug !== 'store') return;
        await context.addCookies(before);
        await page.goto(url('/account'));
        expect(page.url(), 'the handle of the ended session').to.contain(`${demo.issuer}/interaction/`);
      });

      it(`logs in concurrently in ${TABS} tabs`, async () => {
        const context = await newContext();
        const pages = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
        await Promise.all(pages.map((page, i) => page.goto(`${url('/account')}?tab=${i}`)));
        await Promise.all(
          pages.map(async (page, i) => {
            await fillIn(page, 'admin@example.com');
            await page.waitForURL(`${url('/account')}?tab=${i}`);
          }),
        );
        for (const page of pages) expect(await page.locator('#who').textContent()).to.equal('admin@example.com');
      });

      it('survives the back button and a repeated callback', async () => {
        const page = await (await newContext()).newPage();
        const callbacks: string[] = [];
        page.on('request', (request) => {
          if (request.url().startsWith(url('/callback'))) callbacks.push(request.url());
        });
        await logIn(page);
        await page.goBack();
        await page.goForward();
        expect(await page.locator('#who').textContent()).to.equal('admin@example.com');
        expect(callbacks).to.have.length.greaterThan(0);
        await page.goto(callbacks[0]!);
        await screenshot(page, `${slug}-6-callback-again`);
        await page.getByRole('link', { name: 'Start again' }).click();
        expect(await page.locator('#who').textContent()).to.equal('admin@example.com');
        const stranger = await (await newContext()).newPage();
        await stranger.goto(callbacks[0]!);
        await stranger.getByRole('link', { name: 'Start again' }).click();
        expect(stranger.url(), 'a stranger with the same callback').to.contain(`${demo.issuer}/interaction/`);
      });

      it('returns 401 to a script instead of a redirect to the login', async () => {
        // The policy of the page forbids scripts to call anything.
        const page = await (await newContext({ bypassCSP: true })).newPage();
        await page.goto(`${demo.appUrl}/goodbye`);
        const status = await page.evaluate(async (path) => (await fetch(path)).status, `${prefix}/account`);
        expect(status).to.equal(401);
      });
    });
  }

  it('strips forged copies of the headers that the login grants', async () => {
    const page = await (await newContext()).newPage();
    await page.setExtraHTTPHeaders({ jwt: 'forged', 'x-vendor-claim-email': 'admin@example.com' });
    await page.goto(`${demo.appUrl}/account`);
    expect(page.url()).to.contain(`${demo.issuer}/interaction/`);
    await fillIn(page, 'user@example.com');
    await page.waitForURL(`${demo.appUrl}/account`);
    expect(await page.locator('body').textContent()).to.contain('RBAC: access denied');
  });
});
