import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { graphqlApi } from '../../src/middleware.ts';
import { cpuTime } from '../cpu-time.ts';
import { ask, serveHandler, serveJson, type TestServer } from '../servers.ts';

const KINDS = Array.from({ length: 12 }, (_, i) => `T${i}`);
const SCHEMA = `
  interface Node { id: ID next: Node }
  ${KINDS.map((kind) => `type ${kind} implements Node { id: ID next: Node }`).join('\n')}
  type Query { node: Node @resolve(name: "node") books: [Book!] @resolve(name: "books") }
  type Book { id: ID reviews: [Int]! @resolve(name: "reviews") }
`;

function rest(path: string) {
  return {
    restResolver: { upstreamRef: { name: 'backend' }, timeout: '30s', request: { headers: { ':path': path } } },
  };
}

describe('documents that are more expensive than they look', () => {
  const rejected: unknown[] = [];
  const note = (error: unknown): void => void rejected.push(error);
  /** The first request for reviews; all are answered after `released`. */
  const asked = Promise.withResolvers<ServerResponse>();
  const released = Promise.withResolvers<void>();
  let backend: TestServer;
  let front: TestServer;

  before(async () => {
    backend = await serveJson({ '/books': [{ id: '1' }, null, { id: '3' }] }, (_req, res) => {
      asked.resolve(res);
      void released.promise.then(() => res.writeHead(500).end());
    });
    const node = { __typename: 'T3', id: '1', next: { __typename: 'T7', id: '2', next: null } };
    front = await serveHandler(
      graphqlApi({
        schemaDefinition: SCHEMA,
        resolutions: {
          node: { mockResolver: { syncResponse: node } },
          books: rest('/books'),
          reviews: rest('/reviews/{$parent.id}'),
        },
        upstreams: { backend: backend.url },
      }),
    );
    process.on('unhandledRejection', note);
  });
  after(async () => {
    process.off('unhandledRejection', note);
    await front.close();
    await backend.close();
  });

  it('a list of non-null items fails as a whole, and ignores later rejections', async () => {
    const { body } = await ask(front.url, '{ books { id reviews } }');
    expect(body.data).to.deep.equal({ books: null });
    expect(body.errors.map((each: { path: unknown }) => each.path)).to.deep.equal([['books', 1]]);
    const closed = once(await asked.promise, 'close');
    released.resolve();
    await closed;
    // It was received before the response to a later request, and rejections are reported in the next turn.
    await isAnswered('{ node { id next { id next { id } } } }');
    await turn();
    expect(rejected).to.deep.equal([]);
  });

  async function isAnswered(query: string): Promise<void> {
    const { body } = await ask(front.url, query);
    expect(body).to.deep.equal({ data: { node: { id: '1', next: { id: '2', next: null } } } });
  }

  it('variables with thousands of unknown fields are rejected without a copy of them', async () => {
    const api = graphqlApi({
      schemaDefinition: 'input In { a: Int, inner: [In!] } type Query { n(in: In): Int @resolve(name: "n") }',
      resolutions: { n: { mockResolver: { syncResponse: 1 } } },
    });
    const server = await serveHandler(api);
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i]));
    for (const variable of [wide, { inner: [{ a: 1 }, wide] }]) {
      const { status, body } = await ask(server.url, 'query q($in: In) { n(in: $in) }', { in: variable });
      expect({ status, body }).to.deep.include({ status: 400 });
      expect(body.errors).to.deep.equal([
        {
          message: 'A value of type "In" has more than 100 unknown fields.',
          extensions: { code: 'ERR_GRAPHQL_VARIABLES' },
        },
      ]);
    }
    await server.close();
  });

  it('a recursive interface of many types is planned quickly', async () => {
    const query = `{ node ${'{ id next '.repeat(13)} { id } ${'}'.repeat(13)} }`;
    expect(await cpuTime(() => isAnswered(query))).to.be.below(2000);
  });

  it('the same, with a different selection per type', async () => {
    const branch = (depth: number): string =>
      depth === 0
        ? '{ id }'
        : `{ id next ${branch(depth - 1)} ... on T3 { next ${branch(depth - 1)} } ... on T7 { next ${branch(depth - 1)} } }`;
    expect(await cpuTime(() => isAnswered(`{ node ${branch(3)} }`))).to.be.below(2000);
  });
});
