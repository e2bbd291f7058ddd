import { expect } from 'chai';
import { graphqlApi } from '../../../src/middleware.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../../servers.ts';

const SCHEMA = `
  type Query { products: [Product!] @resolve(name: "products") }
  type Product { id: ID! price: Int @resolve(name: "price") stock: Stock @resolve(name: "stock") }
  type Stock { count: Int }
`;

describe('a resolver with a batch form', () => {
  let backend: TestServer;
  let front: TestServer;
  const ids = Array.from({ length: 100 }, (_, i) => `p ${i}&`);

  before(async () => {
    backend = await serveJson({ '/products': ids.map((id) => ({ id })) }, (req, res) => {
      const url = new URL(req.url!, 'http://x');
      const keys = url.searchParams.get('ids')!.split(',');
      const price = Object.fromEntries(keys.map((key) => [key, key.length]));
      const stock = keys.filter((key) => key !== 'p 1&').map((key) => ({ product: key, count: key.length }));
      res.end(JSON.stringify(url.pathname === '/prices' ? price : { items: stock }));
    });
    const upstreamRef = { name: 'shop' };
    front = await serveHandler(
      graphqlApi({
        schemaDefinition: SCHEMA,
        resolutions: {
          products: { restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': '/products' } } } },
          price: {
            restResolver: {
              upstreamRef,
              timeout: '30s',
              batch: { key: '{$parent.id}' },
              request: { headers: { ':path': '/prices?ids={$batch.keys}' } },
            },
          },
          stock: {
            restResolver: {
              upstreamRef,
              timeout: '30s',
              batch: { key: '{$parent.id}', keyField: 'product', maxKeys: 60 },
              request: { headers: { ':path': '/stock' }, queryParams: { ids: '{$batch.keys}' } },
              response: { resultRoot: 'items' },
            },
          },
        },
        upstreams: { shop: backend.url },
      }),
    );
  });
  after(async () => {
    await front.close();
    await backend.close();
  });
  beforeEach(() => {
    backend.asked.length = 0;
  });

  it('sends one request for a hundred fields of a list', async () => {
    const { body } = await ask(front.url, '{ products { id price } }');
    expect(body.data.products).to.have.length(100);
    expect(body.data.products[0]).to.deep.equal({ id: 'p 0&', price: 4 });
    expect(body.data.products[99]).to.deep.equal({ id: 'p 99&', price: 5 });
    expect(backend.asked).to.have.length(2);
  });

  it('sends several requests above the maximum number of keys; a missing value is null', async () => {
    const { body } = await ask(front.url, '{ products { id stock { count } } }');
    const keys = backend.asked
      .slice(1)
      .map((line) => new URL(line.split(' ')[1]!, 'http://x').searchParams.get('ids')!);
    expect(keys.map((each) => each.split(',').length)).to.deep.equal([60, 40]);
    expect(body.errors).to.equal(undefined);
    expect(body.data.products[0].stock).to.deep.equal({ count: 4 });
    expect(body.data.products[1].stock).to.equal(null);
    expect(backend.asked).to.have.length(3);
  });
});
