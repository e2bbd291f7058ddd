import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { buildSchema, getIntrospectionQuery, graphql } from 'graphql';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { ask, serve, serveHandler } from '../servers.ts';

/** What the server has, and what of it clients may see. */
const WHOLE = buildSchema(`
  type Query { book(id: ID): Book secret: String find(by: Filter): String }
  type Book { id: ID title: String price: Int }
  input Filter { title: String owner: Secret }
  input Secret { name: String }
`);
const DECLARED = `
  type Query { book(id: ID): Book find(by: Filter): String }
  type Book { id: ID title: String }
  input Filter { title: String }
`;

describe('questions about the schema of a remote API', () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).toReversed()) await each.close();
  });

  async function start(enableIntrospection?: boolean, more: Partial<GraphQLApiOptions> = {}) {
    const queries: { query: string; variables?: Record<string, unknown> }[] = [];
    const server = await serve(async (req, res) => {
      const { query, variables } = (await json(req)) as (typeof queries)[number];
      queries.push({ query, ...(variables && { variables }) });
      const rootValue = { book: { id: 1, title: 'T', price: 7 }, secret: 's', find: 'found' };
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(await graphql({ schema: WHOLE, source: query, rootValue, variableValues: variables })));
    });
    const remote = {
      upstreamRef: { name: 'books' },
      ...(enableIntrospection !== undefined && { enableIntrospection }),
    };
    const handler = graphqlApi({
      schemaDefinition: DECLARED,
      remote,
      upstreams: { books: server.url },
      limits: { maxTokens: 2000 },
      ...more,
    });
    const front = await serveHandler(handler);
    open.push(server, front, { close: async () => handler.close?.() });
    return { queries, ask: (query: string, variables?: Record<string, unknown>) => ask(front.url, query, variables) };
  }

  for (const query of [
    getIntrospectionQuery(),
    '{ __schema { types { name } } }',
    '{ __type(name: "Book") { name } }',
  ]) {
    it(`are rejected unless they are enabled: ${query.slice(0, 40).trim()}`, async () => {
      const { ask, queries } = await start();
      const { status, body } = await ask(query);
      expect(status).to.equal(400);
      expect(body.data).to.equal(undefined);
      expect(queries).to.deep.equal([]);
    });
  }

  it('are answered from the declared schema, without a request to the server', async () => {
    const { ask, queries } = await start(true);
    const { body } = await ask(getIntrospectionQuery());
    const types = body.data.__schema.types as { name: string; fields?: { name: string }[]; inputFields?: object[] }[];
    expect(types.map(({ name }) => name))
      .to.include('Book')
      .and.not.include('Secret');
    expect(types.find(({ name }) => name === 'Query')!.fields!.map(({ name }) => name)).to.deep.equal(['book', 'find']);
    expect(types.find(({ name }) => name === 'Book')!.fields!.map(({ name }) => name)).to.deep.equal(['id', 'title']);
    expect(queries).to.deep.equal([]);
  });

  it('are combined with fields of the server, in the order of the query', async () => {
    const { ask, queries } = await start(true);
    const query = `
      query Q($type: String!, $id: ID, $skipped: Boolean!) {
        kind: __typename
        ...Questions
        book(id: $id) { ...B }
        gone: __schema @skip(if: $skipped) { types { name } }
      }
      fragment Questions on Query { a: __type(name: $type) { ...T } }
      fragment T on __Type { name fields { name } }
      fragment B on Book { title }
    `;
    const { body } = await ask(query, { type: 'Book', id: '1', skipped: true });
    expect(JSON.stringify(body)).to.equal(
      JSON.stringify({
        data: {
          kind: 'Query',
          a: { name: 'Book', fields: [{ name: 'id' }, { name: 'title' }] },
          book: { title: 'T' },
        },
      }),
    );
    expect(queries).to.have.length(1);
    expect(queries[0]!.query).to.not.match(/__schema \{|__type\(|\$type|fragment T /);
  });

  it('return null for a hidden type, and resolve __typename', async () => {
    const { ask, queries } = await start(true);
    const { body } = await ask(
      '{ __typename hidden: __type(name: "Secret") { name } shown: __type(name: "Book") { name } }',
    );
    expect(body).to.deep.equal({ data: { __typename: 'Query', hidden: null, shown: { name: 'Book' } } });
    expect(queries).to.deep.equal([]);
  });

  it('keep the result of the server null if it has none', async () => {
    const { ask } = await start(true, { schemaDefinition: 'type Query { book: String lost: String! }' });
    const { body } = await ask('{ lost __schema { queryType { name } } }');
    expect(body.data ?? null).to.equal(null);
    expect(body.errors[0]).to.not.have.property('locations');
  });

  it('do not reach hidden input fields by variables', async () => {
    const { ask, queries } = await start();
    const query = 'query ($by: Filter) { find(by: $by) }';
    const { body, status } = await ask(query, { by: { title: 't', owner: { name: 'n' } } });
    expect(status).to.equal(400);
    expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_VARIABLES');
    expect(JSON.stringify(body)).to.not.include('Secret');
    expect(queries).to.deep.equal([]);
    expect((await ask(query, { by: { title: 't' } })).body).to.deep.equal({ data: { find: 'found' } });
  });

  for (const [enabled, status] of [
    [true, 200],
    [false, 400],
  ] as const) {
    it(`of a joined API are answered only if all joined APIs enable introspection, ${enabled}`, async () => {
      const spec = (enableIntrospection: boolean) => ({
        executableSchema: {
          schemaDefinition: DECLARED,
          executor: { remote: { upstreamRef: { name: 'books' }, enableIntrospection } },
        },
      });
      const { ask, queries } = await start(undefined, {
        schemaDefinition: undefined,
        remote: undefined,
        stitchedSchema: { subschemas: [{ name: 'a' }, { name: 'b' }] },
        apis: { a: spec(true), b: spec(enabled) },
      });
      const { body, status: answered } = await ask('{ __type(name: "Book") { fields { name } } }');
      expect(answered).to.equal(status);
      if (enabled) expect(body.data.__type.fields).to.deep.equal([{ name: 'id' }, { name: 'title' }]);
      expect(queries).to.deep.equal([]);
    });
  }
});
