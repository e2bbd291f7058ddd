import { expect } from 'chai';
import { graphqlApi } from '../../src/index.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';
import { rest, type Apis } from './parts.ts';

const PRODUCTS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { sellers(of: ID): [User] @resolve(name: "sellers") }
      type User { username: String name: String }`,
    executor: { local: { resolutions: { sellers: rest('/sellers/{$args.of}') } } },
  },
};
const USERS: Apis[string] = {
  executableSchema: {
    schemaDefinition: `
      type Query { user(name: String): User @resolve(name: "user") anyone(at: Int): String @resolve(name: "friend") }
      type User { full: String friend(at: Int): String @resolve(name: "friend") }`,
    executor: { local: { resolutions: { user: rest('/user/{$args.name}'), friend: rest('/friend/{$args.at}') } } },
  },
};
const MERGE = { User: { selectionSet: '{ username }', queryName: 'user', args: { name: 'username' } } };

describe('an operation that a stitched API gets again and again', () => {
  let backend: TestServer;
  let front: TestServer;
  before(async () => {
    const seller = (username: string) => ({ username, name: `name of ${username}` });
    const sellers = { '/sellers/1': [seller('frodo')], '/sellers/2': [seller('sam'), seller('frodo')] };
    backend = await serveJson({ ...sellers, '/friend/4': 'pippin', '/friend/5': 'merry' }, (req, res) =>
      res.end(JSON.stringify({ full: `full ${req.url!.slice('/user/'.length)}` })),
    );
    front = await serveHandler(
      graphqlApi({
        stitchedSchema: { subschemas: [{ name: 'products' }, { name: 'users', typeMerge: MERGE }] },
        apis: { products: PRODUCTS, users: USERS },
        upstreams: { backend: backend.url },
      }),
    );
  });
  after(async () => {
    await front.close();
    await backend.close();
  });

  async function sellers(query: string, variables: object): Promise<unknown> {
    const { body } = await ask(front.url, query, variables);
    expect(body.errors).to.equal(undefined);
    return body.data.sellers;
  }

  it('has each time the objects and values of its variables', async () => {
    const query = 'query ($of: ID, $at: Int) { sellers(of: $of) { full friend(at: $at) } }';
    for (let i = 0; i < 2; i++) {
      expect(await sellers(query, { of: 1, at: 4 })).to.deep.equal([{ full: 'full frodo', friend: 'pippin' }]);
      expect(await sellers(query, { of: 2, at: 5 })).to.deep.equal([
        { full: 'full sam', friend: 'merry' },
        { full: 'full frodo', friend: 'merry' },
      ]);
    }
  });

  it('has each time the fields that its directives leave', async () => {
    const query = 'query ($of: ID, $no: Boolean!) { sellers(of: $of) { name full @skip(if: $no) } }';
    for (const no of [true, false, true]) {
      const full = no ? {} : { full: 'full frodo' };
      expect(await sellers(query, { of: 1, no })).to.deep.equal([{ name: 'name of frodo', ...full }]);
    }
  });

  it('has the variables that it names like those of keys', async () => {
    for (const name of ['_key_0_name', '_key2_0_name', '_stitch_0_name']) {
      const query = `query ($of: ID, $${name}: Int) { sellers(of: $of) { friend(at: $${name}) } }`;
      expect(await sellers(query, { of: 1, [name]: 4 }), name).to.deep.equal([{ friend: 'pippin' }]);
    }
  });

  it('is not mixed up with another one of the same document', async () => {
    const text = `
      query A($at: Int = 4) { ...F }
      query B($at: Int = 5) { ...F }
      fragment F on Query { anyone(at: $at) }`;
    for (const [operationName, friend] of [
      ['A', 'pippin'],
      ['B', 'merry'],
      ['A', 'pippin'],
    ]) {
      const response = await fetch(front.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: text, operationName }),
      });
      expect(await response.json()).to.deep.equal({ data: { anyone: friend } });
    }
  });
});
