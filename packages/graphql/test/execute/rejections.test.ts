import { setImmediate as turn } from 'node:timers/promises';
import { makeExecutableSchema } from '@graphql-tools/schema';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { events } from '../serve/parts.ts';
import { ask, serveHandler, type TestServer } from '../servers.ts';

const typeDefs = `
  type Query {
    strict: [String!] texts: [String] node: Node nodes: [Node!] any: Any tooMany: [Int] text: String
  }
  type Subscription { bad: Int stuck: Int }
  type Node { id: ID! name: String more: [String] }
  type A { id: ID } type B { id: ID }
  union Any = A | B
`;

function later(): Promise<never> {
  return new Promise((_, reject) => setImmediate(() => reject(new Error('late'))));
}

/** Not a promise of this platform. */
function thenable(): PromiseLike<never> {
  const made: object = {};
  Reflect.set(made, 'then', (_done: unknown, fail: () => never) => later().then(undefined, fail));
  return made as PromiseLike<never>;
}

describe('rejections that no field needs', () => {
  const rejected: unknown[] = [];
  const note = (error: unknown): void => void rejected.push(error);
  let values: () => Record<string, unknown>;
  let front: TestServer;

  before(async () => {
    process.on('unhandledRejection', note);
    const schema = makeExecutableSchema({
      typeDefs,
      resolvers: {
        Query: Object.fromEntries(
          ['strict', 'texts', 'node', 'nodes', 'any', 'tooMany', 'text'].map((name) => [name, () => values()[name]]),
        ),
        A: { __isTypeOf: () => later() },
        B: { __isTypeOf: () => true },
        Subscription: {
          bad: {
            subscribe: () => ({
              [Symbol.asyncIterator]: () => ({
                next: () => Promise.reject(new Error('no event')),
                return() {
                  throw new Error('return fails');
                },
              }),
            }),
          },
          stuck: {
            subscribe: () => ({
              [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: () => later() }),
            }),
          },
        },
      },
    });
    const options: GraphQLApiOptions = { schema, limits: { maxResultFields: 100 } };
    front = await serveHandler(graphqlApi(options));
  });
  after(async () => {
    process.off('unhandledRejection', note);
    await front.close();
  });
  beforeEach(() => void rejected.splice(0));

  function* failing(): Generator<unknown> {
    yield later();
    throw new Error('no more');
  }
  async function* failingLater(): AsyncGenerator<unknown> {
    yield [later()];
    throw new Error('no more');
  }
  const endless = {
    *[Symbol.iterator]() {
      for (;;) yield later();
    },
  };

  const cases: Readonly<
    Record<string, readonly [query: string, values: () => Record<string, unknown>, data: unknown]>
  > = {
    'after a null item': ['{ strict }', () => ({ strict: [null, later()] }), { strict: null }],
    'before a null item': ['{ strict }', () => ({ strict: [later(), null, thenable()] }), { strict: null }],
    'beside a rejected item': ['{ strict }', () => ({ strict: [later(), later()] }), { strict: null }],
    'in an object after a null field': [
      '{ nodes { id name more } }',
      () => ({ nodes: [{ id: null, name: later(), more: [later()] }, later()] }),
      { nodes: null },
    ],
    'beside a rejected field': [
      '{ node { id name } }',
      () => ({ node: { id: later(), name: later() } }),
      { node: null },
    ],
    'in a value of the wrong type': ['{ text }', () => ({ text: [later(), { a: later() }] }), { text: null }],
    'in an object that is not a list': ['{ texts }', () => ({ texts: { a: later() } }), { texts: null }],
    'of an iterable that throws': ['{ texts }', () => ({ texts: failing() }), { texts: null }],
    'of an asynchronous iterable that throws': ['{ texts }', () => ({ texts: failingLater() }), { texts: null }],
    'of an endless iterable': ['{ tooMany }', () => ({ tooMany: endless }), null],
    'of isTypeOf, after another type matched': [
      '{ any { __typename } }',
      () => ({ any: {} }),
      { any: { __typename: 'B' } },
    ],
  };
  for (const [name, [query, given, data]] of Object.entries(cases)) {
    it(`${name} end no process`, async () => {
      values = given;
      const { body } = await ask(front.url, query);
      expect(body.data).to.deep.equal(data);
      await settled();
    });
  }

  it('of return() of a subscription end no process', async () => {
    const { results } = await events(front.url, 'subscription { bad }').catch(() => ({ results: [] }));
    expect(results.length).to.be.greaterThan(0);
    await settled();
  }).timeout(10_000);

  it('of return() of a subscription whose client leaves end no process', async () => {
    const over = new AbortController();
    const response = await fetch(front.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { stuck }' }),
      signal: over.signal,
    });
    expect(response.status).to.equal(200);
    over.abort();
    await settled();
  });

  /** Rejections are reported in the turn after them. */
  async function settled(): Promise<void> {
    values = () => ({ text: 'served' });
    expect((await ask(front.url, '{ text }')).body).to.deep.equal({ data: { text: 'served' } });
    await turn();
    await turn();
    expect(rejected).to.deep.equal([]);
  }
});

describe('rejections in a list whose completion is paused', () => {
  const rejected: unknown[] = [];
  const note = (error: unknown): void => void rejected.push(error);
  const ITEMS = 2000;
  /** Long enough that the list needs several turns. */
  const work = (): string => {
    const until = performance.now() + 0.05;
    while (performance.now() < until);
    return 'x';
  };
  const nodes = (first: object, last: object = {}): unknown[] => [
    first,
    ...Array.from({ length: ITEMS }, () => ({ name: work, must: 'x' })),
    last,
  ];
  let front: TestServer;

  before(async () => {
    process.on('unhandledRejection', note);
    const long = Array.from({ length: 4 }, () => nodes({ name: work, must: 'x' }, { name: work, must: 'x' }));
    const schema = makeExecutableSchema({
      typeDefs: `
        type Query { strict: [Node!] inner: [[Node!]!] item: [Node] property: [Node] nested: [[Node]] }
        type Node { id: ID name: String must: String! }
      `,
      resolvers: {
        Query: {
          strict: () => nodes({ must: () => later() }, { name: work, must: 'x' }),
          inner: () => [[{ must: () => later() }], ...long],
          item: () => [...nodes({}), later()],
          property: () => nodes({}, { id: later() }),
          nested: () => long,
        },
      },
    });
    front = await serveHandler(graphqlApi({ schema, limits: { maxResultFields: 10_000 } }));
  });
  after(async () => {
    process.off('unhandledRejection', note);
    await front.close();
  });
  beforeEach(() => void rejected.splice(0));

  for (const [name, query] of Object.entries({
    'of an item that must not be null': '{ strict { name must } }',
    'of an inner list': '{ inner { must name } }',
    'of an item that is completed later': '{ item { name } }',
    'of a property that is read later': '{ property { name id } }',
    'of a result that is too large': '{ nested { name } }',
  })) {
    it(`${name} end no process`, async () => {
      const { body } = await ask(front.url, query);
      expect(body.errors).to.have.length.greaterThan(0);
      await turn();
      await turn();
      expect(rejected).to.deep.equal([]);
    });
  }
});
