import type { ResourceRef } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { explainOperation } from '../../src/index.ts';

const get = (upstream: string, path: string, rest: object = {}) => ({
  restResolver: { upstreamRef: { name: upstream }, request: { headers: { ':path': path } }, ...rest },
});

function local(schemaDefinition: string, resolutions: object): GraphQLApiSpec {
  return { executableSchema: { schemaDefinition, executor: { local: { resolutions } } } } as GraphQLApiSpec;
}

const ref = (name: string): ResourceRef => ({ name, namespace: 'gw-system' });

/** `path: request (times)` of each call. */
function explained(spec: GraphQLApiSpec, query: string, apis: Readonly<Record<string, GraphQLApiSpec>> = {}): string[] {
  const calls = explainOperation(query, { ref: ref('api'), spec, findApi: ({ name }) => apis[name] });
  return calls.map(({ path, upstream, request, times }) => `${path}: ${upstream} ${request} (${times})`);
}

describe('explainOperation', () => {
  const shop = local(
    `type Query { item(id: ID): Item @resolve(name: "item") items: [Item!]! @resolve(name: "items") made: Item @resolve(name: "made") }
     interface Item { id: ID price: Price }
     type Book implements Item { id: ID price: Price @resolve(name: "price") }
     type Pen implements Item { id: ID price: Price @resolve(name: "price") }
     type Price { amount: Int tax: Int @resolve(name: "tax") }`,
    {
      item: get('shop', '/items/{$args.id}'),
      items: {
        restResolver: {
          upstreamRef: { name: 'shop' },
          request: { headers: { ':Path': '/items?a=b&key=MARKER' }, queryParams: { c: '{$args.x}' } },
        },
      },
      price: get('prices', '/prices/{$parent.id}'),
      tax: {
        grpcResolver: {
          upstreamRef: { name: 'taxes' },
          requestTransform: { serviceName: 's.Taxes', methodName: 'Get' },
        },
      },
      made: { restResolver: { upstreamRef: { name: 'shop' }, request: { body: {} } } },
    },
  );

  it('lists the requests in the order of the fields, with arguments and query as they are sent', () => {
    expect(explained(shop, '{ one: item(id: "7/8") { id } items { id } made { id } }')).to.deep.equal([
      'one: shop GET /items/7%2F8 (once)',
      'items: shop GET /items?a=b&key=<redacted>&c={$args.x} (once)',
      'made: shop POST / (once)',
    ]);
  });

  it('lists a request once if several types of an interface need it', () => {
    expect(explained(shop, '{ items { price { tax } } }')).to.deep.equal([
      'items: shop GET /items?a=b&key=<redacted>&c={$args.x} (once)',
      'items.price: prices GET /prices/{$parent.id} (once for each of items)',
      'items.price.tax: taxes s.Taxes/Get (once for each of items)',
    ]);
  });

  it('expands fragments for their types', () => {
    const query = '{ item(id: 1) { ...P ... on Pen { price { amount } } } } fragment P on Book { price { tax } }';
    expect(explained(shop, query)).to.deep.equal([
      'item: shop GET /items/1 (once)',
      'item.price: prices GET /prices/{$parent.id} (once)',
      'item.price.tax: taxes s.Taxes/Get (once)',
    ]);
  });

  it('leaves out fields that are never selected, and assumes that conditions with variables are met', () => {
    const query = `query ($no: Boolean!) {
      items @include(if: false) { id }
      made @skip(if: true) { id }
      item(id: 1) @include(if: $no) { price @skip(if: $no) { amount } }
    }`;
    expect(explained(shop, query)).to.deep.equal([
      'item: shop GET /items/1 (once)',
      'item.price: prices GET /prices/{$parent.id} (once)',
    ]);
  });

  it('reads a field from the API that returned its object, and others by the key', () => {
    const users = local(
      'type Query { users: [User] @resolve(name: "users") } type User { id: ID name: String @resolve(name: "name") }',
      {
        users: get('users', '/users'),
        name: get('users', '/names/{$parent.id}'),
      },
    );
    const people = local(
      `type Query { person(id: ID): User @resolve(name: "person") people: [User] @resolve(name: "people") }
       type User { id: ID name: String email: String @resolve(name: "email") }`,
      {
        person: get('people', '/people/{$args.id}'),
        people: get('people', '/people'),
        email: get('people', '/mail/{$parent.id}'),
      },
    );
    const typeMerge = { User: { selectionSet: '{ id }', queryName: 'person', args: { id: 'id' } } };
    const all = {
      stitchedSchema: { subschemas: [{ name: 'users' }, { name: 'people', typeMerge }] },
    } as GraphQLApiSpec;
    expect(explained(all, '{ users { name email } people { name email } }', { users, people })).to.deep.equal([
      'users: users GET /users (once)',
      'users.name: users GET /names/{$parent.id} (once for each of users)',
      'users.email: people GET /people/{$args.id} (once for each of users)',
      'users.email: people GET /mail/{$parent.id} (once for each of users)',
      'people: people GET /people (once)',
      'people.email: people GET /mail/{$parent.id} (once for each of people)',
    ]);
  });

  it('lists the request for a key that only a third API returns', () => {
    const books = local('type Query { book: Book @resolve(name: "b") } type Book { isbn: ID }', {
      b: get('books', '/book'),
    });
    const ids = local('type Query { byIsbn(isbn: ID): Book @resolve(name: "i") } type Book { isbn: ID id: ID }', {
      i: get('ids', '/ids'),
    });
    const stock = local('type Query { stock(id: ID): Book @resolve(name: "s") } type Book { id: ID left: Int }', {
      s: get('stock', '/stock'),
    });
    const subschemas = [
      { name: 'books' },
      { name: 'ids', typeMerge: { Book: { selectionSet: '{ isbn }', queryName: 'byIsbn', args: { isbn: 'isbn' } } } },
      { name: 'stock', typeMerge: { Book: { selectionSet: '{ id }', queryName: 'stock', args: { id: 'id' } } } },
    ];
    const all = { stitchedSchema: { subschemas } } as GraphQLApiSpec;
    expect(explained(all, '{ book { left } }', { books, ids, stock })).to.deep.equal([
      'book: books GET /book (once)',
      'book.left: ids GET /ids (once)',
      'book.left: stock GET /stock (once)',
    ]);
  });

  it('lists one request to a remote server for all fields of an operation', () => {
    const spec = {
      executableSchema: {
        schemaDefinition: 'type Query { a: Int b: Int }',
        executor: { remote: { upstreamRef: { name: 'server' } } },
      },
    } as GraphQLApiSpec;
    expect(explained(spec, '{ a b __typename }')).to.deep.equal(['a: server POST (once)']);
  });

  it('rejects a document that does not fit the schema, and an API without one', () => {
    expect(() => explained(shop, '{ nothing }'))
      .to.throw('Cannot query field "nothing"')
      .with.property('code', 'ERR_GRAPHQL_DOCUMENT');
    expect(() => explained(shop, 'fragment F on Book { id }'))
      .to.throw()
      .with.property('code', 'ERR_GRAPHQL_DOCUMENT');
    expect(() => explained({}, '{ a }'))
      .to.throw('has no schemaDefinition')
      .with.property('code', 'ERR_GRAPHQL_API');
  });
});
