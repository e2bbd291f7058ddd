import { startUsersGrpc, type Service } from '@edge-gateway/demo';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { buildSchema, graphql, parse, type GraphQLSchema } from 'graphql';
import { GatewayProcess, until } from './gateway-process.ts';

/** A subgraph as federation has them: its schema, who it is, and the objects that it can complete. */
const SUBGRAPH = `
  scalar _Any
  union _Entity = Stock
  type _Service { sdl: String! }
  type Query { _service: _Service! _entities(representations: [_Any!]!): [_Entity]! stock(name: String): Stock }
  type Stock { name: String count: Int }`;
/** Descriptors of `user.UserService/GetUser`; they call the second field `nick_name`, which reflection calls `full_name`. */
const DESCRIPTORS =
  'CrABCgp1c2VyLnByb3RvEgR1c2VyIh4KClVzZXJTZWFyY2gSEAoIdXNlcm5hbWUYASABKAkiPAoEVXNlchIQCgh1c2VybmFtZRgB' +
  'IAEoCRIRCgluaWNrX25hbWUYAiABKAkSDwoHdXNlcl9pZBgDIAEoBTI2CgtVc2VyU2VydmljZRInCgdHZXRVc2VyEhAudXNlci5V' +
  'c2VyU2VhcmNoGgoudXNlci5Vc2VyYgZwcm90bzM=';

const upstream = (name: string, port: number, more = ''): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: ${name}, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }]${more} } }
---`;

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: graphql, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /shop }]
        graphqlApiRef: { name: shop, namespace: gw-system }
      - matchers: [{ prefix: /stock }]
        graphqlApiRef: { name: stock, namespace: gw-system }
        options: { prefixRewrite: /subgraph }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: descriptors, namespace: gw-system }
data: { users: ${DESCRIPTORS} }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: products, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query {
        GetProduct: Product @resolve(name: "one") @cacheControl(maxAge: 60)
        products: [Product] @resolve(name: "all")
      }
      type Product { name: String seller: User @cacheControl(maxAge: 60) stock: Stock }
      type User { username: String }
      type Stock { name: String }
    executor:
      local:
        resolutions:
          one: { restResolver: { upstreamRef: { name: products, namespace: gw-system }, timeout: 10s, request: { headers: { ':path': /product } } } }
          all: { restResolver: { upstreamRef: { name: products, namespace: gw-system }, timeout: 10s, request: { headers: { ':path': /products } } } }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: users, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { GetUser(user_search: UserSearch): User @resolve(name: "user") @cacheControl(maxAge: 30) }
      input UserSearch { username: String }
      type User { username: String nickName: String userId: Int }
    grpcDescriptorRegistry: { protoRefsList: { configMapRefs: [{ name: descriptors, namespace: gw-system }] } }
    executor:
      local:
        resolutions:
          user:
            grpcResolver:
              upstreamRef: { name: users, namespace: gw-system }
              requestTransform:
                serviceName: user.UserService
                methodName: GetUser
                outgoingMessageJson: { username: '{$args.user_search.username}' }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: stock, namespace: gw-system }
spec: { executableSchema: { executor: { remote: { upstreamRef: { name: stock, namespace: gw-system } } } } }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: shop, namespace: gw-system }
spec:
  stitchedSchema:
    subschemas:
      - { name: products, namespace: gw-system }
      - name: users
        namespace: gw-system
        typeMerge:
          User: { selectionSet: '{ username }', queryName: GetUser, args: { user_search.username: username } }
      - name: stock
        namespace: gw-system
        typeMerge:
          Stock: { selectionSet: '{ name }', queryName: stock, args: { name: name } }
---`;

