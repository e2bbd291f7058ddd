import { makeExecutableSchema } from '@graphql-tools/schema';
import { expect } from 'chai';
import { ExecutionStopped, ResultSize } from '../../src/execute/result-size.ts';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';
import { events } from '../serve/parts.ts';

const NODE = '  type Node { id: ID nodes: [Node!] text: String tree: Tree }';
const TYPES = `
  scalar Tree
  type Query { node: Node hello: String numbers: [Int] }
  type Subscription { node: Node }
${NODE}
`;

function nested(levels: number, leaf = 'id'): string {
  return `node ${'{ nodes '.repeat(levels)}{ ${leaf} }${' }'.repeat(levels)}`;
}

/** Lists of three, within each other. */
const node: Record<string, unknown> = { id: '1', text: 'x'.repeat(1000), tree: { list: ['x'.repeat(1000)] } };
node['nodes'] = [node, node, node];
const typeDefs = TYPES;
const numbers = {
  *[Symbol.iterator]() {
    for (;;) yield 1;
  },
};
const schema = makeExecutableSchema({
  typeDefs,
  resolvers: {
    Query: { node: () => node, hello: () => 'hello', numbers: () => numbers },
    Subscription: {
      node: {
        async *subscribe() {
          yield { node };
          yield { node: { id: '2', nodes: [] } };
        },
      },
    },
  },
});

