import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { GatewayProcess } from './gateway-process.ts';

const config = (ports: readonly number[]): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: books, namespace: gw-system }
spec: { static: { hosts: [${ports.map((port) => `{ addr: 127.0.0.1, port: ${port} }`).join(', ')}] } }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: books, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { book: Book @resolve(name: "book") }
      type Mutation { rename: Book @resolve(name: "rename") }
      type Book { title: String }
    executor:
      local:
        resolutions:
          book:
            restResolver:
              upstreamRef: { name: books, namespace: gw-system }
              timeout: 20s
              request: { headers: { ":path": /book } }
          rename:
            restResolver:
              upstreamRef: { name: books, namespace: gw-system }
              timeout: 20s
              request: { headers: { ":path": /book }, body: { title: new } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: books, namespace: gw-system }
spec:
  virtualHost:
    domains: ["*"]
    options: { retries: { retryOn: 5xx } }
    routes:
      - matchers: [{ prefix: /own }]
        graphqlApiRef: { name: books, namespace: gw-system }
        options: { retries: { retryOn: connect-failure, numRetries: 2 } }
      - matchers: [{ prefix: / }]
        graphqlApiRef: { name: books, namespace: gw-system }
`;

describe('the retries of a route to a GraphQLApi', () => {
  const gateway = new GatewayProcess();
  const methods: string[] = [];
  let fails = 0;
  let backend: Server;

  before(async () => {
    backend = createServer((req, res) => {
      methods.push(req.method!);
      if (fails-- > 0) res.writeHead(503).end();
      else res.end('{"title":"Emma"}');
    });
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const closed = (gone.address() as AddressInfo).port;
    gone.close();
    gateway.write('books.yaml', config([closed, (backend.address() as AddressInfo).port]));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    backend.close();
    backend.closeAllConnections();
  });
  beforeEach(() => {
    methods.length = 0;
    fails = 0;
  });

  async function ask(path: string, query: string): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify({ query }) };
    return ((await (await fetch(gateway.url + path, sent)).json()) as { data: unknown }).data;
  }

  it('send resolver calls to another endpoint if one is gone', async () => {
    for (let i = 0; i < 10; i++) {
      expect(await ask('/own', '{ book { title } }')).to.deep.equal({ book: { title: 'Emma' } });
      expect(await ask('/own', 'mutation { rename { title } }')).to.deep.equal({ rename: { title: 'Emma' } });
    }
    expect(methods.filter((method) => method === 'GET')).to.have.length(10);
    expect(methods.filter((method) => method === 'POST')).to.have.length(10);
  });

  it('default to those of the virtual host', async () => {
    for (let i = 0; i < 4; i++) {
      expect(await ask('/', '{ book { title } }')).to.deep.equal({ book: { title: 'Emma' } });
    }
  });

  it('do not repeat a mutation after a response of the upstream', async () => {
    fails = 9;
    expect(await ask('/', 'mutation { rename { title } }')).to.deep.equal({ rename: null });
    expect(methods.length).to.be.at.most(1);
  });
});
