import { createSign, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { buildSchema } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayProcess, until } from './gateway-process.ts';

const certificate = (file: string): URL =>
  new URL(`../../../packages/routing/test/upstream/certificates/${file}`, import.meta.url);
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const JWK = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' };
const SCHEMA = 'type Query { hello: String } type Subscription { ticks: Int count(to: Int!): Int }';

function tokenOf(email: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const input = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: 'me', exp, email })}`;
  return `${input}.${createSign('sha256').update(input).sign(privateKey, 'base64url')}`;
}

const resources = (ports: readonly number[]): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: events, namespace: gw-system }
spec:
  static:
    hosts: [${ports.map((port) => `{ addr: 127.0.0.1, port: ${port} }`).join(', ')}]
  sslConfig: { sni: localhost, sslFiles: { rootCa: ${certificate('ca.crt').pathname} } }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: events, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: '${SCHEMA}'
    executor:
      remote:
        upstreamRef: { name: events, namespace: gw-system }
        headers: { x-email: '{$headers.x-email}' }
  options: { allowedOrigins: ['https://app.example.com'], limits: { maxSubscriptions: 3, pingIntervalMs: 3600000 } }
---
apiVersion: enterprise.gw.vendor.io/v1
kind: AuthConfig
metadata: { name: staff, namespace: gw-system }
spec:
  configs:
    - basicAuth: { realm: events, apr: { users: { alice: { salt: TYiryv0/, hashedPassword: 8BvzLUO9IfGPGGsPnAgSu1 } } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: events, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: /open }]
        graphqlApiRef: { name: events, namespace: gw-system }
        options: { prefixRewrite: /graphql }
      - matchers: [{ prefix: /closed }]
        graphqlApiRef: { name: events, namespace: gw-system }
        options: { prefixRewrite: /graphql, upgrades: [{ websocket: { enabled: false } }] }
      - matchers: [{ prefix: /staff }]
        graphqlApiRef: { name: events, namespace: gw-system }
        options: { prefixRewrite: /graphql, extauth: { configRef: { name: staff, namespace: gw-system } } }
      - matchers: [{ prefix: /token }]
        graphqlApiRef: { name: events, namespace: gw-system }
        options:
          prefixRewrite: /graphql
          jwtProvidersStaged:
            afterExtAuth:
              providers:
                main: { issuer: me, jwks: { local: { key: '${JSON.stringify(JWK)}' } }, claimsToHeaders: [{ claim: email, header: x-email }] }
          rbac:
            policies:
              admins:
                principals: [{ jwtPrincipal: { claims: { email: admin@example.com } } }]
                permissions: { pathPrefix: /token }
`;

/** An upgrade that a server has received, with the port, which a closed socket no longer has. */
interface Upgrade {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly port: number | undefined;
}

