import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';
import { rest, type Apis } from './parts.ts';

const PRODUCTS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      interface Named { name: String }
      type Query { seller: User @resolve(name: "seller") sellers: [User] @resolve(name: "sellers") named: Named @resolve(name: "seller") }
      type User implements Named { username: String name: String }
      type Shop implements Named { name: String }
      type Firm implements Named { name: String }`,
    executor: { local: { resolutions: { seller: rest('/seller'), sellers: rest('/sellers') } } },
  },
};
const USERS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      interface Known { home: String }
      type Query { user(name: String): User @resolve(name: "user") }
      type User implements Known { full: String home: String boss: Boss }
      type Shop implements Known { home: String }
      type Firm implements Known { home: String }
      type Boss { name: String age: Int }`,
    executor: { local: { resolutions: { user: rest('/user/{$args.name}') } } },
  },
};
const REMOTE: Apis[string] = {
  executableSchema: {
    schemaDefinition: 'type Query { news: String other: String }',
    executor: { remote: { upstreamRef: { name: 'backend' } } },
  },
};
const MERGE = { User: { selectionSet: '{ username }', queryName: 'user', args: { name: 'username' } } };

describe('selections of a stitched API', () => {
  let backend: TestServer;
  let front: TestServer;
  let answer: object = {};

  before(async () => {
    const many = Array.from({ length: 1200 }, (_, i) => ({ __typename: 'User', username: `u${i}`, name: 'n' }));
    const known = { '/seller': { __typename: 'User', username: 'frodo', name: 'sauron' }, '/sellers': many };
    backend = await serveJson(known, (req, res) => {
      const user = req.url!.slice('/user/'.length);
      const found = { full: `full ${user}`, home: `home of ${user}`, boss: { name: `boss of ${user}`, age: 7 } };
      res.end(JSON.stringify(req.method === 'POST' ? answer : found));
    });
    front = await serveHandler(
      graphqlApi({
        stitchedSchema: {
          subschemas: [{ name: 'products' }, { name: 'users', typeMerge: MERGE }, { name: 'remote' }],
        },
        apis: { products: PRODUCTS, users: USERS, remote: REMOTE },
        upstreams: { backend: backend.url },
      }),
    );
  });
  after(async () => {
    await front.close();
    await backend.close();
  });

  it('an alias does not replace a key', async () => {
    for (const alias of ['_key_username', '_key2_username']) {
      const { body } = await ask(front.url, `{ seller { ${alias}: name full } }`);
      expect(body, alias).to.deep.equal({ data: { seller: { [alias]: 'sauron', full: 'full frodo' } } });
    }
    const { body } = await ask(front.url, '{ seller { _key_username: name _key2_username: name full } }');
    expect(body.data.seller.full).to.equal('full frodo');
  });

  it('the same object in two places has the selection of each, under the same alias', async () => {
    const { body } = await ask(
      front.url,
      '{ a: seller { x: full } b: seller { x: home } c: seller { x: full x_2: home } }',
    );
    expect(body).to.deep.equal({
      data: { a: { x: 'full frodo' }, b: { x: 'home of frodo' }, c: { x: 'full frodo', x_2: 'home of frodo' } },
    });
  });

  it('a fragment in two places keeps the sibling selections of each', async () => {
    const { body } = await ask(
      front.url,
      '{ a: seller { ...F } b: seller { ...F boss { age } } } fragment F on User { boss { name } }',
    );
    const name = 'boss of frodo';
    expect(body).to.deep.equal({ data: { a: { boss: { name } }, b: { boss: { name, age: 7 } } } });
  });

  it('fragments of a type that one API does not know do not multiply', async () => {
    const nested = `${'... on Known { ... on Named {'.repeat(40)} name ${'} }'.repeat(40)}`;
    const { body } = await ask(front.url, `{ named { ${nested} } seller { home } }`);
    expect(body).to.deep.equal({ data: { named: { name: 'sauron' }, seller: { home: 'home of frodo' } } });
  });

  it('all requests of one operation have the bound of one operation', async () => {
    backend.asked.length = 0;
    const { body } = await ask(front.url, '{ sellers { full } }');
    expect(backend.asked).to.have.length(1000);
    const failed = body.data.sellers.filter(({ full }: { full: unknown }) => full === null);
    expect(failed).to.have.length(201);
    expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_LIMIT');
  });

  it('errors of a server without a path are returned too', async () => {
    answer = { data: { _0: null, _1: 'x' }, errors: [{ message: 'no news' }, { message: 'late', path: ['_1'] }] };
    const { body } = await ask(front.url, '{ news other seller { name } }');
    expect(body.data).to.deep.equal({ news: null, other: 'x', seller: { name: 'sauron' } });
    expect(body.errors).to.deep.equal([{ message: 'no news' }, { message: 'late' }]);
  });
});
