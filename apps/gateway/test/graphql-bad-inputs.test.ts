import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess } from './gateway-process.ts';

const resources = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: backend, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: graphql, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /local }]
        graphqlApiRef: { name: local, namespace: gw-system }
      - matchers: [{ prefix: /remote }]
        graphqlApiRef: { name: remote, namespace: gw-system }
        options: { prefixRewrite: /graphql }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: local, namespace: gw-system }
spec:
  options: { limits: { maxBatchSize: 5 } }
  executableSchema:
    schemaDefinition: |
      type Query { thing(kind: String): Thing @resolve(name: "thing") good: Thing @resolve(name: "good") }
      type Mutation { change: Thing @resolve(name: "good") }
      type Thing { name: String size: Int }
    executor:
      local:
        resolutions:
          good: { restResolver: { upstreamRef: { name: backend }, timeout: 10s, request: { headers: { ':path': /good } } } }
          thing:
            restResolver:
              upstreamRef: { name: backend }
              timeout: 3s
              request: { headers: { ':path': '/thing/{$args.kind}' } }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: remote, namespace: gw-system }
spec:
  options: { limits: { maxBatchSize: 5, operationTimeoutMs: 3000 } }
  executableSchema:
    schemaDefinition: |
      type Query { thing(kind: String): Thing good: Thing }
      type Mutation { change: Thing }
      type Thing { name: String size: Int }
    executor: { remote: { upstreamRef: { name: backend } } }
