import { createContext } from '@edge-gateway/core';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { SCHEMA_AGE_MS } from '../../src/remote/followed-schema.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';
import { until } from '../serve/parts.ts';

type Apis = NonNullable<GraphQLApiOptions['apis']>;

const PRODUCTS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { GetProduct(id: ID): Product @resolve(name: "one") products: [Product] @resolve(name: "all") }
      type Mutation { rename(id: ID, name: String): Product @resolve(name: "rename") }
      type Product { id: ID name: String seller: User }
      type User { username: String }`,
    executor: {
      local: {
        enableIntrospection: true,
        resolutions: {
          one: rest('/product/{$args.id}'),
          all: rest('/products'),
          rename: { mockResolver: { syncResponse: { id: '9', name: 'new', seller: { username: 'sam' } } } },
        },
      },
    },
  },
};
const USERS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { GetUser(user_search: UserSearch): User @resolve(name: "user") me: User @resolve(name: "me") }
      input UserSearch { username: String }
      type User { username: String fullName: String userId: Int friends(first: Int): [User] }`,
    executor: {
      local: {
        enableIntrospection: true,
        resolutions: {
          user: rest('/user/{$args.user_search.username}'),
          me: { mockResolver: { syncResponse: { username: 'me', fullName: 'Me', friends: [{ username: 'frodo' }] } } },
        },
      },
    },
  },
};
/** Knows users by their number only. */
const RATINGS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { rated(id: Int): User @resolve(name: "rated") }
      type User { userId: Int stars: Int }`,
    executor: { local: { resolutions: { rated: rest('/rated/{$args.id}') } } },
  },
};

function rest(path: string) {
  return {
    restResolver: { upstreamRef: { name: 'backend' }, timeout: '30s', request: { headers: { ':path': path } } },
  };
}

const USER_MERGE = {
  User: { selectionSet: '{ username }', queryName: 'GetUser', args: { 'user_search.username': 'username' } },
};
const JOINED: NonNullable<GraphQLApiOptions['stitchedSchema']> = {
  subschemas: [
    { name: 'products' },
    { name: 'users', typeMerge: USER_MERGE },
    {
      name: 'ratings',
      typeMerge: { User: { selectionSet: '{ userId }', queryName: 'rated', args: { id: 'userId' } } },
    },
  ],
};
const APIS: Apis = { products: PRODUCTS, users: USERS, ratings: RATINGS };

describe('a stitched API', () => {
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    backend = await serveJson({
      '/product/1': { id: '1', name: 'Ring', seller: { username: 'frodo' } },
      '/product/2': { id: '2', name: 'Rope', seller: { username: 'nobody' } },
      '/product/3': { id: '3', name: 'Pan', seller: null },
      '/products': Array.from({ length: 100 }, (_, i) => ({
        id: `${i}`,
        name: `P${i}`,
        seller: { username: i % 2 ? 'sam' : 'frodo' },
      })),
      '/user/frodo': {
        username: 'frodo',
        fullName: 'Frodo Baggins',
        userId: 2,
        friends: [{ username: 'sam', fullName: 'Sam' }],
      },
      '/user/sam': { username: 'sam', fullName: 'Samwise Gamgee', userId: 3 },
      '/rated/2': { userId: 2, stars: 5 },
      '/rated/3': { userId: 3, stars: 4 },
    });
    front = await serveHandler(graphqlApi({ stitchedSchema: JOINED, apis: APIS, upstreams: { backend: backend.url } }));
  });
  after(async () => {
    await front.close();
    await backend.close();
  });
  beforeEach(() => void backend.asked.splice(0));

  it('returns a product with its seller from the user API', async () => {
    const { body } = await ask(front.url, '{ GetProduct(id: 1) { name seller { username fullName userId } } }');
    expect(body).to.deep.equal({
      data: { GetProduct: { name: 'Ring', seller: { username: 'frodo', fullName: 'Frodo Baggins', userId: 2 } } },
    });
    expect(backend.asked).to.deep.equal(['GET /product/1', 'GET /user/frodo']);
  });

  it('requests only selected fields', async () => {
    await ask(front.url, '{ GetProduct(id: 1) { name seller { username } } }');
    expect(backend.asked).to.deep.equal(['GET /product/1']);
  });

  it('requests the sellers of a hundred products in one operation, each seller once', async () => {
    const { body } = await ask(front.url, '{ products { seller { fullName } } }');
    expect(body.data.products).to.have.lengthOf(100);
    expect(body.data.products[99]).to.deep.equal({ seller: { fullName: 'Samwise Gamgee' } });
    expect(backend.asked).to.deep.equal(['GET /products', 'GET /user/frodo', 'GET /user/sam']);
  });

  it('finds a key over a third API', async () => {
    const { body } = await ask(front.url, '{ GetProduct(id: 1) { seller { stars } } }');
    expect(body).to.deep.equal({ data: { GetProduct: { seller: { stars: 5 } } } });
  });

  it('keeps aliases, arguments, variables, directives and fragments', async () => {
    const query = `query ($first: Int, $yes: Boolean!, $id: ID) {
      a: GetProduct(id: $id) { ...P b: seller { ... on User { n: fullName } friends(first: $first) { fullName } s: stars @skip(if: $yes) } }
      me { __typename fullName }
    } fragment P on Product { title: name }`;
    const { body } = await ask(front.url, query, { first: 1, yes: true, id: '1' });
    expect(body).to.deep.equal({
      data: {
        a: { title: 'Ring', b: { n: 'Frodo Baggins', friends: [{ fullName: 'Sam' }] } },
        me: { __typename: 'User', fullName: 'Me' },
      },
    });
  });

  it('rejects variables and conditions that do not fit as a local API does', async () => {
    const query =
      'query ($first: Int, $yes: Boolean = true) { me { friends(first: $first) { username } fullName @skip(if: $yes) } }';
    for (const variables of [{ first: 'many' }, { yes: null }]) {
      backend.asked.length = 0;
      const { status, body } = await ask(front.url, query, variables);
      expect(status).to.equal(400);
      expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_VARIABLES');
      expect(body).not.to.have.property('data');
      expect(backend.asked).to.deep.equal([]);
    }
  });

  it('returns null for an unknown seller, with the error and its path', async () => {
    const { body } = await ask(front.url, '{ GetProduct(id: 2) { name seller { username fullName } } }');
    expect(body.data).to.deep.equal({ GetProduct: { name: 'Rope', seller: { username: 'nobody', fullName: null } } });
    expect(body.errors[0].path).to.deep.equal(['GetProduct', 'seller', 'fullName']);
    expect(JSON.stringify(body.errors)).to.not.include('backend');
  });

  it('returns null if there is no seller', async () => {
    const { body } = await ask(front.url, '{ GetProduct(id: 3) { seller { fullName } } }');
    expect(body).to.deep.equal({ data: { GetProduct: { seller: null } } });
  });

  it('completes the result of a mutation by queries', async () => {
    const { body } = await ask(front.url, 'mutation { rename(id: 9, name: "new") { name seller { fullName } } }');
    expect(body).to.deep.equal({ data: { rename: { name: 'new', seller: { fullName: 'Samwise Gamgee' } } } });
  });

  it('rejects unknown fields', async () => {
    const { status } = await ask(front.url, '{ GetProduct(id: 1) { nothing } }');
    expect(status).to.equal(400);
  });

  it('allows introspection only if every joined API does', async () => {
    const query = '{ __type(name: "User") { fields { name } } }';
    expect((await ask(front.url, query)).status).to.equal(400);
    const open = await serveHandler(
      graphqlApi({ stitchedSchema: { subschemas: [{ name: 'products' }, { name: 'users' }] }, apis: APIS }),
    );
    const { body } = await ask(open.url, query);
    await open.close();
    expect(body.data.__type.fields.map(({ name }: { name: string }) => name)).to.deep.equal([
      'username',
      'fullName',
      'userId',
      'friends',
    ]);
  });

  it('joins remote APIs whose schema is not written down', async () => {
    const remote = await serveHandler(graphqlApi({ ...localOf(USERS), upstreams: { backend: backend.url } }));
    const joined = await serveHandler(
      graphqlApi({
        stitchedSchema: { subschemas: [{ name: 'products' }, { name: 'users', typeMerge: USER_MERGE }] },
        apis: {
          products: PRODUCTS,
          users: { executableSchema: { executor: { remote: { upstreamRef: { name: 'users' } } } } },
        },
        upstreams: { backend: backend.url, users: remote.url },
      }),
    );
    const { body } = await ask(joined.url, '{ products { seller { fullName } } }');
    expect(body.data.products[0]).to.deep.equal({ seller: { fullName: 'Frodo Baggins' } });
    expect(remote.asked).to.have.lengthOf(2);
    await joined.close();
    await remote.close();
  });

  it('applies additions to the schema of a joined server when it is read again', async () => {
    let now = 0;
    const usersWith = (definition: string, age?: number) => {
      const me = { mockResolver: { syncResponse: { username: 'frodo', ...(age && { age }) } } };
      const executor = { local: { enableIntrospection: true, resolutions: { me } } };
      return graphqlApi(localOf({ executableSchema: { schemaDefinition: definition, executor } }));
    };
    const before = 'type Query { me(username: String): User @resolve(name: "me") } type User { username: String }';
    let users = usersWith(before);
    const remote = await serveHandler((req, res, next) => users(req, res, next));
    const merge = { User: { selectionSet: '{ username }', queryName: 'me', args: { username: 'username' } } };
    const handler = graphqlApi(
      {
        stitchedSchema: { subschemas: [{ name: 'products' }, { name: 'users', typeMerge: merge }] },
        apis: {
          products: PRODUCTS,
          users: { executableSchema: { executor: { remote: { upstreamRef: { name: 'users' } } } } },
        },
        upstreams: { backend: backend.url, users: remote.url },
      },
      createContext({ now: () => now }),
    );
    const joined = await serveHandler(handler);
    const query = '{ oldest: me { age } GetProduct(id: 1) { seller { age } } }';
    try {
      expect((await ask(joined.url, '{ me { username } }')).body.data.me).to.deep.equal({ username: 'frodo' });
      expect((await ask(joined.url, query)).status).to.equal(400);
      users = usersWith(before.replace('username: String }', 'username: String age: Int }'), 111);
      now += SCHEMA_AGE_MS + 1;
      await until(async () => (await ask(joined.url, query)).status === 200, 'the added field');
      const { body } = await ask(joined.url, query);
      expect(body).to.deep.equal({ data: { oldest: { age: 111 }, GetProduct: { seller: { age: 111 } } } });
    } finally {
      await handler.close?.();
      await joined.close();
      await remote.close();
    }
  });

  const wrong: Record<string, NonNullable<NonNullable<GraphQLApiOptions['stitchedSchema']>['subschemas']>> = {
    'no subschemas': [],
    'an unknown API': [{ name: 'none' }],
    'an unknown type': [{ name: 'users', typeMerge: { Nobody: {} } }],
    'an unknown query': [{ name: 'users', typeMerge: { User: { ...USER_MERGE.User, queryName: 'none' } } }],
    'an unknown argument': [{ name: 'users', typeMerge: { User: { ...USER_MERGE.User, args: { none: 'username' } } } }],
    'a key that is not selected': [
      { name: 'users', typeMerge: { User: { ...USER_MERGE.User, args: { 'user_search.username': 'id' } } } },
    ],
    'a selection that is none': [{ name: 'users', typeMerge: { User: { ...USER_MERGE.User, selectionSet: 'x {' } } }],
    'no arguments': [{ name: 'users', typeMerge: { User: { ...USER_MERGE.User, args: {} } } }],
  };
  for (const [name, subschemas] of Object.entries(wrong)) {
    it(`rejects ${name}`, () => {
      expect(() => graphqlApi({ stitchedSchema: { subschemas }, apis: APIS }))
        .to.throw()
        .with.property('code', 'ERR_GRAPHQL_API');
    });
  }
});

function localOf({ executableSchema }: Apis[string]): GraphQLApiOptions {
  const { schemaDefinition, executor } = executableSchema!;
  return {
    schemaDefinition,
    resolutions: executor!.local!.resolutions,
    enableIntrospection: true,
    limits: { maxAliases: 0, maxRootFields: 0, maxTokens: 0 },
  };
}
