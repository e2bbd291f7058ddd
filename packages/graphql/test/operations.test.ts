import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createContext, createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../src/middleware.ts';
import type { ResultStore } from '../src/cache/shared-results.ts';
import { ask, post, serveHandler, serveJson, type TestServer } from './servers.ts';

const SCHEMA = `
  interface Named { name: String }
  union Found = Book | Author
  type Query {
    products: [Product!] @resolve(name: "products")
    book: Book @resolve(name: "book") @cacheControl(maxAge: 60)
    mine: Book @resolve(name: "book") @cacheControl(maxAge: 60, scope: private)
    news: Book @resolve(name: "book") @cacheControl(maxAge: 60, scope: PUBLIC)
    found: [Found] @resolve(name: "found")
    byHeader: String @resolve(name: "byHeader") @cacheControl(maxAge: 60)
    slow: String @resolve(name: "slow")
    mock: Mock @resolve(name: "mock")
    failing: String @resolve(name: "failing")
  }
  type Mutation { add(n: Int!): Int @resolve(name: "add") read: Int @resolve(name: "read") }
  type Product { id: ID! detail: String @resolve(name: "details") review: String @resolve(name: "reviews") rating: Int @resolve(name: "ratings") }
  type Book implements Named { id: ID name: String year: Int author: Author @cacheControl(inheritMaxAge: true) }
  type Author implements Named { name: String born: Int }
  type Mock { a: Int b: [String] }
`;
const upstreamRef = { name: 'backend' };
const rest = (path: string, more: object = {}) => ({
  restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': path } }, ...more },
});
const resolutions: GraphQLApiOptions['resolutions'] = {
  products: rest('/products'),
  details: rest('/details/{$parent.id}', { response: { resultRoot: 'text' } }),
  reviews: rest('/reviews/{$parent.id}', { response: { resultRoot: 'text' } }),
  ratings: rest('/ratings/{$parent.id}', { response: { resultRoot: 'value' } }),
  book: rest('/book'),
  found: rest('/found'),
  byHeader: rest('/book?for={$headers.x-user}', { response: { resultRoot: 'name' } }),
  add: {
    restResolver: {
      upstreamRef,
      timeout: '30s',
      request: { headers: { ':method': 'POST', ':path': '/add' }, body: { n: '{$args.n}' } },
    },
  },
  read: rest('/read'),
  slow: { mockResolver: { asyncResponse: { response: 'late', delay: '60s' } } },
  mock: { mockResolver: { syncResponse: { a: 1, b: ['x'] } } },
  failing: { mockResolver: { errorResponse: 'on purpose' } },
};

