import { expect } from 'chai';
import { redisUrl } from '../src/command-line/flags.ts';
import { startRedisFront, type RedisFront } from '../../../test/faults/redis-front.ts';
import { startRedis, type RedisServer } from '../../../test/parts/redis.ts';
import { GatewayProcess, until } from './gateway-process.ts';

const RESOURCES = `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: limited, namespace: gw-system }
spec:
  virtualHost:
    domains: ['*']
    options:
      ratelimit:
        rateLimits: [{ actions: [{ genericKey: { descriptorValue: all } }] }]
    routes:
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: self, namespace: gw-system } } }
---
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: self, namespace: gw-system }
spec: { static: { hosts: [{ addr: 127.0.0.1, port: 1 }] } }
---
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec:
  ratelimit:
    descriptors: [{ key: generic_key, value: all, rateLimit: { requestsPerUnit: 100, unit: YEAR } }]
  ratelimitServer: { denyOnFail: true }
`;

describe('--rate-limit-redis', function () {
  this.timeout(120_000);
  let redis: RedisServer;
  const gateways = [1, 2, 3].map(() => new GatewayProcess());
  before(async () => {
    redis = await startRedis();
    for (const gateway of gateways) {
      gateway.write('limited.yaml', RESOURCES.replace('denyOnFail: true', 'denyOnFail: true, requestTimeout: 10s'));
      await gateway.start('--rate-limit-redis', `redis://${redis.host}`);
    }
  });
  after(async () => {
    for (const gateway of gateways) await gateway.close();
    await redis.close();
  });

  const statusOf = async (i: number): Promise<number> => {
    const response = await fetch(gateways[i % 3]!.url);
    await response.text();
    return response.status;
  };

  it('counts exactly across 3 gateways', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 1000; i += 50)
      statuses.push(...(await Promise.all(Array.from({ length: 50 }, (_, j) => statusOf(i + j)))));
    // The upstream does not exist: a request that passes the limit is 503.
    expect(statuses.filter((status) => status === 503)).to.have.length(100);
    expect(statuses.filter((status) => status === 429)).to.have.length(900);
  });

  it('counts exactly under overload: 1,000 requests at once', async () => {
    await redis.command(['flushall']);
    const statuses = await Promise.all(Array.from({ length: 1000 }, (_, i) => statusOf(i)));
    expect(statuses.filter((status) => status === 503)).to.have.length(100);
    expect(statuses.filter((status) => status === 429)).to.have.length(900);
  });

  it('rejects requests while Redis is down, as denyOnFail says, and recovers', async () => {
    await redis.stop();
    await until(async () => (await statusOf(0)) === 500, 'denyOnFail');
    await redis.start();
    await until(async () => (await statusOf(0)) === 503, 'recovery');
  });
});

describe('--rate-limit-redis with a slow Redis', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let front: RedisFront;
  beforeEach(async () => {
    redis = await startRedis();
    front = await startRedisFront(redis.port);
  });
  afterEach(async () => {
    await front.close();
    await redis.close();
  });

  for (const [denyOnFail, status] of [
    [true, 500],
    [false, 503],
  ] as const) {
    it(`returns ${status} beyond the deadline if denyOnFail is ${denyOnFail}, then limits again`, async () => {
      const gateway = new GatewayProcess();
      gateway.write('limited.yaml', RESOURCES.replace('denyOnFail: true', `denyOnFail: ${denyOnFail}`));
      await gateway.start('--rate-limit-redis', `redis://${front.host}`);
      const statusOf = async (): Promise<number> => {
        const response = await fetch(gateway.url);
        await response.text();
        return response.status;
      };
      // The upstream does not exist: a request that passes the limit is 503.
      await until(async () => (await statusOf()) === 503, 'first count');
      front.delayMs = 5000;
      for (let i = 0; i < 10; i++) {
        const startedAt = performance.now();
        expect(await statusOf()).to.equal(status);
        expect(performance.now() - startedAt).to.be.below(front.delayMs / 2);
      }
      front.delayMs = 0;
      const spent = (): Promise<number[]> => Promise.all(Array.from({ length: 100 }, statusOf));
      await until(async () => (await spent()).every((each) => each === 429), 'recovery');
      await gateway.close();
    });
  }
});

describe('--rate-limit-redis with an invalid URL', () => {
  it('lists the schemes, and rejects a database that is not a number', () => {
    const schemes =
      /^must begin with redis:\/\/, rediss:\/\/, unix:\/\/, redis\+cluster:\/\/.* or rediss\+sentinel:\/\/$/;
    expect(() => redisUrl('localhost:6390')).to.throw(schemes);
    expect(() => redisUrl('redis://127.0.0.1:6390/x')).to.throw(/^the database must be a number/);
    expect(() => redisUrl('redis://')).to.throw(/^must be redis:\/\/…, /);
    expect(redisUrl('redis://127.0.0.1:6390/2')).to.equal('redis://127.0.0.1:6390/2');
  });

  for (const url of ['hunter2', 'http://:hunter2@redis', 'redis+sentinel://:hunter2@a', "redis://:hunter2'@a:x"]) {
    it(`is an error of the command line that does not repeat ${url}`, async function () {
      this.timeout(60_000);
      const gateway = new GatewayProcess();
      gateway.write('limited.yaml', RESOURCES);
      const error = await gateway.start('--rate-limit-redis', url).then(
        () => undefined,
        (reason: Error) => reason,
      );
      expect(String(error?.message)).to.include('--rate-limit-redis').and.not.include('hunter2');
      await gateway.close();
    });
  }
});
