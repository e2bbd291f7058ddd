import { hash } from 'node:crypto';
import { createContext, silentLoggers, type Context, type Loggers } from '@edge-gateway/core';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { expect } from 'chai';
import { execute, GraphQLError, GraphQLSchema, GraphQLScalarType, Kind, parse, type GraphQLResolveInfo } from 'graphql';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { ask, post, serveHandler, type TestServer } from '../servers.ts';
import { until } from '../serve/parts.ts';

const typeDefs = `
  scalar Date
  enum Kind { NOVEL PLAY }
  interface Named { name: String! }
  union Found = Book | Author
  input Range { from: Int = 1 to: Int }
  type Query {
    hello(name: String = "you"): String!
    books(range: Range): [Book!]
    lists: Lists
    found: [Found]
    named: [Named]
    tested: [Tested]
    where: String
    mutated(list: [Int!]): Int
    failing: Failing
    list: [Book!]!
    thenable: String
    private: Secret
    dated(on: Date): String
    header(name: String!): String
    slow: String
  }
  type Mutation { add(n: Int!): Int second: Int }
  type Subscription { count(to: Int!): Int never: Int failing: Int broken: Int }
  type Book implements Named { id: ID! name: String! kind: Kind published: Date next: Book at: String }
  type Author implements Named { name: String! }
  type Tested { id: Int }
  type Lists { set: [Int] generated: [Int] later: [Int] promises: [Int!] nested: [[Int]] text: [String] }
  type Failing { plain: String told: String returned: String items: [Int] item: [Int!] must: Int! wrongInt: Int wrongText: String wrongDate: Date wrongEnum: Kind wrongType: Named circular: Date }
  type Secret { id: Int }
`;

class Book {
  id: number;
  constructor(id: number) {
    this.id = id;
  }
  name(): string {
    return `Book ${this.id}`;
  }
  get kind(): string {
    return this.id % 2 === 0 ? 'n' : 'p';
  }
  published = new Date(0);
  get next(): Promise<Book> | undefined {
    return this.id < 3 ? Promise.resolve(new Book(this.id + 1)) : undefined;
  }
}
const circular: Record<string, unknown> = {};
circular['self'] = circular;
let sum = 0;
const steps: string[] = [];
const ended: string[] = [];

function parseDate(value: unknown): unknown {
  if (value === 'told') throw new GraphQLError('not a date');
  if (value !== '2026-01-01') throw new Error('internal words"; found: internal words');
  return value;
}