---
`;

/** How a backend fails, by what it is asked for. */
const FAULTS: Readonly<Record<string, (res: ServerResponse) => unknown>> = {
  html: (res) => res.end('<html>secret</html>'),
  missing: (res) => res.writeHead(404).end('{"name":"secret"}'),
  broken: (res) => res.writeHead(500).end('Error: secret at /srv/app.js:1'),
  moved: (res) => res.writeHead(307, { location: '/good' }).end(),
  half: (res) => res.writeHead(200, { 'content-length': '1000' }).write('{"name":"secret"', () => res.destroy()),
  reset: (res) => res.destroy(),
  large: (res) => res.end(`{"name":"${'x'.repeat(11 * 1024 * 1024)}"}`),
  slow: () => {},
  typed: (res) => res.end('{"name":["secret"],"size":"7"}'),
};
const QUERY = '{ good { name } }';

describe('bad input at the GraphQL routes of the gateway', () => {
  const gateway = new GatewayProcess();
  const asked: string[] = [];
  let backend: Server;

  before(async () => {
    backend = createServer(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      if (body.includes('IntrospectionQuery')) return void res.writeHead(404).end();
      asked.push(req.url!);
      const kind = /kind: \\"(\w+)/.exec(body)?.[1] ?? req.url!.split('/')[2];
      if (kind && Object.hasOwn(FAULTS, kind)) return void FAULTS[kind]!(res);
      res.end(body ? '{"data":{"good":{"name":"good"}}}' : '{"name":"good"}');
    });
    await new Promise<void>((done) => backend.listen(0, '127.0.0.1', done));
    gateway.write('resources.yaml', resources((backend.address() as AddressInfo).port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    backend.closeAllConnections();
    backend.close();
  });
  beforeEach(() => void asked.splice(0));

  async function send(path: string, init: RequestInit): Promise<{ status: number; headers: Headers; body: any }> {
    const response = await fetch(gateway.url + path, { method: 'POST', ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  }
  const post = (path: string, body: string, type = 'application/json') =>
    send(path, { body, headers: { 'content-type': type } });

  const CLASSES: readonly (readonly [what: string, status: number, init: RequestInit & { query?: string }])[] = [
    ['66: too many aliases', 400, { body: ask(`{ ${repeat(1000, (i) => `a${i}: good { name }`)} }`) }],
    ['66: too deep', 400, { body: ask(`${'{ good '.repeat(1000)}${'}'.repeat(1000)}`) }],
    ['66: too many tokens', 400, { body: ask('{ '.repeat(100_000)) }],
    ['66: too large', 413, { body: ask(`{ good { name } } # ${'x'.repeat(2 ** 21)}`) }],
    ['66: a query that does not fit', 400, { body: ask('{ nothing }') }],
    ['67: no JSON', 400, { body: '{"query":' }],
    ['67: no object', 400, { body: '7' }],
    ['67: another method', 405, { method: 'PUT', body: ask(QUERY) }],
    ['67: a mutation by GET', 405, { method: 'GET', query: 'mutation { change { name } }' }],
    [
      '67: a form',
      415,
      { body: 'query=%7B+good+%7D', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
    ['67: an upload', 415, { body: '--x--', headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    [
      '68: a batch that is too long',
      400,
      { body: JSON.stringify(Array.from({ length: 6 }, () => ({ query: QUERY }))) },
    ],
    [
      '68: a batch of a thousand',
      400,
      { body: JSON.stringify(Array.from({ length: 1000 }, () => ({ query: QUERY }))) },
    ],
    ['69: an unknown persisted id', 404, { body: persisted('a'.repeat(64)) }],
    ['69: a persisted id that is none', 400, { body: persisted('../../etc/passwd') }],
  ];
  for (const route of ['/local', '/remote']) {
    for (const [what, status, { query, ...init }] of CLASSES) {
      it(`${route}, class ${what}: returns ${status} with a GraphQL error, without an upstream request`, async () => {
        const path = query === undefined ? route : `${route}?query=${encodeURIComponent(query)}`;
        const answer = await send(path, { headers: { 'content-type': 'application/json' }, ...init });
        expect(answer.body).to.have.nested.property('errors[0].message').that.is.a('string');
        expect(answer.body).to.not.have.property('data');
        expect(answer.body.errors[0].extensions.code).to.match(/^(ERR_GRAPHQL_|PERSISTED_QUERY_NOT_FOUND$)/);
        expect(answer.headers.get('content-type')).to.match(/^application\/(graphql-response\+)?json/);
        expect(answer.status).to.equal(status);
        expect(asked).to.deep.equal([]);
      });
    }
  }

  for (const kind of Object.keys(FAULTS)) {
    it(`/local, a backend that is ${kind}: returns an error for that field after one request`, async () => {
      const { status, body } = await post('/local', ask(`{ thing(kind: "${kind}") { name size } good { name } }`));
      expect(status).to.equal(200);
      expect(body.data.good).to.deep.equal({ name: 'good' });
      expect(body.data.thing).to.deep.equal(kind === 'typed' ? { name: null, size: null } : null);
      expect(body.errors.map(({ path }: { path: string[] }) => path[0]))
        .to.include('thing')
        .and.not.include('good');
      expect(JSON.stringify(body)).to.not.match(/secret|127\.0\.0\.1|app\.js/);
      const times = asked.filter((path) => path === `/thing/${kind}`).length;
      // A GET on a connection that was used before is made once more where the other side had closed it.
      expect(times).to.be.within(1, kind === 'reset' ? 2 : 1);
    });
    if (kind === 'typed') continue;
    it(`/remote, a server that is ${kind}: returns one error after one request`, async () => {
      const { status, body } = await post('/remote', ask(`{ thing(kind: "${kind}") { name } }`));
      expect(status).to.equal(200);
      expect(body.data).to.equal(null);
      expect(body.errors).to.have.length(1);
      expect(body.errors[0].extensions.code).to.match(/^ERR_GRAPHQL_(UPSTREAM|TIMEOUT)$/);
      expect(JSON.stringify(body)).to.not.match(/secret|127\.0\.0\.1|app\.js/);
      expect(asked).to.deep.equal(['/graphql']);
    });
  }

  it('serves valid requests afterwards', async () => {
    for (const route of ['/local', '/remote']) {
      expect((await post(route, ask(QUERY))).body).to.deep.equal({ data: { good: { name: 'good' } } });
    }
  });
});

function ask(query: string): string {
  return JSON.stringify({ query });
}

function persisted(sha256Hash: string): string {
  return JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash } } });
}

function repeat(count: number, text: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => text(i)).join(' ');
}