describe('operations', () => {
  let backend: TestServer;
  let atOnce = 0;
  let most = 0;
  let sum = 0;
  const open: TestServer[] = [];

  /** Answers a little later, and counts how many wait. */
  const later = (value: unknown) => (_req: unknown, res: ServerResponse) => {
    most = Math.max(most, ++atOnce);
    setImmediate(() => {
      atOnce--;
      res.end(JSON.stringify(value));
    });
  };

  before(async () => {
    const products = Array.from({ length: 100 }, (_, i) => ({ id: `p${i}` }));
    const details = products.flatMap(({ id }) => [
      [`/details/${id}`, later({ text: `d ${id}` })],
      [`/reviews/${id}`, later({ text: `r ${id}` })],
      [`/ratings/${id}`, later({ value: 5 })],
    ]);
    backend = await serveJson(
      {
        ...Object.fromEntries(details),
        '/products': products,
        '/book': { id: 'b', name: 'Book', year: 1, author: { name: 'A', born: 2 } },
        '/found': [
          { __typename: 'Book', name: 'B', year: 1 },
          { __typename: 'Author', name: 'A', born: 2 },
          { __typename: 'Query' },
        ],
      },
      (req, res) => {
        let text = '';
        req.on('data', (chunk) => (text += chunk));
        req.on('end', () => {
          if (req.url === '/add') sum += (JSON.parse(text) as { n: number }).n;
          const [, keys] = /^\/by-key\?keys=(.*)/.exec(req.url!) ?? [];
          if (keys) return void res.end(JSON.stringify({ [keys]: { name: keys } }));
          res.end(req.url?.startsWith('/book') ? JSON.stringify({ name: req.url }) : String(sum));
        });
      },
    );
  });
  after(async () => {
    for (const each of [...open, backend]) await each.close();
  });
  beforeEach(() => {
    backend.asked.length = 0;
    most = 0;
  });

  async function start(options: Partial<GraphQLApiOptions> = {}, context = createContext()): Promise<string> {
    const all = { schemaDefinition: SCHEMA, resolutions, upstreams: { backend: backend.url }, ...options };
    const front = await serveHandler(graphqlApi(all, context));
    open.push(front);
    return front.url;
  }

  it('a hundred products with details, reviews and ratings: 301 requests, at most 20 at a time', async () => {
    const url = await start();
    const { body } = await ask(url, '{ products { id detail review rating again: detail } }');
    expect(body.errors).to.equal(undefined);
    expect(body.data.products[99]).to.deep.equal({
      id: 'p99',
      detail: 'd p99',
      review: 'r p99',
      rating: 5,
      again: 'd p99',
    });
    expect(backend.asked).to.have.length(301);
    expect(most).to.be.within(2, 20);
  });

  it('more requests than an operation may make: errors of the fields, and no more than that are made', async () => {
    const url = await start({ limits: { maxUpstreamCalls: 11 } });
    const { body } = await ask(url, '{ products { detail } }');
    expect(backend.asked).to.have.length(11);
    expect(body.errors).to.have.length(90);
    expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_LIMIT');
  });

  it('fields of a mutation run in sequence, and see earlier effects', async () => {
    const url = await start();
    sum = 0;
    const { body } = await ask(url, 'mutation { a: add(n: 1) b: read c: add(n: 1) d: read e: add(n: 1) }');
    expect(body).to.deep.equal({ data: { a: 1, b: 1, c: 2, d: 2, e: 3 } });
  });

  it('values of an interface or union are of the type they name; others are errors', async () => {
    const url = await start();
    const { body } = await ask(
      url,
      '{ found { __typename ... on Named { name } ... on Book { year } ...a } } fragment a on Author { born }',
    );
    expect(body.data.found).to.deep.equal([
      { __typename: 'Book', name: 'B', year: 1 },
      { __typename: 'Author', name: 'A', born: 2 },
      null,
    ]);
    expect(body.errors[0].path).to.deep.equal(['found', 2]);
  });

  it('@skip and @include are decided for each request', async () => {
    const url = await start();
    const query = 'query ($a: Boolean!) { mock { a @include(if: $a) b @skip(if: $a) ... @include(if: $a) { c: a } } }';
    expect((await ask(url, query, { a: true })).body.data.mock).to.deep.equal({ a: 1, c: 1 });
    expect((await ask(url, query, { a: false })).body.data.mock).to.deep.equal({ b: ['x'] });
    expect((await ask(url, query, {})).status).to.equal(400);
  });

  it('a field below the greatest depth is null with an error; the rest is answered', async () => {
    const url = await start({ maxDepth: 2 });
    const { status, body } = await ask(url, '{ book { name author { name } } }');
    expect(status).to.equal(200);
    expect(body.data).to.deep.equal({ book: { name: 'Book', author: { name: null } } });
    expect(body.errors[0].message).to.equal("field 'name' exceeds the max operation depth of 2 for this schema");
  });

  it('a mock responds immediately, with a delay, or with its error', async () => {
    const url = await start();
    const { body } = await ask(url, '{ mock { a } failing }');
    expect(body.data).to.deep.equal({ mock: { a: 1 }, failing: null });
    expect(body.errors[0].message).to.equal('on purpose');
  });

  it('an operation that exceeds its timeout returns a partial result', async () => {
    const url = await start({ limits: { operationTimeoutMs: 60 } });
    const { body } = await ask(url, '{ slow mock { a } }');
    expect(body.data).to.deep.equal({ slow: null, mock: { a: 1 } });
    expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_TIMEOUT');
  });

  it('a document that is too long is rejected unparsed, and accepted below a higher limit', async () => {
    const long = `{ mock { a } } #${'x'.repeat(65_536)}`;
    const { status, body } = await ask(await start(), long);
    expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'ERR_GRAPHQL_LIMIT']);
    expect(body.errors[0].message).to.equal('The document has more than 65536 characters.');
    const higher = await ask(await start({ limits: { maxDocumentLength: 70_000 } }), long);
    expect(higher.body.data).to.deep.equal({ mock: { a: 1 } });
  });

  it('introspection works if it is enabled', async () => {
    const url = await start({ enableIntrospection: true, limits: { maxTokens: 2000 } });
    const { body } = await ask(
      url,
      '{ __schema { queryType { name } directives { name } } __type(name: "Book") { kind fields { name type { kind ofType { name } } } interfaces { name } } }',
    );
    expect(body.errors).to.equal(undefined);
    expect(body.data.__schema.queryType.name).to.equal('Query');
    expect(body.data.__type.fields.map(({ name }: { name: string }) => name)).to.deep.equal([
      'id',
      'name',
      'year',
      'author',
    ]);
    expect(body.data.__schema.directives.map(({ name }: { name: string }) => name)).to.not.include('resolve');
  });

  it('persisted queries: not found, registered, then by hash alone, also by GET', async () => {
    const url = await start();
    const query = '{ mock { a } }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: hash('sha256', query, 'hex') } };
    const first = await post(url, JSON.stringify({ extensions }));
    expect(first.body.errors[0]).to.deep.equal({
      message: 'PersistedQueryNotFound',
      extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' },
    });
    expect(first.status).to.equal(404);
    expect((await post(url, JSON.stringify({ query, extensions }))).body.data.mock.a).to.equal(1);
    expect((await post(url, JSON.stringify({ extensions }))).body.data.mock.a).to.equal(1);
    const response = await fetch(`${url}?extensions=${encodeURIComponent(JSON.stringify(extensions))}`);
    expect(await response.json()).to.deep.equal({ data: { mock: { a: 1 } } });
  });

  it('a flood of registrations keeps as many as the cache has places', async () => {
    const url = await start({ persistedQueryCacheConfig: { cacheSize: 2 } });
    const extensionsOf = (query: string) => ({
      persistedQuery: { version: 1, sha256Hash: hash('sha256', query, 'hex') },
    });
    const queries = Array.from({ length: 20 }, (_, i) => `query q${i} { mock { a } }`);
    for (const query of queries) await post(url, JSON.stringify({ query, extensions: extensionsOf(query) }));
    const found = await Promise.all(
      queries.map((query) => post(url, JSON.stringify({ extensions: extensionsOf(query) }))),
    );
    expect(found.filter(({ status }) => status === 200)).to.have.length(2);
  });

  it('only allowed queries run', async () => {
    const query = '{ mock { a } }';
    const url = await start({ allowedQueryHashes: [hash('sha256', query, 'hex')] });
    expect((await ask(url, query)).status).to.equal(200);
    const other = '{ mock { b } }';
    const persistedQuery = { version: 1, sha256Hash: hash('sha256', other, 'hex') };
    for (const request of [
      { query: other },
      { query: other, extensions: { persistedQuery } },
      { extensions: { persistedQuery } },
    ]) {
      const { status, body } = await post(url, JSON.stringify(request));
      expect(status).to.equal(403);
      expect(body.errors[0].extensions.code).to.equal('ERR_GRAPHQL_QUERY_NOT_ALLOWED');
    }
  });

  it('a result that all may share is kept, with Cache-Control of the shortest time', async () => {
    let now = 1_000_000;
    const url = await start({}, createContext({ now: () => now }));
    const first = await ask(url, '{ book { name author { name } } }');
    expect(first.headers.get('cache-control')).to.equal('max-age=60, public');
    expect(first.headers.get('age')).to.equal(null);
    now += 500;
    expect((await ask(url, '{ book { name author { name } } }')).headers.get('age')).to.equal(null);
    now += 20_000;
    const kept = await ask(url, '{ book { name author { name } } }');
    expect(kept.headers.get('age')).to.equal('20');
    expect(backend.asked).to.have.length(1);
    now += 40_000;
    await ask(url, '{ book { name author { name } } }');
    expect(backend.asked).to.have.length(2);
  });

  it('a result from a shared cache has its age', async () => {
    let now = 1_000_000;
    const kept = new Map<string, string>();
    const cache = {
      get: async (key: string) => kept.get(key),
      set: async (key: string, value: string) => void kept.set(key, value),
    };
    const url = await start({ cache }, createContext({ now: () => now }));
    await ask(url, '{ book { name } }');
    now += 7000;
    const { headers } = await ask(url, '{ book { name } }');
    expect([headers.get('cache-control'), headers.get('age')]).to.deep.equal(['max-age=60, public', '7']);
    expect(backend.asked).to.have.length(1);
  });

  it('a private result, one by a header, and one with a field of no time are not kept', async () => {
    const url = await start();
    expect((await ask(url, '{ mine { name } }')).headers.get('cache-control')).to.equal('max-age=60, private');
    await ask(url, '{ mine { name } }');
    expect(backend.asked).to.have.length(2);
    expect((await ask(url, '{ byHeader }', {}, { 'x-user': 'a' })).body.data.byHeader).to.equal('/book?for=a');
    const byHeader = await ask(url, '{ byHeader }', {}, { 'x-user': 'b' });
    expect(byHeader.body.data.byHeader).to.equal('/book?for=b');
    expect(byHeader.headers.get('cache-control')).to.equal('max-age=60, private');
    expect((await ask(url, '{ book { name } mock { a } }')).headers.get('cache-control')).to.equal(null);
  });

  for (const [name, value] of [
    ['authorization', 'Bearer a'],
    ['cookie', 'session=a'],
  ] as const) {
    const headers: Record<string, string> = { [name]: value };
    for (const [where, cacheOf] of [
      ['in memory', () => undefined],
      ['elsewhere', mapStore],
    ] as const) {
      it(`a result without a scope is for its client alone where the request has ${name}, ${where}`, async () => {
        const cache = cacheOf();
        const url = await start(cache ? { cache } : {});
        const query = '{ book { name } }';
        expect((await ask(url, query)).headers.get('cache-control')).to.equal('max-age=60, public');
        for (let i = 0; i < 2; i++) {
          const own = await ask(url, query, {}, headers);
          expect(own.headers.get('cache-control')).to.equal('max-age=60, private');
        }
        expect(backend.asked).to.have.length(3);
        await ask(url, query);
        expect(backend.asked).to.have.length(3);
      });

      it(`a result that is declared public is shared where the request has ${name}, ${where}`, async () => {
        const cache = cacheOf();
        const url = await start(cache ? { cache } : {});
        for (const sent of [headers, {}, headers]) {
          const { headers: answered } = await ask(url, '{ news { name } }', {}, sent);
          expect(answered.get('cache-control')).to.equal('max-age=60, public');
        }
        expect(backend.asked).to.have.length(1);
      });
    }
  }

  for (const [where, cacheOf] of [
    ['in memory', () => undefined],
    ['elsewhere', mapStore],
  ] as const) {
    it(`each operation of a document has its own result, kept ${where}`, async () => {
      const cache = cacheOf();
      const url = await start(cache ? { cache } : {});
      const query = 'query A { book { name } } query B { book { year } }';
      for (let i = 0; i < 2; i++) {
        for (const [operationName, field] of [
          ['A', 'name'],
          ['B', 'year'],
        ] as const) {
          const { body } = await post(url, JSON.stringify({ query, operationName }));
          expect(Object.keys(body.data.book)).to.deep.equal([field]);
        }
      }
      expect(backend.asked).to.have.length(2);
    });

    it(`each combination of variables has its own result, kept ${where}`, async () => {
      const cache = cacheOf();
      const url = await start(cache ? { cache } : {});
      const query = 'query ($with: Boolean!) { book { name year @include(if: $with) } }';
      for (const given of [true, false, true]) {
        const { body } = await ask(url, query, { with: given });
        expect('year' in body.data.book).to.equal(given);
      }
    });
  }

  it('a result with one field of no scope beside a public one is for its client alone', async () => {
    const url = await start();
    const { headers } = await ask(url, '{ news { name } book { name } }', {}, { authorization: 'Bearer a' });
    expect(headers.get('cache-control')).to.equal('max-age=60, private');
  });

  it('a number that JavaScript cannot represent keeps its digits', async () => {
    const schemaDefinition = `
      scalar Any
      input In { any: Any id: ID list: [Float] }
      type Query { echo(x: Any): Any @resolve(name: "echo") id(x: ID): Any @resolve(name: "echo") in(x: In): Any @resolve(name: "echo") }
    `;
    const url = await start({ schemaDefinition, resolutions: { echo: rest('/book?x={$args.x}') } });
    for (const [query, x, expected] of [
      ['query ($x: Any) { echo(x: $x) }', '9007199254740993', '9007199254740993'],
      ['query ($x: Any) { echo(x: $x) }', '{"a":[9007199254740993]}', '{"a":[9007199254740993]}'],
      ['query ($x: ID) { echo: id(x: $x) }', '9007199254740993', '9007199254740993'],
      [
        'query ($x: In) { echo: in(x: $x) }',
        '{"any":9007199254740993,"id":9007199254740993,"list":[1e22]}',
        '{"any":9007199254740993,"id":"9007199254740993","list":[1e+22]}',
      ],
      ['{ echo(x: 9007199254740993) }', 'null', '9007199254740993'],
      ['{ echo(x: { a: [9007199254740993] }) }', 'null', '{"a":[9007199254740993]}'],
    ] as const) {
      const { body } = await post(url, `{"query":${JSON.stringify(query)},"variables":{"x":${x}}}`);
      expect(decodeURIComponent((body.data.echo.name as string).slice('/book?x='.length)), query).to.equal(expected);
    }
  });

  it('results keep the digits of numbers in custom scalars and IDs', async () => {
    const row = '{"any":9007199254740993,"id":9007199254740993,"price":1e22,"nested":{"a":[1.23456789012345678901]}}';
    const big = await serveJson({}, (_req, res) => void res.end(row));
    const url = await start({
      schemaDefinition:
        'scalar Any type Query { row: Row @resolve(name: "row") } type Row { any: Any id: ID price: Float nested: Any }',
      resolutions: { row: rest('/') },
      upstreams: { backend: big.url },
    });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ row { any id price nested } }"}',
    });
    await big.close();
    expect(await response.text()).to.equal(
      '{"data":{"row":{"any":9007199254740993,"id":"9007199254740993","price":1e+22,"nested":{"a":[1.23456789012345678901]}}}}',
    );
  });

  it('a number that is out of range is rejected', async () => {
    const schemaDefinition =
      'scalar Any type Query { echo(x: Any): Any @resolve(name: "echo") @cacheControl(maxAge: 60) }';
    const echo = rest('/book?x={$args.x}');
    const url = await start({ schemaDefinition, resolutions: { echo } });
    for (const x of ['1e999', '-1e999', '[1e999,null]']) {
      const query = 'query ($x: Any) { echo(x: $x) }';
      const { status, body } = await post(url, `{"query":${JSON.stringify(query)},"variables":{"x":${x}}}`);
      expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'ERR_GRAPHQL_BODY']);
    }
    expect(backend.asked).to.have.length(0);
  });

  it('a timeout beyond the limit of timers is the longest one', async () => {
    const url = await start({ limits: { operationTimeoutMs: 3_000_000_000, pingIntervalMs: 3_000_000_000 } });
    expect((await ask(url, '{ book { name } }')).body).to.deep.equal({ data: { book: { name: 'Book' } } });
  });

  it('a header that only a setter or the key of a batch reads makes a result private, too', async () => {
    const schemaDefinition = `
      type Query { set: Book @resolve(name: "set") @cacheControl(maxAge: 60) keyed: Book @resolve(name: "keyed") @cacheControl(maxAge: 60) }
      type Book { name: String }`;
    const set = rest('/book', { response: { setters: { name: '{$headers.x-user}' } } });
    const keyed = rest('/by-key?keys={$batch.keys}', { batch: { key: '{$headers.x-user}' } });
    const url = await start({ schemaDefinition, resolutions: { set, keyed } });
    for (const field of ['set', 'keyed']) {
      for (const user of ['a', 'b', 'a']) {
        const { body, headers } = await ask(url, `{ ${field} { name } }`, {}, { 'x-user': user });
        expect(body).to.deep.equal({ data: { [field]: { name: user } } });
        expect(headers.get('cache-control')).to.equal('max-age=60, private');
      }
    }
  });

  it('batches return results in order if they are allowed', async () => {
    const url = await start({ limits: { maxBatchSize: 2 } });
    const one = { query: '{ mock { a } }' };
    const { body } = await post(url, JSON.stringify([one, { query: '{ nothing }' }]));
    expect(body[0]).to.deep.equal({ data: { mock: { a: 1 } } });
    expect(body[1].errors).to.have.length(1);
    expect((await post(url, JSON.stringify([one, one, one]))).status).to.equal(400);
  });

  it('limits can be wider', async () => {
    const url = await start({ limits: { maxAliases: 30 } });
    const aliases = Array.from({ length: 20 }, (_, i) => `a${i}: a`).join(' ');
    expect((await ask(url, `{ mock { ${aliases} } }`)).status).to.equal(200);
  });

  it('counts requests, errors and resolutions', async () => {
    const metrics = createMetrics();
    const url = await start({ name: 'shop' }, createContext({ metrics }));
    await ask(url, '{ book { name } }');
    await ask(url, '{');
    await ask(url, '{ nothing }');
    await post(url, '{');
    const value = (path: string) =>
      (metrics.list().find(({ name }) => name.path === path)!.stat as { value: number }).value;
    expect(value('shop.graphql.rq_total')).to.equal(4);
    expect(value('shop.graphql.rq_error')).to.equal(3);
    expect(value('shop.graphql.rq_parse_query_error')).to.equal(1);
    expect(value('shop.graphql.rq_invalid_query_error')).to.equal(1);
    expect(value('shop.graphql.rq_parse_json_error')).to.equal(1);
    expect(value('shop.graphql.book.rest_resolver.total_resolutions')).to.equal(1);
  });

  const broken: [string, Partial<GraphQLApiOptions>][] = [
    ['a schema that cannot be read', { schemaDefinition: 'type Query {' }],
    ['@resolve of a resolution that is not there', { resolutions: {} }],
    [
      'a path that a value could begin',
      { schemaDefinition: 'type Query { a: Int @resolve(name: "a") }', resolutions: { a: rest('{$args.a}') } },
    ],
    [
      'a header that frames the message',
      {
        schemaDefinition: 'type Query { a: Int @resolve(name: "a") }',
        resolutions: {
          a: {
            restResolver: {
              upstreamRef,
              timeout: '30s',
              request: { headers: { ':path': '/', 'Transfer-Encoding': 'x' } },
            },
          },
        },
      },
    ],
    [
      'a resolver without an upstream',
      {
        schemaDefinition: 'type Query { a: Int @resolve(name: "a") }',
        resolutions: { a: { restResolver: { request: { headers: { ':path': '/' } } } } },
      },
    ],
    ['an upstream that is no URL', { upstreams: { backend: 'file:///etc/passwd' } }],
  ];
  for (const [name, options] of broken) {
    it(`${name}: rejected when the API is made`, () => {
      const make = () => graphqlApi({ schemaDefinition: SCHEMA, resolutions, ...options });
      expect(make).to.throw().with.property('code', 'ERR_GRAPHQL_API');
    });
  }
});

/** A store of results that forgets nothing. */
function mapStore(): ResultStore {
  const kept = new Map<string, string>();
  return {
    get: async (key) => kept.get(key),
    set: async (key, value) => void kept.set(key, value),
  };
}