const schema = makeExecutableSchema({
  typeDefs,
  resolvers: {
    Date: new GraphQLScalarType({
      name: 'Date',
      serialize: (value) => {
        if (value === 'internal words') throw new GraphQLError('internal words');
        return value instanceof Date ? value.toISOString() : value;
      },
      parseValue: parseDate,
      parseLiteral: (node) => parseDate(node.kind === Kind.STRING ? node.value : undefined),
    }),
    Kind: { NOVEL: 'n', PLAY: 'p' },
    Query: {
      hello: (_root, { name }: { name: string }) => Promise.resolve(`hello ${name}`),
      books: (_root, { range = { from: 1, to: 2 } }: { range?: { from: number; to: number } }) =>
        Array.from({ length: range.to - range.from + 1 }, (_, i) => new Book(range.from + i)),
      lists: () => ({}),
      found: () => [new Book(1), { __typename: 'Author', name: 'A' }, Promise.resolve(new Book(2))],
      named: () => [new Book(1), { name: 'A' }],
      tested: () => ['1', 'x'],
      where: (_root, _args, _context, info: GraphQLResolveInfo) =>
        [info.fieldName, info.parentType.name, info.operation.operation, info.fieldNodes.length, info.path.key].join(
          ' ',
        ),
      mutated: (_root, args: { list: number[] }) => args.list.push(2),
      failing: () => ({}),
      list: () => null,
      // oxlint-disable-next-line unicorn/no-thenable -- promises of other libraries are meant
      thenable: () => ({ then: (resolve: (value: string) => void) => resolve('taken') }),
      private: () => ({ id: 1 }),
      dated: (_root, { on }: { on: string }) => on,
      header: (_root, { name }: { name: string }, context: { facts: { header(name: string): string } }) =>
        context.facts.header(name),
      slow: (_root, _args, { signal }: { signal: AbortSignal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('too late')))),
    },
    Mutation: {
      add: async (_root, { n }: { n: number }) => {
        steps.push('add begins');
        await new Promise((resolve) => setImmediate(resolve));
        steps.push('add ends');
        return (sum += n);
      },
      second: () => {
        steps.push('second');
        return sum;
      },
    },
    Subscription: {
      count: {
        async *subscribe(_root: unknown, { to }: { to: number }) {
          try {
            for (let i = 1; i <= to; i++) yield { count: i };
          } finally {
            ended.push('count');
          }
        },
      },
      never: {
        // Ends by its signal only, however long its next event takes.
        async *subscribe(_root: unknown, _args: object, _context: unknown, info: GraphQLResolveInfo) {
          yield { never: 0 };
          await new Promise((resolve) => info.getAbortSignal()!.addEventListener('abort', resolve));
          ended.push('never');
        },
      },
      failing: { subscribe: () => Promise.reject(new Error('internal words')) },
      broken: {
        async *subscribe() {
          yield { broken: 1 };
          throw new Error('internal words');
        },
      },
    },
    Named: { __resolveType: async (value: object) => (value instanceof Book ? 'Book' : 'Author') },
    Found: { __resolveType: (value: object) => (value instanceof Book ? 'Book' : 'Author') },
    Book: { at: (_book, _args, _context, { path }: GraphQLResolveInfo) => pathText(path) },
    Tested: { __isTypeOf: async (value: unknown) => value === '1', id: (value: string) => Number(value) },
    Lists: {
      set: () => new Set([1, 2]),
      *generated() {
        yield 1;
        yield 2;
      },
      async *later() {
        yield 1;
        yield 2;
      },
      promises: () => [Promise.resolve(1), 2],
      nested: () => [new Set([1]), null, [2]],
      text: () => 'text',
    },
    Failing: {
      plain: () => {
        throw new Error('internal words');
      },
      told: () => {
        throw new GraphQLError('not today', { extensions: { code: 'CLOSED', until: 8 } });
      },
      returned: () => new Error('internal words'),
      items: () => [1, new Error('internal words'), Promise.reject(new Error('internal words'))],
      item: () => [1, Promise.reject(new GraphQLError('told'))],
      must: () => null,
      wrongInt: () => 'internal words',
      wrongText: () => ({ secret: 'internal words' }),
      wrongDate: () => 'internal words',
      wrongEnum: () => 'internal words',
      wrongType: () => ({ __typename: 'Book' }),
      circular: () => circular,
    },
  },
});

function pathText(path: GraphQLResolveInfo['path'] | undefined): string {
  return path ? `${pathText(path.prev)}/${path.typename ?? ''}.${path.key}` : '';
}

const QUERIES = [
  '{ hello other: hello(name: "ann") __typename }',
  '{ books { id name kind published next { id next { name next { id } } } } }',
  '{ books(range: { to: 3 }) { id at next { at } } }',
  '{ lists { set generated later promises nested text } }',
  '{ found { __typename ... on Book { id } ... on Author { name } } }',
  '{ named { __typename name ... on Book { id } } }',
  '{ tested { id } }',
  '{ where ... { where } alias: where }',
  '{ thenable }',
  '{ failing { plain told returned items wrongInt wrongEnum } }',
  '{ failing { item } }',
  '{ failing { must } hello }',
  '{ failing { circular: plain } list { id } }',
  'query ($skip: Boolean = true, $range: Range) { books(range: $range) { id name @skip(if: $skip) } }',
];

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly path?: readonly (string | number)[] }[];
}

const paths = ({ errors = [] }: Answer): string[] => errors.map(({ path = [] }) => path.join('.')).sort();

