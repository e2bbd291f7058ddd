import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { joinedCaching } from '../../src/join/caching.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';

type Apis = NonNullable<GraphQLApiOptions['apis']>;

function rest(path: string) {
  return {
    restResolver: { upstreamRef: { name: 'backend' }, timeout: '30s', request: { headers: { ':path': path } } },
  };
}

const products = (hint: string): Apis[string] => ({
  executableSchema: {
    schemaDefinition: `
      type Query { product: Product @resolve(name: "product") ${hint} now: Int @resolve(name: "now") }
      type Product { name: String seller: User ${hint} }
      type User { username: String }`,
    executor: { local: { resolutions: { product: rest('/product'), now: rest('/now') } } },
  },
});
const users = (hint: string): Apis[string] => ({
  executableSchema: {
    schemaDefinition: `
      type Query { user(name: String): User @resolve(name: "user") ${hint} }
      type User { username: String fullName: String }`,
    executor: { local: { resolutions: { user: rest('/user/{$args.name}') } } },
  },
});
const MERGE = { User: { selectionSet: '{ username }', queryName: 'user', args: { name: 'username' } } };

describe('how long a stitched result may be kept', () => {
  let backend: TestServer;
  const open: TestServer[] = [];
  before(async () => {
    backend = await serveJson({
      '/product': { name: 'Ring', seller: { username: 'frodo' } },
      '/user/frodo': { username: 'frodo', fullName: 'Frodo Baggins' },
      '/now': 7,
    });
  });
  beforeEach(() => void backend.asked.splice(0));
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  after(() => backend.close());

  async function start(productHint: string, userHint: string): Promise<string> {
    const front = await serveHandler(
      graphqlApi({
        stitchedSchema: { subschemas: [{ name: 'products' }, { name: 'users', typeMerge: MERGE }] },
        apis: { products: products(productHint), users: users(userHint) },
        upstreams: { backend: backend.url },
      }),
    );
    open.push(front);
    return front.url;
  }
  const QUERY = '{ product { name seller { fullName } } }';

  it('is the shortest time of all joined APIs, and it is kept that long', async () => {
    const url = await start('@cacheControl(maxAge: 60)', '@cacheControl(maxAge: 30)');
    const { headers, body } = await ask(url, QUERY);
    expect(body.data.product.seller.fullName).to.equal('Frodo Baggins');
    expect(headers.get('cache-control')).to.equal('max-age=30, public');
    expect((await ask(url, '{ product { name } }')).headers.get('cache-control')).to.equal('max-age=60, public');
    expect((await ask(url, QUERY)).headers.get('cache-control')).to.equal('max-age=30, public');
    expect(backend.asked).to.deep.equal(['GET /product', 'GET /user/frodo', 'GET /product']);
  });

  it('has the narrowest scope of all, and is not shared then', async () => {
    const url = await start('@cacheControl(maxAge: 60)', '@cacheControl(maxAge: 90, scope: private)');
    for (let i = 0; i < 2; i++) {
      expect((await ask(url, QUERY)).headers.get('cache-control')).to.equal('max-age=60, private');
    }
    expect(backend.asked).to.have.length(4);
  });

  it('is absent if one API sends none, or failed', async () => {
    const url = await start('@cacheControl(maxAge: 60)', '');
    expect((await ask(url, QUERY)).headers.get('cache-control')).to.equal(null);
    const both = await start('@cacheControl(maxAge: 60)', '@cacheControl(maxAge: 60)');
    expect((await ask(both, '{ now }')).headers.get('cache-control')).to.equal(null);
    expect((await ask(both, '{ product { nam: name } now }')).headers.get('cache-control')).to.equal(null);
  });

  it('is independent of the order of parts', () => {
    const open = { data: {}, cacheControl: 'max-age=10, public', sharedForSeconds: 10 };
    const closed = { data: {}, cacheControl: 'max-age=20, private' };
    expect(joinedCaching([])).to.deep.equal({});
    expect(joinedCaching([open])).to.deep.equal({ cacheControl: 'max-age=10, public', sharedForSeconds: 10 });
    for (const parts of [
      [open, closed],
      [closed, open],
    ]) {
      expect(joinedCaching(parts)).to.deep.equal({ cacheControl: 'max-age=10, private' });
    }
    expect(joinedCaching([open, { data: {} }])).to.deep.equal({});
    expect(joinedCaching([open, { ...open, errors: [{ message: 'no' }] }])).to.deep.equal({});
  });
});
