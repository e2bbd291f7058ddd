import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';

type Apis = NonNullable<GraphQLApiOptions['apis']>;

const mock = (syncResponse: unknown) => ({ mockResolver: { syncResponse } });
const failing = (errorResponse: string) => ({ mockResolver: { errorResponse } });

const SHOPS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query {
        shop: Shop @resolve(name: "shop")
        strict: Shop! @resolve(name: "none")
        odd: [User] @resolve(name: "odd")
        some: [User] @resolve(name: "some")
      }
      type Shop { name: String owner: User keeper: User broken: Broken strictly: [Broken!] }
      type Broken { text: String! @resolve(name: "failing") }
      type User { username: String @resolve(name: "username") fixed: String }`,
    executor: {
      local: {
        resolutions: {
          shop: mock({ name: 's', owner: { fixed: 'ann' }, keeper: { fixed: 'ann' }, broken: {}, strictly: [{}] }),
          none: mock(null),
          odd: mock([{ fixed: 'ann' }, { fixed: 'secret' }, { fixed: 'bob' }]),
          some: mock([{ fixed: 'ann' }, { fixed: 'eve' }, { fixed: 'bob' }]),
          username: {
            restResolver: { upstreamRef: { name: 'backend' }, request: { headers: { ':path': '/{$parent.fixed}' } } },
          },
          failing: failing('the shop is closed'),
        },
      },
    },
  },
};
const USERS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { user(name: String!): User @resolve(name: "user") }
      type User { full: String must: String! @resolve(name: "failing") friend: Friend }
      type Friend { must: String! @resolve(name: "failing") }`,
    executor: { local: { resolutions: { user: mock({ full: 'Full', friend: {} }), failing: failing('no such') } } },
  },
};
const MERGE = { User: { selectionSet: '{ username }', queryName: 'user', args: { name: 'username' } } };

const HOMES: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { inhabitant(name: String!): User! @resolve(name: "inhabitant") }
      type User { home: String }`,
    executor: {
      local: {
        resolutions: {
          inhabitant: {
            restResolver: {
              upstreamRef: { name: 'backend' },
              request: { headers: { ':path': '/homes/{$args.name}' } },
            },
          },
        },
      },
    },
  },
};
const HOME = { User: { selectionSet: '{ username }', queryName: 'inhabitant', args: { name: 'username' } } };

/** The errors of an answer, without what depends on the run. */
function told({ errors }: { errors?: { message: string; path: unknown }[] }): [string, unknown][] {
  return (errors ?? []).map(({ message, path }) => [message, path]);
}

describe('errors of joined APIs', () => {
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    const homes = { '/homes/ann': { home: 'hers' }, '/homes/bob': { home: 'his' } };
    backend = await serveJson({ '/ann': 'ann', '/bob': 'bob', '/eve': 'eve', ...homes });
    front = await serveHandler(
      graphqlApi({
        stitchedSchema: {
          subschemas: [{ name: 'shops' }, { name: 'users', typeMerge: MERGE }, { name: 'homes', typeMerge: HOME }],
        },
        apis: { shops: SHOPS, users: USERS, homes: HOMES },
        upstreams: { backend: backend.url },
      }),
    );
  });
  after(async () => {
    await front.close();
    await backend.close();
  });

  it('have the path of their field, even if an enclosing object is null', async () => {
    const { body } = await ask(front.url, '{ s: shop { name b: broken { t: text } strictly { text } } }');
    expect(body.data).to.deep.equal({ s: { name: 's', b: null, strictly: null } });
    expect(told(body)).to.have.deep.members([
      ['the shop is closed', ['s', 'b', 't']],
      ['the shop is closed', ['s', 'strictly', 0, 'text']],
    ]);
    const joined = await ask(front.url, '{ shop { owner { full friend { must } } } }');
    expect(joined.body.data).to.deep.equal({ shop: { owner: { full: 'Full', friend: null } } });
    expect(told(joined.body)).to.deep.equal([['no such', ['shop', 'owner', 'friend', 'must']]]);
  });

  it('have it, even if the whole result is null', async () => {
    const { body } = await ask(front.url, '{ shop { name } strict { name } }');
    expect(body.data).to.equal(null);
    expect(told(body)).to.deep.include(['Cannot return null for non-nullable field Query.strict.', ['strict']]);
  });

  it('of an object in one place do not affect its other selections', async () => {
    const { body } = await ask(front.url, '{ shop { owner { full } keeper { must } } }');
    expect(body.data).to.deep.equal({ shop: { owner: { full: 'Full' }, keeper: null } });
    expect(told(body)).to.deep.equal([['no such', ['shop', 'keeper', 'must']]]);
  });

  it('of one required object do not affect the others of its list', async () => {
    const { body } = await ask(front.url, '{ some { username home } }');
    expect(body.data.some).to.deep.equal([
      { username: 'ann', home: 'hers' },
      { username: 'eve', home: null },
      { username: 'bob', home: 'his' },
    ]);
    expect(told(body)).to.deep.equal([['A field could not be resolved.', ['some', 1, 'home']]]);
  });

  it('of the key of one object do not affect the fields of others', async () => {
    const { body } = await ask(front.url, '{ odd { full } }');
    expect(body.data).to.deep.equal({ odd: [{ full: 'Full' }, { full: null }, { full: 'Full' }] });
    expect(told(body)).to.deep.equal([['A field could not be resolved.', ['odd', 1, 'full']]]);
  });
});
