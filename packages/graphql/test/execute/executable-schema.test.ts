import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { execute, parse, printSchema, type GraphQLSchema } from 'graphql';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { readSchema } from '../../src/schema/read-schema.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';

/** Its types bring those of browsers, which contradict those of Node: no import that the compiler follows. */
const YOGA: string = 'graphql-yoga';
const { createYoga } = (await import(YOGA)) as { createYoga(options: object): RequestListener };

const SCHEMA = `
  "What there is." union Found = Book | Author
  interface Named { name: String }
  enum Kind { NOVEL PLAY }
  scalar Json
  type Query {
    books(kind: Kind = PLAY): [Book!] @resolve(name: "books") @cacheControl(maxAge: 5)
    book(id: ID!): Book @resolve(name: "book")
    found: [Found] @resolve(name: "found")
    mine: String @resolve(name: "mine")
    values: Values @resolve(name: "values")
    failing: String @resolve(name: "failing")
    strict: Strict @resolve(name: "strict")
  }
  type Mutation { first: Int @resolve(name: "count") second: Int @resolve(name: "count") }
  type Strict { must: Int! }
  type Book implements Named { id: ID! name: String kind: Kind toString: String reviews: [Review!] @resolve(name: "reviews") }
  type Author implements Named { name: String }
  type Review { text: String stars: Int }
  type Values { int: Int texts: [String] matrix: [[Int!]] any: Json wrong: Author many: [Author] id: ID }
`;
const upstreamRef = { name: 'backend' };
const rest = (path: string, response?: object) => ({
  restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': path } }, ...(response && { response }) },
});
const options = {
  schemaDefinition: SCHEMA,
  enableIntrospection: true,
  limits: { maxUpstreamCalls: 4 },
  resolutions: {
    books: rest('/books?kind={$args.kind}'),
    book: rest('/books/{$args.id}'),
    found: rest('/found'),
    mine: rest('/for/{$headers.x-user}', { resultRoot: 'name' }),
    values: rest('/values'),
    count: rest('/count'),
    reviews: rest('/reviews/{$parent.id}'),
    failing: { mockResolver: { errorResponse: 'on purpose' } },
    strict: { mockResolver: { asyncResponse: { response: { must: 'x' }, delay: '0s' } } },
  },
} satisfies GraphQLApiOptions;
const BOOKS: readonly object[] = [
  { id: 1, name: 'One', kind: 'PLAY' },
  { id: 2, name: 'Two', kind: 'OTHER', toString: 'text' },
  { id: 3, name: 3 },
];
const QUERIES = {
  'nested resolvers and arguments': '{ books(kind: NOVEL) { id name kind toString reviews { text stars } } }',
  'a default value and an alias': '{ plays: books { id } }',
  'abstract types': '{ found { __typename ... on Book { id } ... on Named { name } } }',
  'values that do not fit': '{ values { int texts matrix any wrong { name } many { name } id } }',
  'errors of resolvers, and a null that goes up': '{ failing strict { must } book(id: "none") { id } }',
  'more requests than allowed':
    '{ a: book(id: 1) { id } b: book(id: 2) { id } c: book(id: 3) { id } d: book(id: 4) { id } e: book(id: 5) { id } }',
  introspection: '{ __type(name: "Book") { fields { name type { kind ofType { name } } } } }',
};

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { message: string; path: readonly (string | number)[]; extensions: { code: string } }[];
}

/** What clients act on, in an order that does not depend on when a resolver was ready. */
function comparable({ data, errors = [] }: Answer) {
  const told = errors.map(({ message, path, extensions: { code } }) => [path.join('.'), code, message].join(' | '));
  return { data, errors: told.sort() };
}

