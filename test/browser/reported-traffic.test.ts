import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { screenshot, startChromium } from '../parts/chromium.ts';

const RESOURCES = `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: nowhere }
spec:
  static: { hosts: [{ addr: 127.0.0.1, port: 9 }] }
  healthChecks:
    - { timeout: 1s, interval: 1s, unhealthyThreshold: 1, healthyThreshold: 1, tcpHealthCheck: {} }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: hello }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - { matchers: [{ prefix: /up }], routeAction: { single: { upstream: { name: nowhere } } } }
      - { matchers: [{ prefix: / }], directResponseAction: { status: 200, body: hello } }
`;

describe('the traffic of a remote proxy on the page of its control plane, in a browser', () => {
  let browser: Browser;
  let page: Page;
  const [controlPlane, proxy] = [new GatewayProcess(), new GatewayProcess()];
  let requests: NodeJS.Timeout | undefined;

  before(async function () {
    browser = await startChromium(this);
    controlPlane.write('resources.yaml', RESOURCES);
    await startControlPlane(controlPlane);
    await startProxy(proxy, [controlPlane.ready.xdsPort]);
    page = await browser.newPage();
    const send = (path: string) => fetch(proxy.url + path).then((response) => response.text());
    requests = setInterval(() => void Promise.all([send('/'), send('/up')]).catch(() => {}), 50);
  });
  after(async () => {
    clearInterval(requests);
    proxy.child?.kill('SIGCONT');
    await browser?.close();
    for (const each of [proxy, controlPlane]) await each.close();
  });

  const rowsOf = (caption: string) =>
    page.getByRole('table', { name: caption, exact: true }).getByRole('row').allTextContents();

  it('shows rates, latencies and unhealthy endpoints without a reload', async () => {
    await page.goto(`${controlPlane.stats}/status/proxies`);
    const [listener, upstream] = ['Traffic by listener', 'Traffic and health by upstream'];
    await until(
      async () => (await rowsOf(upstream)).some((row) => row.includes('1 unhealthy, 0 healthy')),
      upstream,
      60,
    );
    expect((await rowsOf(upstream)).find((row) => row.includes('nowhere'))).to.match(/nowhere_gw-system\s*1\s*[\d.]+/);
    expect((await rowsOf(listener)).join()).to.match(/127\.0\.0\.1:\d+\s*[\d.]+/);
    const [, own] = await rowsOf('Proxies');
    expect(own).to.contain('1 unhealthy').and.match(/\d ms/);
  });

  for (const width of [400, 1280])
    it(`does not scroll sideways at ${width} px`, async () => {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${controlPlane.stats}/status/proxies`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width);
      await screenshot(page, `reported-traffic-${width}`);
    });

  it('marks the report of a proxy that does not respond as stale', async () => {
    clearInterval(requests);
    proxy.child.kill('SIGSTOP');
    await until(async () => (await rowsOf('Proxies'))[1]?.includes('stale'), 'a stale report', 60);
    expect((await rowsOf('Proxies'))[1]).to.match(/stale reported \d+ s ago/);
    expect(await rowsOf('Traffic and health by upstream')).to.deep.equal([]);
  });
});