describe('an API over a schema with resolvers', () => {
  let front: TestServer;
  const open: TestServer[] = [];

  async function serve(options: GraphQLApiOptions, context?: Context): Promise<TestServer> {
    const handler = graphqlApi(options, context);
    const server = await serveHandler(handler);
    open.push({ ...server, close: async () => (await server.close(), void (await handler.close?.())) });
    return server;
  }

  before(async () => (front = await serve({ schema })));
  after(() => Promise.all(open.map((each) => each.close())));

  for (const query of QUERIES) {
    it(`returns the same as GraphQL.js: ${query}`, async () => {
      const { body } = await ask(front.url, query);
      const expected = JSON.parse(JSON.stringify(await execute({ schema, document: parse(query) }))) as Answer;
      expect(body.data).to.deep.equal(expected.data);
      // Where a field takes its parent with it, it depends on the order which of its neighbours is told.
      expect(paths(expected)).to.include.members(paths(body));
      expect(paths(body).length > 0).to.equal(paths(expected).length > 0);
    });
  }

  it('is the schema of the handler', () => {
    expect(graphqlApi({ schema }).schema).to.equal(schema);
  });

  it('passes new arguments to resolvers each time', async () => {
    const query = '{ mutated(list: [1, 2]) }';
    await ask(front.url, query);
    expect((await ask(front.url, query)).body.data.mutated).to.equal(3);
  });

  it('reveals only errors that are meant for clients', async () => {
    const { body } = await ask(front.url, '{ failing { plain told returned circular wrongType { name } } }');
    const told = Object.fromEntries(body.errors.map((each: any) => [each.path[1], each]));
    for (const field of ['plain', 'returned']) {
      expect(told[field]).to.deep.include({ message: 'A field could not be resolved.' });
      expect(told[field].extensions.code).to.equal('ERR_GRAPHQL_RESOLVER');
    }
    expect(told.told).to.deep.include({ message: 'not today' });
    expect(told.told.extensions).to.deep.include({ code: 'CLOSED', until: 8 });
    expect(told.circular.message).to.equal('The value is not of type Date.');
    expect(JSON.stringify(body)).not.to.include('internal words');
  });

  it('does not reveal values that do not fit their type, but logs the reason', async () => {
    const reasons: string[] = [];
    const log = { ...silentLoggers.get('graphql'), warn: ({ reason }: { reason: string }) => reasons.push(reason) };
    const context = createContext({ log: { get: () => log } as unknown as Loggers });
    const logged = await serve({ schema }, context);
    const { body } = await ask(logged.url, '{ failing { wrongInt wrongText wrongDate wrongEnum } }');
    const told = body.errors.map(({ path, message }: any) => [path[1], message]);
    const types = { wrongInt: 'Int', wrongText: 'String', wrongDate: 'Date', wrongEnum: 'Kind' };
    expect(told).to.deep.equal(
      Object.entries(types).map(([field, type]) => [field, `The value is not of type ${type}.`]),
    );
    expect(reasons).to.include('Int cannot represent non-integer value: "internal words"');
  });

  it('does not reveal why a scalar rejects an input, unless it throws a GraphQLError', async () => {
    const VARIABLE = 'query ($on: Date) { dated(on: $on) }';
    const inputs: [string, object?][] = [
      ['{ dated(on: "x") }'],
      ['query ($on: Date = "x") { dated(on: $on) }'],
      [VARIABLE, { on: 'x' }],
    ];
    for (const [query, variables] of inputs) {
      const { body } = await ask(front.url, query, variables);
      expect(body.errors[0].message, query).to.include('Expected value of type "Date", found: "x".');
      expect(JSON.stringify(body), query).not.to.include('internal words');
    }
    for (const [query, variables] of [['{ dated(on: "told") }'], [VARIABLE, { on: 'told' }]] as typeof inputs) {
      expect((await ask(front.url, query, variables)).body.errors[0].message).to.include('not a date');
    }
    expect((await ask(front.url, VARIABLE, { on: '2026-01-01' })).body.data).to.deep.equal({ dated: '2026-01-01' });
  });

  it('executes the fields of a mutation serially', async () => {
    steps.length = 0;
    const { body } = await ask(front.url, 'mutation { add(n: 2) second more: add(n: 3) }');
    expect(body.data).to.deep.equal({ add: 2, second: 2, more: 5 });
    expect(steps).to.deep.equal(['add begins', 'add ends', 'second', 'add begins', 'add ends']);
  });

  it('passes the request to resolvers, or the result of contextValue', async () => {
    const headers = { 'x-user': 'ann' };
    const { body } = await ask(front.url, '{ header(name: "x-user") }', {}, headers);
    expect(body.data).to.deep.equal({ header: 'ann' });
    const own = await serve({
      schema,
      contextValue: async ({ facts }) => ({ facts: { header: () => `own ${facts.header('x-user')}` } }),
    });
    expect((await ask(own.url, '{ header(name: "x") }', {}, headers)).body.data).to.deep.equal({ header: 'own ann' });
    const failing = await serve({ schema, contextValue: () => Promise.reject(new Error('internal words')) });
    const answer = await ask(failing.url, '{ hello }');
    expect(answer.body.data).to.equal(null);
    expect(answer.body.errors[0]).to.deep.include({ message: 'A field could not be resolved.' });
  });

  it('applies limits, introspection rules and persisted queries', async () => {
    const codeOf = async (query: string, server = front): Promise<string | undefined> =>
      (await ask(server.url, query)).body.errors?.[0].extensions.code;
    expect(await codeOf(`{ books ${'{ next '.repeat(15)} { id } ${'}'.repeat(15)} }`)).to.equal('ERR_GRAPHQL_LIMIT');
    expect(await codeOf('{ __schema { types { name } } }')).to.equal('ERR_GRAPHQL_DOCUMENT');
    expect(await codeOf('{ hallo }')).to.equal('ERR_GRAPHQL_DOCUMENT');
    const query = '{ hello }';
    const persistedQuery = { version: 1, sha256Hash: hash('sha256', query) };
    await post(front.url, JSON.stringify({ query, extensions: { persistedQuery } }));
    const { body } = await post(front.url, JSON.stringify({ extensions: { persistedQuery } }));
    expect(body).to.deep.equal({ data: { hello: 'hello you' } });
    const open = await serve({ schema, enableIntrospection: true, maxDepth: 2 });
    const introspected = await ask(open.url, '{ __type(name: "Kind") { name enumValues { name } } }');
    expect(introspected.body.data.__type.enumValues).to.deep.equal([{ name: 'NOVEL' }, { name: 'PLAY' }]);
    const deep = await ask(open.url, '{ books { next { id } } }');
    expect(deep.body.errors[0].message).to.include('max operation depth of 2');
    const timed = await serve({ schema, limits: { operationTimeoutMs: 50 } });
    expect((await ask(timed.url, '{ slow hello }')).body.data).to.deep.equal({ slow: null, hello: 'hello you' });
  });

  async function events(query: string): Promise<string[]> {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const response = await fetch(front.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const text = await response.text();
    return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data!);
  }

  it('returns the results of subscriptions, and ends their source', async () => {
    ended.length = 0;
    const results = await events('subscription { count(to: 3) }');
    expect(results).to.deep.equal([1, 2, 3].map((count) => JSON.stringify({ data: { count } })));
    expect(ended).to.deep.equal(['count']);
    const failing = await events('subscription { failing }');
    expect(failing.join()).to.include('A field could not be resolved.').and.not.include('internal words');
    const broken = await events('subscription { broken }');
    expect(broken).to.have.length(2);
    expect(broken[0]).to.equal('{"data":{"broken":1}}');
    expect(broken[1]).to.include('ERR_GRAPHQL_RESOLVER').and.not.include('internal words');
  });

  /** Subscribes to what ends by its signal only, and waits for its first event. */
  async function subscribe(url: string, signal?: AbortSignal): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    ended.length = 0;
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const body = JSON.stringify({ query: 'subscription { never }' });
    const response = await fetch(url, { method: 'POST', headers, body, signal: signal ?? null });
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('"never":0')) text += new TextDecoder().decode((await reader.read()).value);
    return reader;
  }

  it('aborts the signal of a subscription when its client disconnects', async () => {
    const client = new AbortController();
    await subscribe(front.url, client.signal);
    client.abort();
    while (!ended.includes('never')) await new Promise((resolve) => setImmediate(resolve));
  });

  it('aborts the signal of a subscription when the server ends it', async () => {
    const handler = graphqlApi({ schema });
    const server = await serveHandler(handler);
    open.push({ ...server, close: async () => (await server.close(), void (await handler.close?.())) });
    const reader = await subscribe(server.url);
    handler.drain!();
    while (!(await reader.read()).done);
    await until(() => ended.includes('never'), 'the end of the subscription');
  });

  describe('is rejected with', () => {
    class Foreign {
      get [Symbol.toStringTag](): string {
        return 'GraphQLSchema';
      }
    }
    const WRONG: Readonly<Record<string, [object, string]>> = {
      'a schema that is text': [{ schema: 'type Query { a: Int }' }, 'schema: must be a GraphQLSchema'],
      'a schema that is null': [{ schema: null }, 'schema: must be a GraphQLSchema'],
      'a schema of another copy of graphql': [{ schema: new Foreign() }, 'another copy of the package graphql'],
      'a schema without queries': [{ schema: new GraphQLSchema({}) }, 'Query root type must be provided'],
      'a definition beside the schema': [
        { schema, schemaDefinition: 'x' },
        'schema cannot be combined with schemaDefinition',
      ],
      'upstreams beside the schema': [{ schema, upstreams: {} }, 'schema cannot be combined with upstreams'],
      'a context without a schema': [
        { schemaDefinition: 'type Query { a: Int }', contextValue: () => ({}) },
        'contextValue requires schema',
      ],
    };
    for (const [name, [options, message]] of Object.entries(WRONG)) {
      it(name, () => {
        expect(() => graphqlApi(options as GraphQLApiOptions))
          .to.throw(message)
          .with.property('code', 'ERR_GRAPHQL_API');
      });
    }
  });
});
