import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { screenshot, startChromium } from '../parts/chromium.ts';
import { startKeycloak } from '../parts/keycloak.ts';
import { startProtectedDemo, type ProtectedDemo } from './protected-demo.ts';

/** Without it Keycloak asks whether to log out. */
function withIdTokenHint(resources: string): string {
  return resources.replaceAll('logoutPath: ', 'endSessionProperties: { idTokenHint: true }\n          logoutPath: ');
}

describe('the protected pages with Keycloak as identity provider', function () {
  this.timeout(600_000);
  let browser: Browser;
  let demo: ProtectedDemo;
  before(async function () {
    browser = await startChromium(this);
    demo = await startProtectedDemo({ otherProvider: startKeycloak, change: withIdTokenHint });
  });
  after(async () => {
    await browser?.close();
    await demo?.close();
  });

  async function logIn(prefix: string, email: string): Promise<Page> {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    // A Keycloak that has just started may answer its first questions too late, which is 503.
    await until(async () => {
      await page.goto(`${demo.appUrl}${prefix}/account`);
      return page.url().startsWith(demo.issuer);
    }, 'the login form of Keycloak');
    await page.locator('#username').fill(email);
    await page.locator('#password').fill(email.split('@', 1)[0]!);
    await page.locator('#kc-login').click();
    await page.waitForURL(`${demo.appUrl}${prefix}/account`);
    return page;
  }

  for (const prefix of ['', '/cookies']) {
    it(`log in, authorize by the claim, and log out (${prefix || 'tokens in the gateway'})`, async () => {
      const page = await logIn(prefix, 'admin@example.com');
      expect(await page.locator('#who').textContent()).to.equal('admin@example.com');
      expect(await page.locator('[data-header="x-vendor-claim-email"]').textContent()).to.equal('admin@example.com');
      await screenshot(page, `keycloak${prefix.replace('/', '-')}-account`);
      await page.locator('#logout').click();
      await page.waitForURL(`${demo.appUrl}/goodbye`);
      await page.goto(`${demo.appUrl}${prefix}/account`);
      expect(page.url()).to.contain(demo.issuer);
      const other = await logIn(prefix, 'user@example.com');
      expect(await other.locator('main').textContent()).to.contain('RBAC: access denied');
    });
  }
});
