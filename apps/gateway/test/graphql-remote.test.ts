import { startTodos, startUsersGrpc, type Service } from '@edge-gateway/demo';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { staticUpstream } from '../../../test/parts/static-upstream.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const RESOURCES = `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec: { discovery: { fdsMode: BLACKLIST } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: graphql, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /todos }]
        graphqlApiRef: { name: todos, namespace: gw-system }
        options: { prefixRewrite: /graphql }
      - matchers: [{ prefix: /shop }]
        graphqlApiRef: { name: shop, namespace: gw-system }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: products, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { GetProduct: Product @resolve(name: "Query|GetProduct") }
      type Product { name: String seller: User }
      type User { username: String }
    executor:
      local:
        resolutions:
          Query|GetProduct:
            restResolver: { upstreamRef: { name: products, namespace: gw-system }, timeout: 10s, request: { headers: { ':path': /product } } }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: shop, namespace: gw-system }
spec:
  stitchedSchema:
    subschemas:
      - { name: products, namespace: gw-system }
      - name: users
        namespace: gw-system
        typeMerge:
          User: { selectionSet: '{ username }', queryName: GetUser, args: { user_search.username: username } }
---`;

describe('remote, discovered and joined APIs in the gateway', () => {
  const gateway = new GatewayProcess();
  let services: Service[];
  let products: Server;

  before(async () => {
    services = [await startTodos(), await startUsersGrpc()];
    products = createServer((_req, res) => res.end('{"name":"Ring","seller":{"username":"frodo"}}'));
    await new Promise<void>((resolve) => products.listen(0, '127.0.0.1', resolve));
    gateway.write('resources.yaml', RESOURCES);
    const [todos, users] = services;
    const { port } = products.address() as AddressInfo;
    gateway.write(
      'upstreams.yaml',
      [
        staticUpstream('todos', todos!.port),
        staticUpstream('users', users!.port),
        staticUpstream('products', port),
      ].join('---'),
    );
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    products.closeAllConnections();
    products.close();
    for (const service of services) await service.close();
  });

  async function ask(path: string, query: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return { status: response.status, text: await response.text() };
  }

  it('forwards a query to the discovered server', async () => {
    const query = '{ todo(id: "b") { id text done } }';
    await until(async () => (await ask('/todos', query)).status === 200, 'an answer');
    const { text } = await ask('/todos', query);
    expect(JSON.parse(text)).to.deep.equal({ data: { todo: { id: 'b', text: 'Test it', done: false } } });
    expect((await ask('/todos', '{ nothing }')).status).to.equal(400);
  });

  it('forwards subscriptions over WebSocket and server-sent events', async () => {
    await until(async () => (await ask('/todos', '{ todoList { id } }')).status === 200, 'an answer');
    const client = createClient({ url: `${gateway.url.replace('http', 'ws')}/todos`, webSocketImpl: WebSocket });
    const texts: unknown[] = [];
    client.subscribe<{ todoAdded: { text: string } }>(
      { query: 'subscription { todoAdded { text } }' },
      { next: ({ data }) => void texts.push(data?.todoAdded.text), error: () => {}, complete: () => {} },
    );
    const over = new AbortController();
    const events = await fetch(`${gateway.url}/todos`, {
      method: 'POST',
      signal: over.signal,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { todoAdded { text } }' }),
    });
    let text = '';
    const reading = (async () => {
      for await (const chunk of events.body!) text += Buffer.from(chunk).toString();
    })().catch(() => {});
    await until(async () => {
      await ask('/todos', 'mutation { createTodo(text: "new") { id } }');
      return texts.includes('new') && text.includes('"text":"new"');
    }, 'both subscriptions');
    over.abort();
    await client.dispose();
    await reading;
  });

  it('completes the seller of a product from the discovered gRPC service', async () => {
    const query = '{ GetProduct { name seller { username fullName userId } } }';
    await until(async () => (await ask('/shop', query)).status === 200, 'an answer');
    const { text } = await ask('/shop', query);
    expect(JSON.parse(text)).to.deep.equal({
      data: { GetProduct: { name: 'Ring', seller: { username: 'frodo', fullName: 'Frodo Baggins', userId: 2 } } },
    });
  });
});
