import type { RequestListener, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { ask, serve, serveHandler, serveJson, type TestServer } from '../servers.ts';

type Apis = NonNullable<GraphQLApiOptions['apis']>;

const PRODUCTS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { products: [Product] @resolve(name: "all") }
      type Product { name: String seller: User }
      type User { username: String }`,
    executor: {
      local: {
        resolutions: {
          all: {
            restResolver: {
              upstreamRef: { name: 'backend' },
              timeout: '30s',
              request: { headers: { ':path': '/products' } },
            },
          },
        },
      },
    },
  },
};
const USERS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { user(name: String): User }
      type User { username: String age: Int friends: [String] }`,
    executor: { remote: { upstreamRef: { name: 'users' } } },
  },
};
const MERGE = { User: { selectionSet: '{ username }', queryName: 'user', args: { name: 'username' } } };
const LIST = [
  { name: 'Ring', seller: { username: 'frodo' } },
  { name: 'Rope', seller: { username: 'sam' } },
];

const FAULTS: Record<string, (res: ServerResponse) => unknown> = {
  'a page of HTML': (res) => res.end('<html>secret</html>'),
  nothing: (res) => res.end(),
  'JSON of another type': (res) => res.end('["secret"]'),
  '404': (res) => res.writeHead(404).end('{"secret":1}'),
  '500': (res) => res.writeHead(500).end('Error: secret at /srv/app.js:1'),
  'a redirect': (res) => res.writeHead(302, { location: '/secret' }).end(),
  'half a body': (res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"data":{"_0":{"age":', () => res.destroy());
  },
  'more than 10 MiB': (res) => res.end(`{"data":{"_0":{"age":"${'x'.repeat(10 * 1024 * 1024)}"}}}`),
  'a reset': (res) => res.destroy(),
  'nothing in time': () => {},
  'data that is null': (res) => res.end('{"data":null}'),
};

describe('a server behind a stitched API with invalid responses', () => {
  let backend: TestServer;
  const open: TestServer[] = [];
  before(async () => void (backend = await serveJson({ '/products': LIST })));
  after(() => backend.close());
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  async function query(
    answer: RequestListener,
    operationTimeoutMs = 30_000,
  ): Promise<{ status: number; body: any; asked: readonly string[] }> {
    const users = await serve(answer);
    const front = await serveHandler(
      graphqlApi({
        stitchedSchema: { subschemas: [{ name: 'products' }, { name: 'users', typeMerge: MERGE }] },
        apis: { products: PRODUCTS, users: USERS },
        upstreams: { backend: backend.url, users: users.url },
        limits: { operationTimeoutMs },
      }),
    );
    open.push(users, front);
    const { status, body } = await ask(front.url, '{ products { name seller { username age friends } } }');
    return { status, body, asked: users.asked };
  }

  for (const [name, fault] of Object.entries(FAULTS)) {
    it(`${name}: errors only for its fields, with one request`, async () => {
      const { status, body, asked } = await query(
        (_req, res) => void fault(res),
        name === 'nothing in time' ? 2000 : undefined,
      );
      expect(status).to.equal(200);
      const seller = (username: string) => ({ username, age: null, friends: null });
      expect(body.data.products).to.deep.equal([
        { name: 'Ring', seller: seller('frodo') },
        { name: 'Rope', seller: seller('sam') },
      ]);
      expect(body.errors.map(({ path }: { path: unknown[] }) => path.join('.'))).to.have.members([
        'products.0.seller.age',
        'products.0.seller.friends',
        'products.1.seller.age',
        'products.1.seller.friends',
      ]);
      expect(JSON.stringify(body)).to.not.match(/secret|127\.0\.0\.1|app\.js/);
      expect(asked).to.have.length(1);
    });
  }

  it('values of other types: errors at their places, and none of another object', async () => {
    const { body } = await query((_req, res) =>
      res.end(JSON.stringify({ data: { _0: { age: 'old', friends: 'sam' }, _1: { age: 38, friends: ['frodo'] } } })),
    );
    expect(body.data.products[0].seller).to.deep.equal({ username: 'frodo', age: null, friends: null });
    expect(body.data.products[1].seller).to.deep.equal({ username: 'sam', age: 38, friends: ['frodo'] });
    expect(body.errors.map(({ path }: { path: unknown[] }) => path.join('.'))).to.have.members([
      'products.0.seller.age',
      'products.0.seller.friends',
    ]);
  });

  it('objects that were not requested, and prototype fields: ignored', async () => {
    const { body } = await query((_req, res) =>
      res.end('{"data":{"_0":{"age":1,"friends":[]},"_7":{"age":9},"__proto__":{"age":5},"constructor":{"age":6}}}'),
    );
    expect(body.data.products[0].seller.age).to.equal(1);
    expect(body.data.products[1].seller.age).to.equal(null);
    expect(({} as { age?: number }).age).to.equal(undefined);
  });
});