/** A server with subscriptions over WebSocket and TLS. */
async function startEvents(upgrades: Upgrade[]): Promise<{ server: Server; sockets: WebSocketServer }> {
  const server = createServer({
    key: readFileSync(certificate('server.key')),
    cert: readFileSync(certificate('server.crt')),
  });
  server.on('request', (_req, res) => res.writeHead(405).end());
  server.on('upgrade', ({ url, headers, socket: { localPort } }: IncomingMessage) =>
    upgrades.push({ url, headers, port: localPort }),
  );
  const sockets = new WebSocketServer({ server });
  const roots = {
    subscription: {
      async *count({ to }: { to: number }) {
        for (let i = 1; i <= to; i++) yield { count: i };
      },
      async *ticks() {
        for (let i = 1; ; i++) {
          yield { ticks: i };
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
    },
  };
  useServer({ schema: buildSchema(SCHEMA), roots: roots as never }, sockets);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, sockets };
}

describe('subscriptions through the gateway to servers over WebSocket and TLS', () => {
  let gateway: GatewayProcess;
  let servers: Awaited<ReturnType<typeof startEvents>>[];
  let upgrades: Upgrade[];
  let written: string;

  before(async () => {
    upgrades = [];
    servers = [await startEvents(upgrades), await startEvents(upgrades)];
    gateway = new GatewayProcess();
    written = resources(servers.map(({ server }) => (server.address() as AddressInfo).port));
    gateway.write('all.yaml', written);
    await gateway.start('--drain-seconds', '600');
  });
  after(async () => {
    await gateway.close();
    for (const { server, sockets } of servers) {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    }
  });
  beforeEach(async () => {
    upgrades.length = 0;
    await until(() => open() === 0, 'what the test before opened is closed');
  });

  const open = (): number => servers.reduce((sum, { sockets }) => sum + sockets.clients.size, 0);
  const webSocketUrl = (path: string): string => `${gateway.url.replace('http', 'ws')}${path}`;

  /** Subscribes over WebSocket and gives all that comes. */
  async function count(path: string, headers: Record<string, string> = {}): Promise<unknown[]> {
    const Implementation = class extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols, { headers });
      }
    };
    const client = createClient({ url: webSocketUrl(path), webSocketImpl: Implementation, retryAttempts: 0 });
    const results: unknown[] = [];
    for await (const { data } of client.iterate({ query: 'subscription { count(to: 2) }' })) results.push(data);
    return results;
  }

  async function events(path: string, query: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify({ query }),
    });
  }

  /** How the handshake of a client is answered. */
  async function handshake(path: string, headers: Record<string, string> = {}): Promise<string> {
    const webSocket = new WebSocket(webSocketUrl(path), 'graphql-transport-ws', { headers });
    return new Promise((resolve) => {
      webSocket.once('open', () => {
        webSocket.terminate();
        resolve('open');
      });
      webSocket.once('error', ({ message }) => resolve(message));
    });
  }

  it('reach both kinds of clients, from both endpoints in turn, at the rewritten path', async () => {
    const expected = [{ count: 1 }, { count: 2 }];
    expect(await count('/open')).to.deep.equal(expected);
    expect(await count('/open')).to.deep.equal(expected);
    const text = await (await events('/open', 'subscription { count(to: 2) }')).text();
    expect(text).to.equal(
      ':\n\nevent: next\ndata: {"data":{"count":1}}\n\nevent: next\ndata: {"data":{"count":2}}\n\nevent: complete\ndata:\n\n',
    );
    expect(upgrades.map(({ url }) => url)).to.deep.equal(['/graphql', '/graphql', '/graphql']);
    expect(new Set(upgrades.map(({ port }) => port)).size).to.equal(2);
  });

  it('require external auth: return 401 before the upgrade without a password, without a call to the server', async () => {
    expect(await handshake('/staff')).to.equal('Unexpected server response: 401');
    expect((await events('/staff', 'subscription { ticks }')).status).to.equal(401);
    expect(upgrades).to.deep.equal([]);
    const authorization = `Basic ${Buffer.from('alice:password').toString('base64')}`;
    expect(await count('/staff', { authorization })).to.have.length(2);
  });

  it('require tokens and policies: return 401 and 403 before the upgrade, without a call to the server', async () => {
    expect(await handshake('/token')).to.equal('Unexpected server response: 401');
    const bearer = (email: string) => ({ authorization: `Bearer ${tokenOf(email)}` });
    expect(await handshake('/token', bearer('user@example.com'))).to.equal('Unexpected server response: 403');
    expect((await events('/token', 'subscription { ticks }', bearer('user@example.com'))).status).to.equal(403);
    expect(upgrades).to.deep.equal([]);
    expect(await count('/token', { ...bearer('admin@example.com'), 'x-email': 'forged' })).to.have.length(2);
    expect(upgrades[0]!.headers['x-email']).to.equal('admin@example.com');
    expect(upgrades[0]!.headers).to.not.have.property('authorization');
  });

  it('are rejected for other origins, unless the API allows them', async () => {
    const path = '/open/foreign';
    expect(await handshake(path, { origin: 'https://evil.example' })).to.equal('Unexpected server response: 403');
    expect(await handshake(path, { origin: gateway.url })).to.equal('open');
    expect(await handshake('/open', { origin: 'https://app.example.com' })).to.equal('open');
    const logged = () => gateway.output.split('\n').filter((line) => line.includes(path));
    await until(() => logged().length === 2, 'both are logged');
    expect(logged()[0]).to.include('403');
    expect(logged()[1]).to.include('101');
  });

  it('obey the limits of the API', async () => {
    const client = createClient({ url: webSocketUrl('/open'), webSocketImpl: WebSocket, retryAttempts: 0 });
    const codes: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      client.subscribe(
        { query: 'subscription { ticks }' },
        { next: () => {}, error: (errors) => void codes.push((errors as any)[0].extensions.code), complete: () => {} },
      );
    }
    await until(() => codes.length > 0 && open() === 3, 'one is refused');
    expect(codes).to.deep.equal(['ERR_GRAPHQL_LIMIT']);
    client.terminate();
    await until(() => open() === 0, 'no subscription');
  });

  it('are only available as events where the route disables WebSocket', async () => {
    expect(await handshake('/closed')).to.equal('Unexpected server response: 403');
    expect(await (await events('/closed', 'subscription { count(to: 1) }')).text()).to.include('{"count":1}');
  });

  it('end at the server because the client has disconnected, not because of an unanswered ping', async () => {
    const client = createClient({ url: webSocketUrl('/open'), webSocketImpl: WebSocket, retryAttempts: 0 });
    await new Promise<void>((resolve, reject) => {
      client.subscribe(
        { query: 'subscription { ticks }' },
        { next: () => resolve(), error: reject, complete: () => reject(new Error('it completed')) },
      );
    });
    expect(open()).to.equal(1);
    client.terminate();
    await until(() => open() === 0, 'no subscription');
  });

  it('continue when the configuration changes, and end at SIGTERM, long before the drain timeout', async () => {
    const results: number[] = [];
    const client = createClient({ url: webSocketUrl('/open'), webSocketImpl: WebSocket, retryAttempts: 0 });
    let over: unknown;
    client.subscribe<{ ticks: number }>(
      { query: 'subscription { ticks }' },
      {
        next: ({ data }) => void results.push(data!.ticks),
        error: (error) => (over = (error as CloseEvent).code),
        complete: () => (over = 'complete'),
      },
    );
    const stream = await events('/open', 'subscription { ticks }');
    await until(() => open() === 2, 'two subscriptions');
    gateway.write('all.yaml', written.replace('prefix: /open', 'prefix: /moved'));
    await until(async () => (await fetch(`${gateway.url}/open`)).status === 404, 'no route');
    const before = results.length;
    await until(() => results.length > before + 2, 'more results');
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended()).to.equal(0);
    await until(() => over && open() === 0, 'both are over');
    expect(over).to.equal(1001);
    expect(await stream.text()).to.not.include('complete');
  });
});
