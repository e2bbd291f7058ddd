import { hash } from 'node:crypto';
import { expect } from 'chai';
import { graphqlApi, type GraphQLApiOptions } from '../src/middleware.ts';
import { ATTACKS, SCHEMA, SIZES } from './attack-documents.ts';
import { ask, post, serveHandler, serveJson, type GraphQLAnswer, type TestServer } from './servers.ts';

const QUERY = '{ node { id } }';
const upstreamRef = { name: 'backend' };
const rest = (path: string) => ({
  restResolver: { upstreamRef, timeout: '30s', request: { headers: { ':path': path } } },
});
const RESOLUTIONS = { node: rest('/node'), list: rest('/list') };
const PLAIN = SCHEMA.replaceAll(/@resolve\(name: "\w+"\)/g, '');

/** What stands before a backend; none of them may let an attack through to it. */
const ROUTES: Record<string, GraphQLApiOptions> = {
  'a remote API': { schemaDefinition: PLAIN, remote: { upstreamRef } },
  'a stitched API': {
    stitchedSchema: { subschemas: [{ name: 'local' }, { name: 'remote' }] },
    apis: {
      local: { executableSchema: { schemaDefinition: SCHEMA, executor: { local: { resolutions: RESOLUTIONS } } } },
      remote: {
        executableSchema: { schemaDefinition: 'type Query { other: Int }', executor: { remote: { upstreamRef } } },
      },
    },
  },
};

/** Servers that tell their schema are asked about it; the size of such questions is limited all the same. */
const ASKED_FOR = new Set(['introspection']);

