import { expect } from 'chai';
import { graphqlApi } from '../../../src/index.ts';
import { ask, serve, serveHandler, type TestServer } from '../../servers.ts';

describe('equal requests of one operation', () => {
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    backend = await serve((req, res) => res.end(JSON.stringify(String(req.headers['x-tenant']))));
    const request = { headers: { ':path': '/tenant', 'x-tenant': '{$args.name}' } };
    front = await serveHandler(
      graphqlApi({
        schemaDefinition: 'type Query { tenant(name: String!): String @resolve(name: "tenant") }',
        resolutions: { tenant: { restResolver: { upstreamRef: { name: 'a' }, timeout: '30s', request } } },
        upstreams: { a: backend.url },
      }),
    );
  });
  beforeEach(() => void backend.asked.splice(0));
  after(async () => {
    await front.close();
    await backend.close();
  });

  it('are made once', async () => {
    const { body } = await ask(front.url, '{ a: tenant(name: "x") b: tenant(name: "x") }');
    expect(body).to.deep.equal({ data: { a: 'x', b: 'x' } });
    expect(backend.asked).to.have.length(1);
  });

  it('are not deduplicated if a header differs', async () => {
    const { body } = await ask(front.url, '{ a: tenant(name: "x") b: tenant(name: "y") }');
    expect(body).to.deep.equal({ data: { a: 'x', b: 'y' } });
    expect(backend.asked).to.have.length(2);
  });
});
