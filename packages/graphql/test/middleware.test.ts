import { expect } from 'chai';
import { graphqlApi } from '../src/middleware.ts';
import { ask, serveHandler, serveJson, type TestServer } from './servers.ts';

const SCHEMA = `
  type Query { book(id: ID!): Book @resolve(name: "book") books: [Book!]! @resolve(name: "books") }
  type Book { id: ID! title: String pages: Int reviews: [Review!]! @resolve(name: "reviews") }
  type Review { reviewer: String text: String }
`;

describe('graphqlApi', () => {
  let backend: TestServer;
  let front: TestServer;

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
    const handler = graphqlApi({
      schemaDefinition: SCHEMA,
      resolutions: {
        book: {
          restResolver: { upstreamRef: { name: 'books' }, request: { headers: { ':path': '/books/{$args.id}' } } },
        },
        books: { restResolver: { upstreamRef: { name: 'books' }, request: { headers: { ':path': '/books' } } } },
        reviews: {
          restResolver: {
            upstreamRef: { name: 'books' },
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

  it('answers a query over a REST backend', async () => {
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
});