describe('the schema of a local API', () => {
  let backend: TestServer;
  let own: TestServer;
  let api: ReturnType<typeof graphqlApi>;
  let schema: GraphQLSchema;
  const open: (() => unknown)[] = [];

  before(async () => {
    let count = 0;
    backend = await serveJson(
      {
        '/books?kind=NOVEL': BOOKS,
        '/books?kind=PLAY': BOOKS.slice(0, 1),
        ...Object.fromEntries([1, 2, 3, 4, 5].map((id) => [`/books/${id}`, { id }])),
        '/reviews/1': [{ text: 'good', stars: 5 }],
        '/reviews/2': [{ text: 'bad', stars: '1' }],
        '/found': [
          { __typename: 'Book', id: 1, name: 'B' },
          { __typename: 'Author', name: 'A' },
          { __typename: 'Query' },
          {},
        ],
        '/for/ann': { name: 'of ann' },
        '/values': {
          int: '5',
          texts: ['a', 1, null],
          matrix: [[1, null], [2], 3],
          any: { a: [1] },
          wrong: 'text',
          many: [{ name: 'x' }, 5, null],
          id: 1.5,
        },
      },
      (req, res) => {
        if (req.url === '/count') res.end(String(++count));
        else res.writeHead(404).end('internal words');
      },
    );
    const local = graphqlApi({ ...options, upstreams: { backend: backend.url } });
    api = local;
    schema = local.schema;
    own = await serveHandler(local);
    open.push(own.close, backend.close);
  });
  after(async () => {
    for (const close of open) await close();
    await api.close?.();
  });

  const run = (query: string, contextValue?: unknown): Promise<Answer> =>
    Promise.resolve(execute({ schema, document: parse(query), contextValue })).then((result) =>
      JSON.parse(JSON.stringify(result)),
    );

  async function yoga(): Promise<string> {
    const server = createServer(createYoga({ schema, logging: false }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.unshift(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  }

  it('is the declared one', () => {
    expect(printSchema(schema)).to.equal(printSchema(readSchema(SCHEMA).schema));
  });

  for (const [name, query] of Object.entries(QUERIES)) {
    it(`returns the same result under GraphQL.js: ${name}`, async () => {
      const { body } = await ask(own.url, query);
      expect(comparable(await run(query))).to.deep.equal(comparable(body));
    });
  }

  it('returns the same results under GraphQL Yoga', async () => {
    const url = await yoga();
    for (const [name, query] of Object.entries(QUERIES)) {
      const [{ body }, expected] = [await ask(url, query), await ask(own.url, query)];
      expect(comparable(body), name).to.deep.equal(comparable(expected.body));
    }
    const { body } = await ask(url, '{ values { int } book(id: "none") { id } }');
    expect(JSON.stringify(body)).not.to.include('internal words');
    expect(body.errors).to.have.length(2);
  });

  it('reads headers of the request that the server passes to resolvers', async () => {
    const req = { headers: { 'x-user': 'ann' }, url: '/graphql', method: 'POST' } as unknown as IncomingMessage;
    const request = new Request('http://localhost/graphql', { headers: { 'x-user': 'ann' } });
    for (const context of [{ req }, { request }]) {
      expect(await run('{ mine }', context)).to.deep.equal({ data: { mine: 'of ann' } });
    }
    expect((await run('{ mine }')).errors).to.have.length(1);
    const { body } = await ask(await yoga(), '{ mine }', {}, { 'x-user': 'ann' });
    expect(body).to.deep.equal({ data: { mine: 'of ann' } });
  });

  it('makes equal requests of one operation once, and again after each field of a mutation', async () => {
    backend.asked.length = 0;
    await run('{ a: book(id: 1) { id } b: book(id: 1) { id } }');
    expect(backend.asked).to.deep.equal(['GET /books/1']);
    await run('{ book(id: 1) { id } }');
    expect(backend.asked).to.have.length(2);
    const { data } = await run('mutation { first second }');
    const { first, second } = data as { first: number; second: number };
    expect(second).to.equal(first + 1);
  });

  it('is undefined for APIs that are executed elsewhere', () => {
    const remote = graphqlApi({ remote: { upstreamRef }, upstreams: { backend: backend.url } });
    expect(remote.schema).to.equal(undefined);
    void remote.close?.();
  });
});
