import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { GatewayProcess } from '../../apps/gateway/test/gateway-process.ts';
import { screenshot, startChromium } from '../parts/chromium.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: graphql, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes: [{ matchers: [{ prefix: / }], graphqlApiRef: { name: hello, namespace: gw-system } }]
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: hello, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: 'type Query { hello: String @resolve(name: "hello") }'
    executor: { local: { resolutions: { hello: { mockResolver: { syncResponse: 'from the gateway' } } } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: hostile, namespace: gw-system }
spec:
  virtualHost:
    domains: [hostile.example]
    routes: [{ matchers: [{ prefix: / }], graphqlApiRef: { name: hostile, namespace: gw-system } }]
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: hostile, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query {
        "words <img src=http://evil.example/a.png onerror='window.pwned = 1'> ![b](http://evil.example/b.png) <script>window.pwned = 2</script> [c](javascript:window.pwned=3)"
        hello: String @resolve(name: "hello")
      }
    executor:
      local:
        resolutions:
          hello: { mockResolver: { syncResponse: '<img src=http://evil.example/c.png onerror="window.pwned = 4">' } }
`;

describe('the GraphQL explorer, in a browser', () => {
  let browser: Browser;
  const gateway = new GatewayProcess();
  before(async function () {
    browser = await startChromium(this);
    gateway.write('resources.yaml', RESOURCES);
    await gateway.start();
  });
  after(async () => {
    await browser?.close();
    await gateway.close();
  });

  it('runs a query with the schema available, and loads nothing from other hosts', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    const problems: string[] = [];
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${gateway.admin}/graphql`, { waitUntil: 'networkidle' });
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.getByRole('link', { name: 'gw-system/hello' }).click();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('{ hello }');
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'from the gateway' }).waitFor();
    await page.getByRole('button', { name: /Documentation Explorer/ }).click();
    await page.getByRole('link', { name: 'Query' }).first().waitFor();
    await screenshot(page, 'graphql-explorer');
    expect([...hosts].filter((host) => host.startsWith('http'))).to.deep.equal([gateway.admin]);
    expect(problems).to.deep.equal([]);
  });

  for (const colorScheme of ['dark', 'light'] as const) {
    it(`stacks its panels on a narrow screen (${colorScheme})`, async () => {
      const page = await browser.newPage({ viewport: { width: 400, height: 800 }, colorScheme });
      await page.goto(`${gateway.admin}/graphql/gw-system/hello`, { waitUntil: 'networkidle' });
      await page.getByRole('button', { name: 'Variables' }).click();
      await page.locator('.graphiql-query-editor .CodeMirror').click();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText('query ($skip: Boolean!) {\n  hello @skip(if: $skip)\n}');
      await page.locator('.graphiql-editor-tool .CodeMirror').first().click();
      await page.keyboard.insertText('{ "skip": false }');
      await page.getByRole('button', { name: /Documentation Explorer/ }).click();
      await page.getByRole('link', { name: 'Query' }).first().waitFor();
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.result-window', { hasText: 'from the gateway' }).waitFor();
      await screenshot(page, `graphql-explorer-400-${colorScheme}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(400);
      let above = 0;
      for (const panel of ['.graphiql-plugin', '.graphiql-query-editor', '.graphiql-editor-tool', '.result-window']) {
        const { x, y, width, height } = (await page.locator(panel).boundingBox())!;
        expect(width, panel).to.be.within(350, 400 - x);
        expect(height, panel).to.be.above(80);
        expect(y, panel).to.be.at.least(above);
        above = y + height;
      }
      await page.close();
    });
  }

  it('executes and loads nothing from a schema or a response', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    const loaded: string[] = [];
    page.on('requestfinished', (request) => loaded.push(request.url()));
    await page.goto(`${gateway.admin}/graphql/gw-system/hostile`, { waitUntil: 'networkidle' });
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('{ hello }');
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'evil.example' }).waitFor();
    await page.getByRole('button', { name: /Documentation Explorer/ }).click();
    await page.getByRole('link', { name: 'Query' }).first().click();
    await page.getByText('words', { exact: false }).first().waitFor();
    for (const link of await page.locator('a[href^="javascript:"]').all()) await link.click();
    await page.waitForLoadState('networkidle');
    expect(await page.evaluate('window.pwned')).to.equal(undefined);
    expect(loaded.filter((url) => url.includes('evil.example'))).to.deep.equal([]);
    await page.close();
  });

  it('is not served on the client port, which does not expose the schema either', async () => {
    const page = await fetch(`${gateway.url}/graphql/gw-system/hello`);
    expect(await page.text()).to.not.include('graphiql');
    const asked = await fetch(`${gateway.url}/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __schema { types { name } } }' }),
    });
    expect(asked.status).to.equal(400);
  });

  it('serves no other APIs or files', async () => {
    for (const path of [
      '/graphql/gw-system/none',
      '/graphql/assets/package.json',
      '/graphql/assets/..%2f..%2fpackage.json',
      '/graphql/assets/__proto__',
    ]) {
      expect((await fetch(`${gateway.admin}${path}`)).status, path).to.equal(404);
    }
  });

  it('rejects pages of another origin', async () => {
    const { status } = await fetch(`${gateway.admin}/graphql/gw-system/hello/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'http://evil.example' },
      body: JSON.stringify({ query: '{ hello }' }),
    });
    expect(status).to.equal(403);
  });
});
