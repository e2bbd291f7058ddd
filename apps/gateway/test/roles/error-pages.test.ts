import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPages } from '@edge-gateway/core';
import { readErrorPages } from '../../src/roles/error-pages.ts';
import { protect, type Protected } from '../protection.ts';

const BROWSER = { 'sec-fetch-mode': 'navigate', accept: 'text/html,*/*;q=0.8' };
const SCRIPT = { 'sec-fetch-mode': 'cors', accept: 'text/html' };
// password "secret", salt "abcdefgh"
const users = '{ ann: { salt: abcdefgh, hashedPassword: "h9FWgUz3n9YxylKLlR5SQ/" } }';

const RESOURCES = `
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: users, namespace: gw-system }
spec: { configs: [{ basicAuth: { realm: shop, apr: { users: ${users} } } }] }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /denied }]
        options: { rbac: { policies: {} } }
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
      - matchers: [{ prefix: /users }]
        options:
          extauth: { configRef: { name: users, namespace: gw-system } }
          rbac: { policies: {} }
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
      - matchers: [{ prefix: /down }]
        routeAction: { single: { upstream: { name: down, namespace: gw-system } } }
      - matchers: [{ prefix: /teapot }]
        directResponseAction: { status: 418, body: short and stout }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: down, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }
`;

describe('errors of the gateway', () => {
  let gateway: Protected;
  before(async () => (gateway = await protect(RESOURCES)));
  after(() => gateway.close());

  const CASES: readonly (readonly [path: string, status: number, script: string, title: string])[] = [
    ['/denied', 403, 'RBAC: access denied', 'Access denied'],
    ['/nothing', 404, '', 'Page not found'],
    ['/users', 401, '', 'Sign-in required'],
    [
      '/down',
      503,
      'upstream connect error or disconnect/reset before headers. reset reason: remote connection failure',
      'The service is not available',
    ],
  ];
  for (const [path, status, script, title] of CASES) {
    it(`are a page for browsers and text for scripts: ${status}`, async () => {
      for (const headers of [SCRIPT, {}]) {
        const plain = await gateway.ask(path, headers);
        expect([plain.status, plain.body.slice(0, script.length)]).to.deep.equal([status, script]);
        expect(plain.body).to.not.contain('<');
      }
      const page = await gateway.ask(path, BROWSER);
      expect(page.status).to.equal(status);
      expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(page.headers['content-security-policy']).to.contain("default-src 'none'");
      expect(page.headers['cache-control']).to.equal('no-store');
      expect(page.body).to.contain(`<h1>${title}</h1>`).and.contain(script);
      expect(page.headers['www-authenticate']).to.equal(status === 401 ? 'Basic realm="shop"' : undefined);
    });
  }

  it('are exactly `RBAC: access denied` outside browser navigation', async () => {
    const notNavigating: Record<string, string>[] = [
      SCRIPT,
      {},
      { accept: 'application/json' },
      { ...BROWSER, 'sec-fetch-mode': 'no-cors' },
    ];
    for (const headers of notNavigating) {
      const denied = await gateway.ask('/denied', headers);
      expect(denied).to.include({ status: 403, body: 'RBAC: access denied' });
      expect(denied.headers['content-type']).to.equal('text/plain');
    }
  });

  it('show the signed-in user', async () => {
    const authorization = `Basic ${Buffer.from('ann:secret').toString('base64')}`;
    const page = await gateway.ask('/users', { ...BROWSER, authorization });
    expect(page.status).to.equal(403);
    expect(page.body).to.contain('You are signed in as ann.').and.not.contain('Switch accounts');
  });

  it('do not replace the configured response of a route', async () => {
    expect(await gateway.ask('/teapot', BROWSER)).to.include({ status: 418, body: 'short and stout' });
  });

  it('use the templates of the operator', async () => {
    const pages = createPages(new Map([['403', '<p>Ours: {{ message }} {{ status }}</p>']]));
    const own = await protect(RESOURCES, '', { pages });
    const page = await own.ask('/denied', BROWSER);
    expect(page.body).to.equal('<p>Ours: You have no permission to see this page. RBAC: access denied 403</p>');
    expect((await own.ask('/nothing', BROWSER)).body).to.contain('<h1>Page not found</h1>');
    await own.close();
  });
});

describe('the directory of error pages', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'pages-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  it('provides a template for each name', () => {
    writeFileSync(join(dir, '5xx.html'), 'sorry: {{ title }}');
    writeFileSync(join(dir, 'README.md'), '{{ notes }}');
    const content = { templates: ['503', '5xx'], status: 503, title: 'Busy', message: '' };
    expect(readErrorPages(dir).render(content)).to.equal('sorry: Busy');
  });

  const BAD: Readonly<Record<string, readonly [file: string, text: string, message: string]>> = {
    'a name that no page has': ['nowhere.html', '', 'nowhere.html: unknown page name'],
    'an unknown placeholder': ['404.html', '\n{{ nothing }}', '404.html:2: unknown placeholder {{ nothing }}'],
    'a file that is too large': ['404.html', 'x'.repeat(262_145), '404.html: it is larger than 262144 bytes'],
    'no template': ['404.txt', '', 'no templates found'],
  };
  for (const [what, [file, text, message]] of Object.entries(BAD)) {
    it(`is rejected with ${what}`, () => {
      writeFileSync(join(dir, file), text);
      expect(() => readErrorPages(dir))
        .to.throw(message)
        .with.property('code', 'ERR_GATEWAY_ERROR_PAGES');
    });
  }

  it('is rejected when it does not exist', () => {
    expect(() => readErrorPages(join(dir, 'gone')))
      .to.throw('--error-pages: ')
      .and.match(/does not exist/);
  });
});
