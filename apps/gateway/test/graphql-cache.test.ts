import { expect } from 'chai';
import { startRedis, type RedisServer } from '../../../test/parts/redis.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: graphql, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    routes:
      - matchers: [{ prefix: / }]
        graphqlApiRef: { name: books, namespace: gw-system }
---
apiVersion: graphql.gw.vendor.io/v1beta1
kind: GraphQLApi
metadata: { name: books, namespace: gw-system }
spec:
  executableSchema:
    schemaDefinition: |
      type Query { title: String @resolve(name: "title") @cacheControl(maxAge: 60) }
    executor: { local: { resolutions: { title: { mockResolver: { syncResponse: One } } } } }
---
apiVersion: v1
kind: Secret
metadata: { name: extauth-signing-key, namespace: gw-system }
type: Opaque
stringData: { signing-key: ${'k'.repeat(32)} }
`;

describe('--graphql-cache', () => {
  let redis: RedisServer;
  const gateway = new GatewayProcess();

  before(async function () {
    this.timeout(300_000);
    redis = await startRedis();
    gateway.write('books.yaml', RESOURCES);
    await gateway.start('--graphql-cache', `redis://${redis.host}`);
  });
  after(async () => {
    await gateway.close();
    await redis.close();
  });

  async function ask(url = gateway.url): Promise<unknown> {
    const body = JSON.stringify({ query: '{ title }' });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body })).json();
  }

  async function kept(): Promise<number> {
    return (await redis.command(['keys', 'graphql:*'])).split('graphql:').length - 1;
  }

  it('caches results of GraphQL APIs in Redis', async () => {
    await until(async () => {
      expect(await ask()).to.deep.equal({ data: { title: 'One' } });
      return (await kept()) === 1;
    }, 'a result in Redis');
  });

  for (const [name, resources, results] of [
    ['another gateway with the same Secret uses them', RESOURCES, 1],
    ['another gateway without the Secret has its own', RESOURCES.slice(0, RESOURCES.lastIndexOf('---')), 2],
  ] as const) {
    it(name, async () => {
      const other = new GatewayProcess();
      other.write('books.yaml', resources);
      await other.start('--graphql-cache', `redis://${redis.host}`);
      try {
        await until(async () => {
          expect(await ask(other.url)).to.deep.equal({ data: { title: 'One' } });
          return (await kept()) === results;
        }, `${results} results in Redis`);
        await ask(other.url);
        expect(await kept()).to.equal(results);
      } finally {
        await other.close();
      }
    });
  }

  it('rejects an address that is not a Redis URL', async () => {
    const other = new GatewayProcess();
    const failed = await other.start('--graphql-cache', 'http://127.0.0.1').catch((error: Error) => error.message);
    expect(failed).to.include('--graphql-cache').and.to.include('redis://');
    await other.close();
  });
});
