import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocketServer } from 'ws';
import { GatewayProcess, until } from './gateway-process.ts';

/** Prints the package of each module that the program loads. */
const PRINT_PACKAGES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
      if (name) process.stdout.write('loaded ' + name + '\\n');
      return next(url, context);
    },
  });
`)}`;

/** Packages that only some configurations need. */
const UNNEEDED = ['@bufbuild/protobuf', '@grpc/grpc-js', 'graphql', 'http-proxy-middleware', 'typebox', 'undici'];

const resources = (port: number): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: echo, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: routes, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /graphql }]
        graphqlApiRef: { name: greeting, namespace: gw-system }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: echo, namespace: gw-system } } }
`;

const GRAPHQL_API = `
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: greeting, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: 'type Query { greeting: String @resolve(name: "greeting") }'
    executor:
      local:
        resolutions:
          greeting:
            restResolver:
              request: { headers: { ':method': GET, ':path': /greeting } }
              upstreamRef: { name: echo, namespace: gw-system }
`;

describe('a gateway', () => {
  const gateway = new GatewayProcess({ nodeFlags: ['--import', PRINT_PACKAGES] });
  let server: Server;
  const loaded = (): Set<string> => new Set([...gateway.output.matchAll(/^loaded (.*)$/gm)].map(([, name]) => name!));

  before(async () => {
    server = createServer((_req, res) => res.setHeader('content-type', 'application/json').end('"hello"'));
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => socket.send('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    gateway.write('resources.yaml', resources((server.address() as AddressInfo).port));
    await gateway.start();
  });
  after(async () => {
    await gateway.close();
    server.closeAllConnections();
    server.close();
  });

  it('loads no packages that its configuration does not need', async () => {
    expect(await fetch(`${gateway.url}/`).then((response) => response.json())).equal('hello');
    expect([...loaded()]).to.include('express');
    expect([...loaded()]).not.to.include.oneOf(UNNEEDED);
  });

  it('loads what forwards WebSockets with the first one', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/`);
    const message = await new Promise((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => resolve(data));
      socket.addEventListener('error', reject);
    });
    socket.close();
    expect(message).equal('hello');
    expect([...loaded()]).to.include('http-proxy-middleware');
  });

  it('loads GraphQL with the first GraphQLApi', async () => {
    gateway.write('api.yaml', GRAPHQL_API);
    const answer = await until(async () => {
      const body = JSON.stringify({ query: '{ greeting }' });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
      return response.status === 200 && response.json();
    }, 'the API is served');
    expect(answer).deep.equal({ data: { greeting: 'hello' } });
    expect([...loaded()]).to.include('graphql');
  });
});
