import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { screenshot, startChromium } from '../parts/chromium.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: hello }
spec:
  virtualHost:
    domains: ['*']
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: hello } }]
`;

describe('the home page of the proxy admin, in a browser', () => {
  let browser: Browser;
  let page: Page;
  const gateway = new GatewayProcess();
  const sent: string[] = [];

  before(async function () {
    browser = await startChromium(this);
    gateway.write('resources.yaml', RESOURCES);
    await gateway.start();
    page = await browser.newPage({ viewport: { width: 400, height: 800 } });
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  });
  after(async () => {
    await browser?.close();
    await gateway.close();
  });
  beforeEach(async () => {
    await page.goto(`${gateway.admin}/`);
    sent.length = 0;
  });

  it('has the style and the navigation of the status page, in light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const background = 'getComputedStyle(document.body).backgroundColor';
      await page.goto(`${gateway.admin}/`);
      const own = await page.evaluate(background);
      await page.setViewportSize({ width: 1280, height: 800 });
      await screenshot(page, `admin-page-${colorScheme}`);
      await page.getByRole('link', { name: 'Log', exact: true }).click();
      await page.getByRole('heading', { name: 'Log' }).waitFor();
      expect(await page.evaluate(background)).to.equal(own);
      await page.getByRole('link', { name: 'Commands' }).click();
      await page.getByRole('heading', { name: 'Commands' }).waitFor();
      await page.setViewportSize({ width: 400, height: 800 });
    }
    await page.emulateMedia({ colorScheme: null });
  });

  const form = (name: string) => page.locator('form', { has: page.getByRole('button', { name, exact: true }) });
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const confirm = (name: string) => form(name).getByLabel('I am sure').check();

  it('does not scroll sideways, and separates disruptive actions', async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(400);
    const disruptive = page.getByRole('table', { name: 'Disruptive commands' });
    expect((await disruptive.getByRole('button').allTextContents()).sort()).to.deep.equal([
      'drain_listeners',
      'healthcheck/fail',
      'quitquitquit',
      'reset_counters',
    ]);
    await screenshot(page, 'admin-page');
  });

  for (const width of [400, 1280])
    it(`keeps each label beside its field at ${width} px, and names the value of each selection`, async () => {
      await page.setViewportSize({ width, height: 800 });
      const labels = page.locator('label:has(input, select)');
      const heights = await labels.evaluateAll((all: { offsetHeight: number }[]) =>
        all.map((each) => each.offsetHeight),
      );
      expect(heights).to.not.deep.equal([]);
      for (const height of heights) expect(height).to.be.below(40);
      for (const text of await page.locator('select option:checked').allTextContents())
        expect(text).to.equal('default');
      await screenshot(page, `admin-page-${width}`);
      await page.setViewportSize({ width: 400, height: 800 });
    });

  for (const name of ['healthcheck/fail', 'quitquitquit', 'drain_listeners', 'reset_counters']) {
    it(`sends nothing when ${name} is pressed without confirmation`, async () => {
      await press(name);
      const isMissing = await form(name).evaluate((element: { matches(selector: string): boolean }) =>
        element.matches(':invalid'),
      );
      expect(isMissing).to.equal(true);
      expect(sent).to.deep.equal([]);
    });
  }

  it('resets the counters after confirmation', async () => {
    await fetch(gateway.url);
    const stats = async () => (await fetch(`${gateway.admin}/stats?filter=downstream_rq_2xx`)).text();
    expect(await stats()).to.match(/downstream_rq_2xx: [1-9]/);
    await confirm('reset_counters');
    await press('reset_counters');
    await page.getByText('OK').waitFor();
    expect(sent).to.deep.equal(['POST /reset_counters']);
    expect(await stats()).not.to.match(/downstream_rq_2xx: [1-9]/);
  });

  it('drains the listeners after confirmation', async () => {
    await confirm('drain_listeners');
    await press('drain_listeners');
    await page.getByText('OK').waitFor();
    await until(async () => (await fetch(gateway.url).catch(() => undefined)) === undefined, 'no connection');
  });

  it('ends the process after confirmation', async () => {
    await confirm('quitquitquit');
    await press('quitquitquit');
    expect(await gateway.ended()).to.equal(0);
  });
});
