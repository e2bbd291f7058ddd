import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { acceptUpgrades, createContext, protect as chain } from '@edge-gateway/core';
import { graphqlApi } from '@edge-gateway/graphql';
import { rateLimit } from '@edge-gateway/rate-limit';
import { expect } from 'chai';
import { readyClient, type RawClient } from '../../../packages/graphql/test/serve/parts.ts';
import { until } from '../../../test/parts/until.ts';
import { protect, type Protected } from './protection.ts';

const NOW = Date.UTC(2027, 0, 5, 12, 0, 1);
const LIMIT = 'rateLimit: { requestsPerUnit: 3, unit: MINUTE }';

const resources = (options: string, more = ''): string => `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec:
  ratelimit: { descriptors: [{ key: generic_key, value: work, ${LIMIT} }] }
  ratelimitServer: { requestTimeout: 60s }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: shop, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: 'type Query { one: Int @resolve(name: one) }'
    executor:
      local: { resolutions: { one: { mockResolver: { syncResponse: 1 } } } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: shop, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - name: graphql
        matchers: [{ prefix: /graphql }]
        options: ${options}
        graphqlApiRef: { name: shop, namespace: gw-system }
${more}
`;

const WORK = 'actions: [{ genericKey: { descriptorValue: work } }]';
const CONFIG = `
---
apiVersion: ratelimit.vendor.io/v1alpha1
kind: RateLimitConfig
metadata: { name: work, namespace: gw-system }
spec:
  raw:
    descriptors: [{ key: generic_key, value: work, ${LIMIT} }]
    rateLimits: [{ ${WORK} }]
`;

/** Sends operations one after the other; returns what the client receives for each. */
async function operations(client: RawClient, count: number): Promise<unknown[]> {
  const received: unknown[] = [];
  for (let i = 1; i <= count; i++) {
    const id = String(i);
    client.send({ type: 'subscribe', id, payload: { query: '{ one }' } });
    const responseOf = () => client.messages.find((each) => each.id === id && each.type !== 'complete');
    await until(() => responseOf() !== undefined, `a response to operation ${id}`);
    received.push(responseOf().payload);
  }
  return received;
}

const ONE = { data: { one: 1 } };
const LIMITED = [{ message: 'The request is over a rate limit.', extensions: { code: 'ERR_RATE_LIMIT_EXCEEDED' } }];

describe('rate limits of GraphQL operations over a WebSocket', () => {
  const started: Protected[] = [];
  const clients: RawClient[] = [];
  afterEach(async () => {
    for (const { webSocket } of clients.splice(0)) webSocket.terminate();
    for (const each of started.splice(0)) await each.close();
  });

  async function open(port: number): Promise<RawClient> {
    const client = await readyClient(`http://127.0.0.1:${port}/graphql`);
    clients.push(client);
    return client;
  }

  async function start(options: string, more = ''): Promise<Protected> {
    const gateway = await protect(resources(options, more), '', { now: () => NOW });
    started.push(gateway);
    expect(gateway.state('VirtualService', 'shop')).to.equal('Accepted');
    return gateway;
  }

  for (const [name, options, more] of [
    ['ratelimitBasic', '{ ratelimitBasic: { anonymousLimits: { requestsPerUnit: 3, unit: MINUTE } } }', ''],
    ['ratelimit', `{ ratelimit: { rateLimits: [{ ${WORK} }] } }`, ''],
    ['ratelimitEarly', `{ ratelimitEarly: { rateLimits: [{ ${WORK} }] } }`, ''],
    ['rateLimitConfigs', '{ rateLimitConfigs: { refs: [{ name: work, namespace: gw-system }] } }', CONFIG],
    ['localRatelimit', '{ ratelimit: { localRatelimit: { maxTokens: 3, tokensPerFill: 3, fillInterval: 60s } } }', ''],
  ] as const) {
    it(`count each operation besides the handshake, with the counters of HTTP: ${name}`, async () => {
      const { port, ask } = await start(options, more);
      const client = await open(port);
      expect(await operations(client, 3)).to.deep.equal([ONE, ONE, LIMITED]);
      const body = JSON.stringify({ query: '{ one }' });
      expect((await ask('/graphql', { 'content-type': 'application/json' }, body)).status).to.equal(429);
      client.send({ type: 'ping' });
      await client.message('pong');
    });
  }

  it('count the operations of a client, however many WebSockets it opens', async () => {
    const { port } = await start('{ ratelimitBasic: { anonymousLimits: { requestsPerUnit: 3, unit: MINUTE } } }');
    const [one, other] = [await open(port), await open(port)];
    expect(await operations(one, 1)).to.deep.equal([ONE]);
    expect(await operations(other, 1)).to.deep.equal([LIMITED]);
  });

  it('count each operation in a server of your own', async () => {
    const guarded = chain(
      rateLimit({ requestsPerUnit: 3, unit: 'MINUTE', requestTimeout: '60s' }, createContext({ now: () => NOW })),
      graphqlApi({
        schemaDefinition: 'type Query { one: Int @resolve(name: "one") }',
        resolutions: { one: { mockResolver: { syncResponse: 1 } } },
      }),
    );
    const server = createServer((req, res) => guarded(req, res, () => res.writeHead(500).end()));
    acceptUpgrades(server, { '/graphql': guarded });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const client = await open(port);
      expect(await operations(client, 3)).to.deep.equal([ONE, ONE, LIMITED]);
      const body = JSON.stringify({ query: '{ one }' });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body });
      expect(response.status).to.equal(429);
    } finally {
      server.closeAllConnections();
      server.close();
      await guarded.close();
    }
  });
});
