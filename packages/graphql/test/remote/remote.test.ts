import { hash } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { createContext, type Loggers } from '@edge-gateway/core';
import { startTodos, type Service } from '@edge-gateway/demo';
import { expect } from 'chai';
import { serverAudits } from 'graphql-http';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { until } from '../../../../test/parts/until.ts';
import { graphqlApi, type GraphQLApiOptions } from '../../src/index.ts';
import { SCHEMA_AGE_MS } from '../../src/remote/followed-schema.ts';
import { ask, post, serve, serveHandler, type TestServer } from '../servers.ts';

const SCHEMA = 'type Query { todo(id: ID!): Todo secret: String } type Todo { id: ID text: String }';

describe('a remote API', () => {
  let todos: Service;
  const open: { close(): Promise<void> }[] = [];

  before(async () => {
    todos = await startTodos();
  });
  after(() => todos.close());
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  async function front(url: string, options: Partial<GraphQLApiOptions> = {}): Promise<TestServer> {
    const handler = graphqlApi({ remote: { upstreamRef: { name: 'todos' } }, upstreams: { todos: url }, ...options });
    const server = await serveHandler(handler);
    open.push(server, { close: async () => handler.close?.() });
    return server;
  }

  /** A server that answers everything in one way. */
  async function broken(answer: Parameters<typeof serve>[0], options: Partial<GraphQLApiOptions> = {}) {
    const server = await serve(answer);
    open.push(server);
    return { server, front: await front(server.url, { schemaDefinition: SCHEMA, ...options }) };
  }

  it('forwards queries and mutations, with variables and operation name', async () => {
    const { url } = await front(`http://127.0.0.1:${todos.port}`);
    const { body } = await ask(url, 'query ($id: ID!) { todo(id: $id) { id text done } }', { id: 'b' });
    expect(body).to.deep.equal({ data: { todo: { id: 'b', text: 'Test it', done: false } } });
    const changed = await ask(url, 'mutation { updateTodo(id: "b", done: true) { done } }');
    expect(changed.body).to.deep.equal({ data: { updateTodo: { done: true } } });
  });

  it('rejects an invalid query without a request to the server', async () => {
    const { server, front } = await broken((_req, res) => res.end('{"data":{}}'));
    const { status, body } = await ask(front.url, '{ nothing }');
    expect(status).to.equal(400);
    expect(body.errors[0].message).to.equal('Cannot query field "nothing" on type "Query".');
    expect(server.asked).to.deep.equal([]);
  });

  it('reads the schema of the server once', async () => {
    const { url } = await front(`http://127.0.0.1:${todos.port}`);
    const answers = await Promise.all([ask(url, '{ todoList { id } }'), ask(url, '{ nothing }')]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 400]);
  });

  describe('whose server changes its schema', () => {
    let now = 0;
    const sdl = (type: string): string => `type Query { n: ${type} }`;

    async function changed(schemaChanges?: GraphQLApiOptions['schemaChanges']): Promise<number> {
      let schema = buildSchema(sdl('Int'));
      const server = await serve(async (req, res) => {
        const { query } = (await json(req)) as { query: string };
        const data = query.includes('__schema') ? introspectionFromSchema(schema) : { n: null };
        res.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
      });
      const parts = { remote: { upstreamRef: { name: 'todos' } }, upstreams: { todos: server.url }, schemaChanges };
      const warnings: string[] = [];
      const write = {
        warn: (_entry: object, message: string) => void warnings.push(message),
        error() {},
        info() {},
        debug() {},
      };
      const log = { get: () => write } as unknown as Loggers;
      const handler = graphqlApi(parts, createContext({ now: () => now, log }));
      const { url, close } = await serveHandler(handler);
      open.push(server, { close }, { close: async () => handler.close?.() });
      await ask(url, '{ n }');
      schema = buildSchema(sdl('[Int]').replace('n:', 'm:'));
      now += SCHEMA_AGE_MS + 1;
      await ask(url, '{ n }');
      await until(() => warnings.some((message) => message.startsWith('breaking schema change')));
      return (await ask(url, '{ n }')).status;
    }

    it('applies the new schema', async () => {
      expect(await changed()).to.equal(400);
    });

    it('keeps the previous schema if breaking changes are rejected', async () => {
      expect(await changed({ rejectBreakingChanges: true })).to.equal(200);
    });
  });

  it('passes every audit of GraphQL over HTTP', async () => {
    const { url } = await front(`http://127.0.0.1:${todos.port}`, { enableIntrospection: true });
    const failed: string[] = [];
    for (const audit of serverAudits({ url })) {
      const result = await audit.fn();
      if (result.status !== 'ok') failed.push(`${audit.id} ${audit.name}: ${result.reason}`);
    }
    expect(failed).to.deep.equal([]);
  });

  it('sends only the configured headers and query parameters, escaped', async () => {
    let seen: { url?: string; headers: NodeJS.Dict<string | string[]> } | undefined;
    const { front } = await broken(
      (req, res) => {
        seen = { url: req.url, headers: req.headers };
        res.end('{"data":{"secret":"x"}}');
      },
      {
        remote: {
          upstreamRef: { name: 'todos' },
          headers: { 'x-api-key': 'k', 'x-user': '{$headers.x-user}', 'x-none': '{$headers.x-none}' },
          queryParams: { user: '{$headers.x-user}' },
        },
      },
    );
    const { body } = await ask(
      front.url,
      '{ secret }',
      {},
      { 'x-user': 'a&b=c#d', authorization: 'Bearer t', cookie: 'c=1' },
    );
    expect(body).to.deep.equal({ data: { secret: 'x' } });
    expect(seen!.url).to.equal('/graphql?user=a%26b%3Dc%23d');
    expect(seen!.headers).to.include({ 'x-api-key': 'k', 'x-user': 'a&b=c#d' });
    expect(seen!.headers).to.not.have.any.keys('x-none', 'authorization', 'cookie');
  });

  it('forwards extensions except persistedQuery', async () => {
    const bodies: any[] = [];
    const { front } = await broken(async (req, res) => {
      bodies.push(await json(req));
      res.end('{"data":{"secret":"x"}}');
    });
    const query = '{ secret }';
    const persistedQuery = { version: 1, sha256Hash: hash('sha256', query, 'hex') };
    await post(front.url, JSON.stringify({ query, extensions: { persistedQuery } }));
    await post(front.url, JSON.stringify({ query, extensions: { persistedQuery, client: 'web' } }));
    expect(bodies).to.deep.equal([{ query }, { query, extensions: { client: 'web' } }]);
  });

  it('reads the schema again a second after a failure', async () => {
    let now = 1_000_000;
    let isUp = false;
    const schema = { data: introspectionFromSchema(buildSchema(SCHEMA)) };
    const server = await serve((_req, res) => {
      if (isUp) res.end(JSON.stringify(schema));
      else res.writeHead(500).end();
    });
    const parts = { remote: { upstreamRef: { name: 'todos' } }, upstreams: { todos: server.url } };
    const handler = graphqlApi(parts, createContext({ now: () => now }));
    const { url, close } = await serveHandler(handler);
    open.push(server, { close }, { close: async () => handler.close?.() });
    expect((await ask(url, '{ nothing }')).status).to.equal(502);
    isUp = true;
    expect((await ask(url, '{ nothing }')).status).to.equal(502);
    now += 1001;
    expect((await ask(url, '{ nothing }')).status).to.equal(400);
  });

  it('keeps a federation subgraph working', async () => {
    const schemaDefinition = `scalar _Any union _Entity = User type _Service { sdl: String! } type User { id: ID! }
      type Query { _service: _Service! _entities(representations: [_Any!]!): [_Entity]! }`;
    const { front } = await broken(
      (req, res) => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => chunks.push(chunk));
        req.on('end', () => {
          const { query, variables } = JSON.parse(String(Buffer.concat(chunks)));
          const data = query.includes('_service')
            ? { _service: { sdl: 'type User @key(fields: "id") { id: ID! }' } }
            : { _entities: variables.r };
          res.end(JSON.stringify({ data }));
        });
      },
      { schemaDefinition },
    );
    const service = await ask(front.url, '{ _service { sdl } }');
    expect(service.body.data._service.sdl).to.include('@key');
    const entities = await ask(
      front.url,
      'query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { id } } }',
      {
        r: [{ __typename: 'User', id: '1' }],
      },
    );
    expect(entities.body).to.deep.equal({ data: { _entities: [{ __typename: 'User', id: '1' }] } });
  });

  const MASKED = 'The GraphQL server returned no result.';
  const BROKEN: Record<string, Parameters<typeof serve>[0]> = {
    'text that is no JSON': (_req, res) => res.end('<html>internal.host</html>'),
    'an empty body': (_req, res) => res.end(),
    'JSON of another type': (_req, res) => res.end('[1]'),
    'data of another type': (_req, res) => res.end('{"data":"x"}'),
    'errors of another type': (_req, res) => res.end('{"data":{},"errors":{}}'),
    'neither data nor errors': (_req, res) => res.end('{}'),
    'status 404': (_req, res) => res.writeHead(404).end('{}'),
    'status 500': (_req, res) => res.writeHead(500).end('stack at internal.js'),
    'a redirect': (_req, res) => res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'half a body': (_req, res) => {
      res.writeHead(200, { 'content-length': '100' });
      res.write('{"data":', () => res.destroy());
    },
    'more than 10 MiB': (_req, res) => res.end(`{"data":{"secret":"${'x'.repeat(10 * 1024 * 1024)}"}}`),
    nothing: (req) => req.socket.destroy(),
  };
  for (const [name, answer] of Object.entries(BROKEN)) {
    it(`responds with an error if the server returns ${name}`, async () => {
      const { front } = await broken(answer);
      const { status, body } = await ask(front.url, '{ secret }');
      expect(status).to.equal(200);
      expect(body.data).to.equal(null);
      expect(body.errors).to.have.lengthOf(1);
      expect(body.errors[0]).to.deep.include({ message: MASKED });
      expect(body.errors[0].extensions).to.have.property('requestId');
    });
  }

  it('responds with an error if the server is too slow', async () => {
    const { front } = await broken(() => {}, { limits: { operationTimeoutMs: 50 } });
    const { body } = await ask(front.url, '{ secret }');
    expect(body.errors[0].extensions.code).to.be.oneOf(['ERR_GRAPHQL_TIMEOUT', 'ERR_GRAPHQL_UPSTREAM']);
  });

  it('responds with 502 while the schema is unknown', async () => {
    const server = await serve((_req, res) => res.writeHead(500).end());
    open.push(server);
    const { url } = await front(server.url);
    const { status, body } = await ask(url, '{ secret }');
    expect(status).to.equal(502);
    expect(body.errors[0].message).to.equal(MASKED);
    await ask(url, '{ secret }');
    expect(server.asked).to.have.lengthOf(1);
  });

  for (const errors of ['[]', 'null']) {
    it(`returns data beside "errors":${errors}`, async () => {
      const { front } = await broken((_req, res) => res.end(`{"data":{"todo":null},"errors":${errors}}`));
      const { body } = await ask(front.url, '{ todo(id: 1) { id } }');
      expect(body).to.deep.equal({ data: { todo: null } });
    });
  }

  it('returns errors of the server with their path and code', async () => {
    const { front } = await broken((_req, res) =>
      res
        .writeHead(200)
        .end(
          '{"data":{"todo":null},"errors":[{"message":"no","path":["todo"],"extensions":{"code":"X","trace":1},"stack":"s"},7]}',
        ),
    );
    const { body } = await ask(front.url, '{ todo(id: 1) { id } }');
    expect(body).to.deep.equal({
      errors: [
        { message: 'no', path: ['todo'], extensions: { code: 'X' } },
        { message: 'The server returned an error without a message.' },
      ],
      data: { todo: null },
    });
  });

  const wrong: readonly NonNullable<GraphQLApiOptions['remote']>[] = [
    {},
    { upstreamRef: { name: 'a' }, headers: { 'content-length': '1' } },
    { upstreamRef: { name: 'a' }, headers: { 'no name': '1' } },
    { upstreamRef: { name: 'a' }, headers: { a: '{$args.x}' } },
    { upstreamRef: { name: 'a' }, queryParams: { a: '{$body}' } },
  ];
  for (const remote of wrong) {
    it(`rejects ${JSON.stringify(remote)}`, () => {
      expect(() => graphqlApi({ remote }))
        .to.throw()
        .with.property('code', 'ERR_GRAPHQL_API');
    });
  }
});
