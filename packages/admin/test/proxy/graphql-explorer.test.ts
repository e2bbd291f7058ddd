import { expect } from 'chai';
import type { ResourceRef } from '@edge-gateway/core';
import { rawRequest } from '../raw-request.ts';
import { proxyAdmin, type TestPort } from '../sample.ts';

/** Names that no resource may have; whatever brings them here, they stay text. */
const HOSTILE: ResourceRef = { namespace: '"><img src=x onerror=alert(1)>', name: "'/><script>alert(2)</script>&amp;" };
const APIS: readonly ResourceRef[] = [{ namespace: 'gw-system', name: 'books' }, HOSTILE];
const PATH = `/graphql/${encodeURIComponent(HOSTILE.namespace)}/${encodeURIComponent(HOSTILE.name)}`;
const PAGES = ['/graphql', '/graphql/gw-system/books', PATH];
const QUERY = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ a }"}' };

describe('the GraphQL explorer of the proxy admin', () => {
  let admin: TestPort;
  const served: ResourceRef[] = [];
  before(async () => {
    admin = await proxyAdmin({
      graphql: {
        apis: () => APIS,
        example: async ({ name }) => {
          if (name === 'books') return '{\n  books(title: "<a>") {\n    id\n  }\n}\n';
          throw new Error('no schema');
        },
        serve: ({ namespace, name }) =>
          APIS.some((api) => api.namespace === namespace && api.name === name)
            ? (_req, res) => {
                served.push({ namespace, name });
                res.end('{"data":{"a":1}}');
              }
            : undefined,
      },
    });
  });
  beforeEach(() => void served.splice(0));
  after(() => admin.close());

  it('is linked from the home page and listed by /help', async () => {
    const other = await proxyAdmin();
    for (const [port, isLinked] of [
      [admin, true],
      [other, false],
    ] as const) {
      expect((await port.request('/')).text.includes('action="graphql" method="get">')).to.equal(isLinked);
      expect((await port.request('/help')).text.includes('/graphql: GraphQL APIs, each with a page')).to.equal(
        isLinked,
      );
    }
    await other.close();
    const { text } = await admin.request('/graphql');
    expect(text).to.include('<a href="/graphql/gw-system/books">gw-system/books</a>');
  });

  it('does not exist without the option', async () => {
    const other = await proxyAdmin();
    expect((await other.request('/graphql')).status).to.equal(404);
    expect((await other.request('/graphql/gw-system/books')).status).to.equal(404);
    await other.close();
  });

  for (const page of PAGES) {
    it(`allows scripts of this port only on ${page.slice(0, 30)}`, async () => {
      const { status, headers, text } = await admin.request(page);
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.match(/^text\/html/);
      const policy = headers.get('content-security-policy')!.split('; ');
      expect(policy).to.include.members(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]);
      expect(policy.join()).to.not.match(/https?:|\*|unsafe-eval/);
      expect(text).to.not.match(/(?:src|href)="?(?:https?:)?\/\//);
      expect(text).to.not.match(/<script(?![^>]* src="\/(?:graphql\/assets|status)\/)/);
    });

    it(`escapes names on ${page.slice(0, 30)}`, async () => {
      const { text } = await admin.request(page);
      expect(text).to.not.include('<img').and.not.include('alert(2)</script>');
      if (page !== '/graphql/gw-system/books') expect(text).to.include('&#62;&#60;img src=x onerror=alert(1)&#62;');
    });
  }

  it('begins with an example query, if the API has one', async () => {
    const { text } = await admin.request('/graphql/gw-system/books');
    expect(text).to.include('data-query="{\n  books(title: &#34;&#60;a&#62;&#34;) {\n');
    expect((await admin.request(PATH)).text).to.include('data-query=""');
    expect((await admin.request('/graphql/assets/start.js')).text).to.include('defaultQuery');
  });

  it('serves its own scripts and styles', async () => {
    const { text } = await admin.request('/graphql/gw-system/books');
    const assets = Array.from(text.matchAll(/(?:src|href)="(\/[^"]+)"/g), ([, path]) => path!);
    expect(assets).to.have.length(5);
    for (const asset of assets) {
      const { status, headers, text: body } = await admin.request(asset);
      expect(status, asset).to.equal(200);
      expect(headers.get('content-type')).to.match(asset.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(body.length).to.be.greaterThan(100);
    }
  });

  for (const path of [
    '/graphql/assets/none.js',
    '/graphql/assets/__proto__',
    '/graphql/assets/..%2f..%2fpackage.json',
    '/graphql/assets/%2e%2e%2fpackage.json',
    '/graphql/assets/',
    '/graphql/none/none',
    '/graphql/gw-system/books/other',
  ]) {
    it(`returns 404 for ${path}`, async () => {
      expect((await admin.request(path)).status).to.equal(404);
    });
  }

  it('runs requests on the named API, only with POST', async () => {
    expect(await admin.request('/graphql/gw-system/books/query', QUERY)).to.include({
      status: 200,
      text: '{"data":{"a":1}}',
    });
    expect((await admin.request(`${PATH}/query`, QUERY)).status).to.equal(200);
    expect((await admin.request('/graphql/none/none/query', QUERY)).status).to.equal(404);
    expect((await admin.request('/graphql/gw-system/books/query?query={a}')).status).to.equal(404);
    expect(served).to.deep.equal(APIS);
  });

  it('rejects requests from other origins and to foreign host names (DNS rebinding)', async () => {
    for (const header of ['Origin: http://evil.example', 'Sec-Fetch-Site: cross-site']) {
      const asked = await rawRequest(admin.port, post(`127.0.0.1:${admin.port}`, header));
      expect(asked, header).to.match(/^HTTP\/1\.1 403 /);
    }
    for (const host of [`evil.example:${admin.port}`, 'localhost.evil.example']) {
      expect(await rawRequest(admin.port, post(host, 'X-Any: 1')), host).to.match(/^HTTP\/1\.1 (403|421) /);
      const page = `GET /graphql/gw-system/books HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const response = await rawRequest(admin.port, page);
      expect(response, host)
        .to.match(/^HTTP\/1\.1 (403|421) /)
        .and.not.include('graphiql');
    }
    expect(served).to.deep.equal([]);
  });
});

function post(host: string, header: string): string {
  const head = ['POST /graphql/gw-system/books/query HTTP/1.1', `Host: ${host}`, header, 'Connection: close'];
  return [...head, 'Content-Type: application/json', `Content-Length: ${QUERY.body.length}`, '', QUERY.body].join(
    '\r\n',
  );
}
