import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { makeCertificates } from '../parts/certificates.ts';
import { screenshot, startChromium } from '../parts/chromium.ts';

const RESOURCES = `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: nowhere }
spec:
  static: { hosts: [{ addr: 127.0.0.1, port: 9 }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: hello }
spec:
  virtualHost:
    domains: ['*']
    options: { cors: { allowOrigin: ['https://a.example'] } }
    routes:
      - { matchers: [{ prefix: /up }], routeAction: { single: { upstream: { name: nowhere } } }, options: { timeout: 5s } }
      - { matchers: [{ prefix: / }], directResponseAction: { status: 200, body: hello } }
`;
/** Served with a certificate for another name, which is a warning. */
const withCertificate = ({ cert, key }: { readonly cert: string; readonly key: string }): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop }
spec:
  sslConfig: { sslFiles: { tlsCert: '${cert}', tlsKey: '${key}' } }
  virtualHost:
    domains: [shop.example]
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200 } }]
`;
const BROKEN = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: broken }
spec: { virtualHost: { domains: ["<img src=x onerror=alert(1)>"], routs: [] } }
`;

describe('the status page, in a browser', () => {
  let browser: Browser;
  let page: Page;
  const gateway = new GatewayProcess();
  const certificates = makeCertificates();
  const complaints: string[] = [];

  before(async function () {
    browser = await startChromium(this);
    gateway.write('resources.yaml', RESOURCES);
    gateway.write('shop.yaml', withCertificate(certificates));
    await gateway.start();
    expect((await fetch(`${gateway.url}/up`)).status).to.equal(503);
  });
  after(async () => {
    await browser?.close();
    await gateway.close();
    certificates.remove();
  });
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      if (new URL(request.url()).host !== new URL(page.url()).host && page.url().startsWith('http'))
        complaints.push(`loads ${request.url()}`);
    });
  });
  afterEach(() => page.close());

  const PAGES = [
    '/',
    '/status/resources',
    '/status/virtual-services',
    '/status/upstreams',
    '/status/traffic',
    '/status/certificates',
    '/status/proxies',
    '/status/log',
    '/status/explain',
  ];

  for (const width of [400, 1280])
    for (const path of PAGES)
      it(`does not scroll sideways at ${width} px: ${path}`, async () => {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(gateway.stats + path);
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width);
        await screenshot(page, `status-page${path.replaceAll('/', '-')}-${width}`);
      });

  for (const path of [...PAGES, '/status/virtual-service?namespace=gw-system&name=hello'])
    it(`is readable in the dark: ${path}`, async () => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.goto(gateway.stats + path);
      await screenshot(page, `status-page-dark${path.replaceAll(/[^a-z]+/g, '-')}`);
      const contrast = await page.evaluate(`(() => {
        const light = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).map((each) => { const c = each / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const back = (element) => { for (let at = element; at; at = at.parentElement) { const color = getComputedStyle(at).backgroundColor; if (!color.startsWith('rgba(0, 0, 0, 0')) return color; } return 'rgb(255, 255, 255)'; };
        return Math.min(...[...document.querySelectorAll('main *')].filter((each) => each.textContent.trim() && each.children.length === 0 && each.checkVisibility()).map((each) => {
          const [a, b] = [light(getComputedStyle(each).color), light(back(each))].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        }));
      })()`);
      expect(contrast).to.be.at.least(4.5);
    });

  it('shows changes of the configuration and traffic by itself, and announces the changes', async () => {
    await page.goto(`${gateway.stats}/`);
    await page.getByText('Live', { exact: true }).waitFor();
    gateway.write('broken.yaml', BROKEN);
    await page.getByText('unknown key routs').waitFor();
    await page.locator('#live-notice', { hasText: /\d problems?$/ }).waitFor({ state: 'attached' });
    expect(await page.locator('img').count()).to.equal(0);
    const requests = page.locator('.figures div', { hasText: 'Requests' }).locator('dd');
    await until(async () => {
      await fetch(gateway.url);
      return /^[1-9.]/.test(((await requests.textContent()) ?? '').trim().replace(/^0\./, ''));
    }, 'requests are shown');
    await screenshot(page, 'status-page-problem');
  });

  it('shows the requests and errors of routes in the last hour, also those before it was opened', async () => {
    await page.goto(`${gateway.stats}/`);
    await page.getByRole('link', { name: 'All routes and listeners' }).click();
    const rows = page.getByRole('table', { name: 'Requests in the last hour by route' }).getByRole('row');
    const failed = await rows.filter({ hasText: '/up*' }).getByRole('cell').allTextContents();
    expect(failed.slice(-3, -1)).to.deep.equal(['0 %', '100 %']);
    expect(failed.at(-1)).to.match(/^\d+(?:\.\d+)? m?s$/);
    await page
      .getByRole('figure')
      .getByText(/requests in the last hour/)
      .waitFor();
  });

  it('stops updates on request', async () => {
    await page.goto(`${gateway.stats}/`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
  });

  it('is usable with the keyboard', async () => {
    await page.goto(`${gateway.stats}/`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).to.equal('main');
    await page.keyboard.press('Tab');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).to.equal('solid');
  });

  it('searches, filters, and shows routes with their policies', async () => {
    await page.goto(`${gateway.stats}/`);
    await page.getByRole('searchbox', { name: 'Search' }).fill('hello');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Virtual services (1)' }).waitFor();
    await page
      .getByRole('region', { name: 'Virtual services' })
      .getByRole('link', { name: 'gw-system/hello' })
      .first()
      .click();
    const table = page.getByRole('table', { name: 'Routes, in order' });
    expect(await table.getByRole('row').count()).to.equal(3);
    expect(await table.textContent())
      .to.contain('timeout')
      .and.contain('CORS');
    await page.getByRole('link', { name: 'nowhere_gw-system' }).click();
    await page.getByText('127.0.0.1:9').waitFor();
  });

  for (const port of ['stats', 'admin'] as const)
    it(`explains a request on the ${port} port`, async () => {
      await page.goto(`${gateway[port]}/status/explain`);
      await page.getByLabel('URL').fill('http://a.example/up/x');
      await page.getByLabel('Headers').fill('authorization: Bearer MARKER-token');
      await page.getByRole('button', { name: 'Explain' }).click();
      const text = await page.getByRole('heading', { name: 'Explanation' }).locator('+ pre').textContent();
      expect(text).to.contain('upstream nowhere_gw-system').and.not.contain('MARKER');
      expect(page.url()).to.equal(`${gateway[port]}/status/explain`);
      await screenshot(page, `status-page-explained-${port}`);
    });

  it('signs in with the token of the port, and out again', async () => {
    const guarded = new GatewayProcess();
    try {
      guarded.write('resources.yaml', RESOURCES);
      guarded.write('token', 'MARKER-0123456789abcdef');
      await guarded.start('--admin-token-file', `${guarded.dir}/token`);
      await page.goto(`${guarded.stats}/status/resources?q=hello`);
      await screenshot(page, 'status-page-sign-in');
      await page.getByLabel('Token').fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('The token is wrong.').waitFor();
      await page.getByLabel('Token').fill('MARKER-0123456789abcdef');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'gw-system/hello' }).waitFor();
      expect(page.url()).to.equal(`${guarded.stats}/status/resources?q=hello`);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Token').waitFor();
    } finally {
      await guarded.close();
    }
    const expected = complaints.filter((each) => each.includes('401'));
    expect(complaints.splice(0), 'only rejected sign-ins').to.deep.equal(expected);
  });

  it('never breaks its own content security policy', () => {
    expect(complaints).to.deep.equal([]);
  });
});