describe('stitched APIs in the gateway', () => {
  const gateway = new GatewayProcess();
  const schema: GraphQLSchema = buildSchema(SUBGRAPH);
  const asked = { products: 0, stock: [] as string[] };
  let users: Service;
  let products: Server;
  let stock: Server;

  before(async () => {
    users = await startUsersGrpc();
    const ring = (name: string, username: string) => ({ name, seller: { username }, stock: { name } });
    products = createServer((req, res) => {
      asked.products++;
      if (req.url === '/product') return void res.end(JSON.stringify(ring('Ring', 'frodo')));
      const list = Array.from({ length: 100 }, (_, i) => ring(`P${i % 10}`, i % 2 ? 'gandalf' : 'frodo'));
      res.end(JSON.stringify(list));
    });
    stock = createServer(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      if (req.url !== '/subgraph') return void res.writeHead(404).end();
      const { query, variables } = JSON.parse(body);
      if (!query.includes('__schema')) asked.stock.push(query);
      res.end(JSON.stringify(await graphql({ schema, source: query, variableValues: variables, rootValue: ROOT })));
    });
    const portOf = (server: Server): number => (server.address() as AddressInfo).port;
    for (const server of [products, stock]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    gateway.write('resources.yaml', RESOURCES);
    gateway.write(
      'upstreams.yaml',
      upstream('users', users.port) +
        upstream('products', portOf(products)) +
        upstream('stock', portOf(stock), ", serviceSpec: { graphql: { endpoint: { url: 'http://stock/subgraph' } } }"),
    );
    await gateway.start();
    await until(async () => (await ask('/shop', '{ GetProduct { stock { count } } }')).body.data, 'all three APIs');
  });
  after(async () => {
    await gateway.close();
    for (const server of [products, stock]) {
      server.closeAllConnections();
      server.close();
    }
    await users.close();
  });
  beforeEach(() => void Object.assign(asked, { products: 0, stock: [] }));

  async function ask(path: string, query: string, variables = {}): Promise<{ headers: Headers; body: any }> {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return { headers: response.headers, body: await response.json() };
  }

  it('returns a product with its seller from a gRPC service with descriptors in a ConfigMap', async () => {
    const { body } = await ask('/shop', '{ GetProduct { name seller { username nickName userId } } }');
    expect(body).to.deep.equal({
      data: { GetProduct: { name: 'Ring', seller: { username: 'frodo', nickName: 'Frodo Baggins', userId: 2 } } },
    });
  });

  it('computes the cache lifetime from both APIs', async () => {
    const { headers } = await ask('/shop', '{ GetProduct { seller { nickName } } }');
    expect(headers.get('cache-control')).to.equal('max-age=30, public');
  });

  it('requests the stock of a hundred products in one batch, each once', async () => {
    const { body } = await ask('/shop', '{ products { seller { nickName } stock { name count } } }');
    expect(body.errors).to.equal(undefined);
    expect(body.data.products).to.have.length(100);
    expect(body.data.products[13]).to.deep.equal({
      seller: { nickName: 'Gandalf the Grey' },
      stock: { name: 'P3', count: 2 },
    });
    expect(asked.products).to.equal(1);
    expect(asked.stock).to.have.length(1);
    const [operation] = parse(asked.stock[0]!).definitions as any[];
    expect(operation.selectionSet.selections).to.have.length(10);
  });

  it('does not change a federation subgraph', async () => {
    const service = await ask('/stock', '{ _service { sdl } }');
    expect(service.body).to.deep.equal({
      data: { _service: { sdl: 'type Stock @key(fields: "name") { name: String }' } },
    });
    const query = 'query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Stock { name count } } }';
    const { body } = await ask('/stock', query, { r: [{ __typename: 'Stock', name: 'Ring' }] });
    expect(body).to.deep.equal({ data: { _entities: [{ __typename: 'Stock', name: 'Ring', count: 4 }] } });
  });
});

const stockOf = ({ name }: { name: string }) => ({ __typename: 'Stock', name, count: name.length });
const ROOT = {
  _service: { sdl: 'type Stock @key(fields: "name") { name: String }' },
  _entities: ({ representations }: { representations: { name: string }[] }) => representations.map(stockOf),
  stock: stockOf,
};
