import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/middleware.ts';
import { rawGet } from '../raw-get.ts';
import { serveHandler, type TestServer } from '../servers.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const OPTIONS: GraphQLApiOptions = {
  schemaDefinition: 'type Query { secretName: Int @resolve(name: "one") }',
  resolutions: { one: { mockResolver: { syncResponse: 1 } } },
};

describe('the page that a browser gets at the address of an API', () => {
  let server: TestServer;
  let explorer: TestServer;
  before(async () => {
    server = await serveHandler(graphqlApi(OPTIONS));
    explorer = await serveHandler(graphqlApi({ ...OPTIONS, explorer: true }));
  });
  after(() => Promise.all([server.close(), explorer.close()]));

  it('says how the API is used, without scripts and without the schema', async () => {
    for (const path of ['/', '/?page=1', '/graphql?utm=query']) {
      const { status, headers, text } = await rawGet(server.url + path, { accept: HTML, 'sec-fetch-mode': 'navigate' });
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers['content-security-policy']).to.match(/^default-src 'none'; .*form-action 'none'$/);
      expect(headers['content-security-policy']).not.to.include('script-src');
      expect(headers).to.include({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(text)
        .to.include('content-type: application/json')
        .and.not.match(/<script|secretName/);
    }
    const old = await rawGet(server.url, { accept: HTML });
    expect(old.headers['content-type']).to.match(/^text\/html/);
  });

  it('has a head only for HEAD', async () => {
    const { status, headers, text } = await rawGet(server.url, { accept: HTML }, 'HEAD');
    expect([status, text]).to.deep.equal([200, '']);
    expect(headers['content-type']).to.match(/^text\/html/);
    expect(Number(headers['content-length'])).to.be.greaterThan(100);
  });

  it('is not for operations, and not for clients of the API', async () => {
    const operation = await rawGet(`${server.url}/?query={secretName}`, { accept: HTML, 'sec-fetch-mode': 'navigate' });
    expect(JSON.parse(operation.text)).to.deep.equal({ data: { secretName: 1 } });
    const clients: Record<string, string>[] = [
      {},
      { accept: '*/*' },
      { accept: 'application/json' },
      { accept: `application/json, ${HTML}` },
      { accept: `application/graphql-response+json, ${HTML}` },
      { accept: HTML, 'sec-fetch-mode': 'cors' },
      { accept: HTML, 'x-requested-with': 'XMLHttpRequest' },
      { accept: '*/*', 'sec-fetch-mode': 'navigate' },
    ];
    for (const headers of clients) {
      const { status, headers: got } = await rawGet(server.url, headers);
      expect([status, got['content-type']], JSON.stringify(headers)).to.satisfy(
        ([code, type]: [number, string]) => code === 400 && type.includes('json'),
      );
    }
  });

  it('has an editor with an example query if the option explorer is set', async () => {
    const { headers, text } = await rawGet(explorer.url, { accept: HTML });
    expect(text).to.include('<textarea id="query" rows="12" spellcheck="false">{\n  secretName\n}\n</textarea>');
    const [, script] = /<script>([^]*)<\/script>/.exec(text)!;
    const hash = createHash('sha256').update(script!).digest('base64');
    expect(headers['content-security-policy']).to.match(/^default-src 'none'; /);
    expect(headers['content-security-policy']).to.include(`script-src 'sha256-${hash}'; connect-src 'self'`);
  });

  it('has an editor also while the schema of a remote server is not known', async () => {
    const handler = graphqlApi({
      explorer: true,
      remote: { upstreamRef: { name: 'a' } },
      upstreams: { a: 'http://127.0.0.1:1' },
    });
    const remote = await serveHandler(handler);
    const { status, text } = await rawGet(remote.url, { accept: HTML });
    await remote.close();
    await handler.close!();
    expect(status).to.equal(200);
    expect(text).to.include('{\n  __typename\n}\n</textarea>');
  });

  it('rejects an option explorer that is no boolean', () => {
    expect(() => graphqlApi({ ...OPTIONS, explorer: 'yes' as never })).to.throw(/explorer/);
  });
});