describe('the size of a result', () => {
  const opened: TestServer[] = [];
  const serve = async (options: GraphQLApiOptions): Promise<string> => {
    const server = await serveHandler(graphqlApi(options));
    opened.push(server);
    return server.url;
  };
  afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

  const FIELDS = 'The result has more than 1000 fields and list items.';
  const BYTES = 'The result is larger than 20000 bytes.';

  /** Expects the only error of an operation. */
  async function expectStopped(url: string, query: string, message: string): Promise<void> {
    const { status, body } = await ask(url, query);
    expect(status).to.equal(200);
    expect(body.errors.map((each: any) => [each.message, each.extensions.code])).to.deep.equal([
      [message, 'ERR_GRAPHQL_LIMIT'],
    ]);
    // A joined API reports it at the root field.
    expect(body.data?.node ?? null).to.equal(null);
  }

  async function restUrl(limits: GraphQLApiOptions['limits']): Promise<string> {
    const backend = await serveJson({
      '/node': { ...node, nodes: Array.from({ length: 3 }, () => ({ id: '1', text: 'x'.repeat(1000) })) },
    });
    opened.push(backend);
    const restResolver = { upstreamRef: { name: 'a' }, timeout: '30s', request: { headers: { ':path': '/node' } } };
    return serve({
      schemaDefinition: `
        scalar Tree
        type Query { node: Node @resolve(name: "node") }
        type Node { id: ID nodes: [Node!] @resolve(name: "nodes") text: String tree: Tree }
      `,
      resolutions: {
        node: { restResolver },
        nodes: { restResolver: { ...restResolver, response: { resultRoot: 'nodes' } } },
      },
      upstreams: { a: backend.url },
      ...(limits && { limits }),
    });
  }

  const executors = {
    'of REST services': restUrl,
    'of a schema of your own': (limits: GraphQLApiOptions['limits']) => serve({ schema, ...(limits && { limits }) }),
    async 'of a remote server'(limits: GraphQLApiOptions['limits']) {
      const remote = await serve({ schema });
      const remoteOptions = { remote: { upstreamRef: { name: 'a' } }, upstreams: { a: remote } };
      return serve({ schemaDefinition: TYPES, ...remoteOptions, ...(limits && { limits }) });
    },
    async 'of a joined API'(limits: GraphQLApiOptions['limits']) {
      const remote = await serve({ schema });
      const executor = { remote: { upstreamRef: { name: 'a' } } };
      return serve({
        stitchedSchema: { subschemas: [{ name: 'one' }] },
        apis: { one: { executableSchema: { schemaDefinition: TYPES.replace(/type Subscription.*/, ''), executor } } },
        upstreams: { a: remote },
        ...(limits && { limits }),
      });
    },
  };
  for (const [name, urlOf] of Object.entries(executors)) {
    it(`${name} is bounded in bytes`, async () => {
      const url = await urlOf({ maxResultBytes: 20_000 });
      await expectStopped(url, `{ ${nested(3, 'text')} }`, BYTES);
      const { body } = await ask(url, `{ ${nested(1, 'id')} }`);
      expect(body.data.node.nodes).to.have.length(3);
    });
    if (name.includes('remote')) continue;
    it(`${name} is bounded in fields and list items`, async () => {
      const url = await urlOf({ maxResultFields: 1000 });
      await expectStopped(url, `{ ${nested(6)} }`, FIELDS);
      const { body } = await ask(url, `{ ${nested(1, 'id')} }`);
      expect(body.data.node.nodes).to.have.length(3);
    });
  }

  it('counts the values of custom scalars', async () => {
    const query = `{ ${nested(3, 'tree')} }`;
    await expectStopped(await serve({ schema, limits: { maxResultBytes: 20_000 } }), query, BYTES);
    await expectStopped(
      await restUrl({ maxResultBytes: 500 }),
      '{ node { tree } }',
      'The result is larger than 500 bytes.',
    );
  });

  it('counts bytes, not characters', async () => {
    const own = makeExecutableSchema({
      typeDefs: 'type Query { text: String }',
      resolvers: { Query: { text: () => 'ä'.repeat(600) } },
    });
    const url = await serve({ schema: own, limits: { maxResultBytes: 1000 } });
    await expectStopped(url, '{ text }', 'The result is larger than 1000 bytes.');
  });

  it('bounds endless iterables', async () => {
    await expectStopped(await serve({ schema, limits: { maxResultFields: 1000 } }), '{ numbers }', FIELDS);
  });

  it('is unbounded for 0', async () => {
    const url = await serve({ schema, limits: { maxResultFields: 0, maxResultBytes: 0 } });
    const { body } = await ask(url, `{ ${nested(7)} }`);
    expect(JSON.stringify(body.data).match(/"id"/g)).to.have.length(3 ** 7);
  });

  it('of an event is bounded; later events are delivered', async () => {
    const url = await serve({ schema, limits: { maxResultFields: 1000 } });
    const { results, complete } = await events(url, `subscription { ${nested(6)} }`);
    expect(results.map((each) => each.errors?.[0].message ?? each.data)).to.deep.equal([
      FIELDS,
      { node: { nodes: [] } },
    ]);
    expect(complete).to.equal(true);
  });

  describe('of a large operation', () => {
    const LARGE = `{ ${nested(10)} }`;
    const unlimited = { maxResultFields: 0, maxResultBytes: 0 };

    it('is completed while others are served', async () => {
      const url = await serve({ schema, limits: unlimited });
      const state = { isOver: false };
      const large = ask(url, LARGE).then(() => (state.isOver = true));
      let served = 0;
      for (; !state.isOver; served++) expect((await ask(url, '{ hello }')).body.data).to.deep.equal({ hello: 'hello' });
      await large;
      expect(served).to.be.greaterThan(3);
    });

    it('is the same as in one turn', async () => {
      const url = await serve({ schema, limits: unlimited });
      const [large, small] = await Promise.all([ask(url, LARGE), ask(url, `{ ${nested(2)} }`)]);
      const inner = { nodes: [{ id: '1' }, { id: '1' }, { id: '1' }] };
      expect(small.body.data.node).to.deep.equal({ nodes: [inner, inner, inner] });
      expect(JSON.stringify(large.body.data).match(/"id":"1"/g)).to.have.length(3 ** 10);
    });

    it('ends with its timeout', async () => {
      const url = await serve({ schema, limits: { ...unlimited, operationTimeoutMs: 30 } });
      const { body } = await ask(url, LARGE);
      expect([body.data, body.errors[0].extensions.code]).to.deep.equal([null, 'ERR_GRAPHQL_TIMEOUT']);
    });
  });
});

describe('the count of a result', () => {
  it('may reach its limits, and not exceed them', () => {
    const counted = (): ResultSize => {
      const size = new ResultSize({ maxResultFields: 3, maxResultBytes: 10 });
      size.add(2, 10);
      size.check(1);
      return size;
    };
    expect(() => counted().check(2)).to.throw(ExecutionStopped, '3 fields');
    expect(() => counted().add(2, 0)).to.throw(ExecutionStopped, '3 fields');
    expect(() => counted().add(0, 1)).to.throw(ExecutionStopped);
    counted().add(1, 0);
  });
});