describe('a GraphQL attack on', () => {
  let backend: TestServer;
  const open: TestServer[] = [];
  before(async () => {
    backend = await serveJson({ '/node': { id: '1' }, '/list': [], '/graphql': { data: { node: { id: '1' } } } });
  });
  after(() => backend.close());
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
    backend.asked.length = 0;
  });

  async function start(options: GraphQLApiOptions): Promise<string> {
    const front = await serveHandler(graphqlApi({ ...options, upstreams: { backend: backend.url } }));
    open.push(front);
    return front.url;
  }

  const expectRefused = ({ status, body, headers }: GraphQLAnswer, wanted = 400): void => {
    expect(status).to.equal(wanted);
    expect(headers.get('content-type')).to.match(/^application\/(graphql-response\+)?json/);
    expect(body).to.not.have.property('data');
    expect(body.errors[0].extensions.code).to.match(/^(ERR_GRAPHQL_|PERSISTED_QUERY_NOT_FOUND$)/);
    expect(body.errors[0].message)
      .to.be.a('string')
      .and.not.match(/backend|127\.0\.0\.1/);
    expect(backend.asked).to.deep.equal([]);
  };

  for (const [route, options] of Object.entries(ROUTES)) {
    for (const [name, document] of Object.entries(ATTACKS)) {
      if (ASKED_FOR.has(name)) continue;
      it(`${route}, ${name}, ${SIZES.join(', ')}: rejected before any request upstream`, async () => {
        const url = await start(options);
        for (const size of SIZES) expectRefused(await ask(url, document(size)));
      });
    }
  }

  const LOCAL: GraphQLApiOptions = { schemaDefinition: SCHEMA, resolutions: RESOLUTIONS };

  for (const count of [6, 60, 1000]) {
    it(`batches, ${count} operations where 5 are allowed: rejected before any request upstream`, async () => {
      const url = await start({ ...LOCAL, limits: { maxBatchSize: 5 } });
      expectRefused(await post(url, JSON.stringify(Array.from({ length: count }, () => ({ query: QUERY })))));
    });
  }

  it('batches with an invalid operation: rejected as a whole', async () => {
    const url = await start({ ...LOCAL, limits: { maxBatchSize: 5 } });
    for (const other of [7, null, [], '{ node { id } }']) {
      expectRefused(await post(url, JSON.stringify([{ query: QUERY }, other])));
    }
  });

  it('batches with an operation that is invalid for the schema: an error of that one only', async () => {
    const url = await start({ ...LOCAL, limits: { maxBatchSize: 5 } });
    const { status, body } = await post(url, JSON.stringify([{ query: QUERY }, { query: '{ nothing }' }]));
    expect(status).to.equal(200);
    expect(body[0]).to.deep.equal({ data: { node: { id: '1' } } });
    expect(body[1].errors[0].extensions.code).to.match(/^ERR_GRAPHQL_/);
  });

  for (const id of [hash('sha256', 'unknown', 'hex'), 'short', '', '0'.repeat(10_000), 'x\n'.repeat(32), 7, null, []]) {
    it(`persisted queries, the unknown id ${JSON.stringify(id).slice(0, 20)}: rejected, not registered`, async () => {
      const url = await start(LOCAL);
      const extensions = { persistedQuery: { version: 1, sha256Hash: id } };
      const answer = await post(url, JSON.stringify({ extensions }));
      expectRefused(answer, answer.status);
      expect(answer.status).to.be.oneOf([400, 404]);
      expect(answer.body.errors[0].extensions.code).to.match(/^(ERR_GRAPHQL_|PERSISTED_QUERY_NOT_FOUND$)/);
    });
  }

  it('persisted queries, a flood of registrations: the oldest are evicted', async () => {
    const url = await start({ ...LOCAL, persistedQueryCacheConfig: { cacheSize: 10 } });
    const registered = (i: number) => {
      const query = `{ node { id } } # ${i}`;
      return { query, extensions: { persistedQuery: { version: 1, sha256Hash: hash('sha256', query, 'hex') } } };
    };
    for (let i = 0; i < 100; i++) expect((await post(url, JSON.stringify(registered(i)))).status).to.equal(200);
    const { extensions: first } = registered(0);
    const { extensions: last } = registered(99);
    expect((await post(url, JSON.stringify({ extensions: first }))).body.errors[0].message).to.equal(
      'PersistedQueryNotFound',
    );
    expect((await post(url, JSON.stringify({ extensions: last }))).status).to.equal(200);
  });

  for (const [what, body] of [
    ['a query', JSON.stringify({ query: QUERY })],
    ['only a hash', JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } })],
  ] as const) {
    it(`an allow-list, by ${what} that is not on it: rejected before any request upstream`, async () => {
      const url = await start({ ...LOCAL, allowedQueryHashes: [hash('sha256', '{ list { id } }', 'hex')] });
      const answer = await post(url, body);
      expectRefused(answer, answer.status);
      expect(answer.status).to.be.oneOf([403, 404]);
    });
  }

  for (const [what, body, headers, wanted] of [
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), {}, 400],
    ['a lone surrogate', Buffer.from('{"query":"{ \xed\xa0\x80 }"}', 'latin1'), {}, 400],
    ['a NUL in the query', Buffer.from('{"query":"{ node\\u0000 { id } }"}'), {}, 400],
    [
      'another charset',
      Buffer.from(JSON.stringify({ query: QUERY })),
      { 'content-type': 'application/json; charset=utf-16' },
      415,
    ],
    ['XML', Buffer.from('<query/>'), { 'content-type': 'application/xml' }, 415],
    ['a body that says it is packed', Buffer.from('{}'), { 'content-encoding': 'gzip' }, 415],
    ['an operation that is not there', Buffer.from('{"query":"{ node { id } }","operationName":"none"}'), {}, 400],
    ['a wrong operation name', Buffer.from('{"query":"{ node { id } }","operationName":7}'), {}, 400],
    ['two operations and no name', Buffer.from('{"query":"query a { node { id } } query b { node { id } }"}'), {}, 400],
    [
      'a variable of another type',
      Buffer.from('{"query":"query ($id: ID) { node(id: $id) { id } }","variables":{"id":{}}}'),
      {},
      400,
    ],
    ['extensions that are none', Buffer.from('{"query":"{ node { id } }","extensions":[]}'), {}, 400],
    ['a subscription where there are none', Buffer.from('{"query":"subscription { node { id } }"}'), {}, 400],
  ] as const) {
    it(`bodies, ${what}: ${wanted} before any request upstream`, async () => {
      const url = await start(LOCAL);
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      const answer = { status: response.status, headers: response.headers, body: await response.json() };
      expectRefused(answer, wanted);
    });
  }
});
