import { createRequire } from 'node:module';
import { expect } from 'chai';
import express from 'express';
import { graphqlApi } from '../src/middleware.ts';
import { ask, serve, serveHandler, serveJson, type TestServer } from './servers.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

const SCHEMA = `
  type Query { book(id: ID!): Book @resolve(name: "book") books: [Book!]! @resolve(name: "books") }
  type Book { id: ID! title: String pages: Int reviews: [Review!]! @resolve(name: "reviews") }
  type Review { reviewer: String text: String }
`;

describe('graphqlApi', () => {
  let backend: TestServer;
  let front: TestServer;
  let handler: ReturnType<typeof graphqlApi>;

  before(async () => {
    backend = await serveJson({
      '/books': [
        { id: '1', title: 'One', pages: 10 },
        { id: '2', title: 'Two', pages: 20 },
      ],
      '/books/1': { id: '1', title: 'One', pages: 10 },
      '/reviews/1': { reviews: [{ reviewer: 'A', text: 'good' }] },
      '/reviews/2': { reviews: [] },
    });
    handler = graphqlApi({
      schemaDefinition: SCHEMA,
      resolutions: {
        book: {
          restResolver: {
            upstreamRef: { name: 'books' },
            timeout: '30s',
            request: { headers: { ':path': '/books/{$args.id}' } },
          },
        },
        books: {
          restResolver: { upstreamRef: { name: 'books' }, timeout: '30s', request: { headers: { ':path': '/books' } } },
        },
        reviews: {
          restResolver: {
            upstreamRef: { name: 'books' },
            timeout: '30s',
            request: { headers: { ':path': '/reviews/{$parent.id}' } },
            response: { resultRoot: 'reviews' },
          },
        },
      },
      upstreams: { books: backend.url },
    });
    front = await serveHandler(handler);
  });
  after(async () => {
    await front.close();
    await backend.close();
  });

  it('executes a query over a REST backend', async () => {
    const { status, body, headers } = await ask(front.url, 'query ($id: ID!) { book(id: $id) { title pages } }', {
      id: '1',
    });
    expect(body).to.deep.equal({ data: { book: { title: 'One', pages: 10 } } });
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('application/json; charset=utf-8');
  });

  it('resolves fields of a list, each with its own request', async () => {
    const { body } = await ask(front.url, '{ books { id reviews { text } __typename } }');
    expect(body).to.deep.equal({
      data: {
        books: [
          { id: '1', reviews: [{ text: 'good' }], __typename: 'Book' },
          { id: '2', reviews: [], __typename: 'Book' },
        ],
      },
    });
  });

  const call = (name: string) => ({ restResolver: { upstreamRef: { name } } });
  const local = { executor: { local: { resolutions: { book: call('missing') } } } };
  const grpc = { upstreamRef: { name: 'missing', namespace: 'shop' } };
  for (const [options, message] of [
    [
      { resolutions: { book: call('missing') } },
      'resolutions.book.restResolver.upstreamRef: upstreams has no URL of missing.',
    ],
    [
      { resolutions: { book: { grpcResolver: grpc } } },
      'resolutions.book.grpcResolver.upstreamRef: upstreams has no URL of shop/missing.',
    ],
    [{ remote: { upstreamRef: { name: 'missing' } } }, 'remote.upstreamRef: upstreams has no URL of missing.'],
    [
      { stitchedSchema: { subschemas: [{ name: 'a' }] }, apis: { a: { executableSchema: local } } },
      'apis.a.executableSchema.executor.local.resolutions.book.restResolver.upstreamRef: upstreams has no URL of missing.',
    ],
  ] as const) {
    it(`rejects ${message.split(':')[0]} without a URL`, () => {
      expect(() => graphqlApi({ ...options, upstreams: { books: backend.url } }))
        .to.throw(message)
        .with.property('code', 'ERR_GRAPHQL_API');
    });
  }

  const servers = [
    ['Express 5', express],
    ['Express 4', express4],
  ] as const;
  for (const [name, make, parses] of servers.flatMap(([version, make]) => [
    [`${version}, before a body parser`, make, false] as const,
    [`${version}, behind express.json()`, make, true] as const,
  ])) {
    it(`works in ${name}`, async () => {
      const app = make();
      if (parses) app.use(make.json());
      app.use('/graphql', handler);
      const own = await serve(app);
      const { body } = await ask(`${own.url}/graphql`, '{ book(id: 1) { title } }');
      await own.close();
      expect(body).to.deep.equal({ data: { book: { title: 'One' } } });
    });
  }
});

describe('graphqlApi with a schema that does not parse', () => {
  it('throws with the position, in one sentence', () => {
    expect(() => graphqlApi({ schemaDefinition: 'type Query {\n  a: Int )\n}', resolutions: {} }))
      .to.throw('The GraphQL API is invalid. graphql: Syntax Error: Expected Name, found ")" (line 2, column 10).')
      .with.property('code', 'ERR_GRAPHQL_API');
  });
});
