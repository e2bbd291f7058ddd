import { expect } from 'chai';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { groupIds } from '../../../../test/parts/microsoft.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { until } from '../../../../test/parts/until.ts';
import { oidc } from '../../src/index.ts';
import { startSite, type Site } from '../parts/site.ts';
import { BLOCK, startCloud, type Cloud } from './harness.ts';

describe('groups that processes share in Redis', () => {
  let cloud: Cloud;
  let redis: RedisServer;
  let site: Site;
  before(async function () {
    await skipWithout(this, 'redis-server');
  });
  beforeEach(async () => {
    redis = await startRedis();
    cloud = await startCloud();
    site = await startSite();
  });
  afterEach(async () => {
    await cloud.close();
    await site.close();
    await redis.close();
  });

  /** In a process of its own. */
  const lookup = () => cloud.lookup({ claimsCachingOptions: { host: redis.host } });
  const keys = async (): Promise<string[]> => (await redis.command(['keys', '*'])).match(/azure-groups:[\w-]+/g) ?? [];

  it('are read from Graph once for all processes, and expire with the token', async () => {
    await lookup().complete(cloud.claims());
    expect((await lookup().complete(cloud.claims())).groups).to.deep.equal(groupIds(250));
    expect(cloud.microsoft.graphCalls).to.have.length(1);
    const [key] = await keys();
    const seconds = Number((await redis.command(['ttl', key!])).slice(1));
    expect(seconds).to.be.within(3000, 3660);
  });

  it('are read from Redis once, then from memory', async () => {
    await lookup().complete(cloud.claims());
    const second = lookup();
    await second.complete(cloud.claims());
    await redis.stop();
    expect((await second.complete(cloud.claims())).groups).to.have.length(250);
    expect(cloud.microsoft.graphCalls).to.have.length(1);
  });

  it('are encrypted for the application', async () => {
    await lookup().complete(cloud.claims());
    const [key] = await keys();
    expect(await redis.command(['get', key!])).not.to.contain('00000000-0000');
    await redis.command(['set', key!, JSON.stringify(['admins'])]);
    expect((await lookup().complete(cloud.claims())).groups).to.have.length(250);
    expect(cloud.microsoft.graphCalls).to.have.length(2);
  });

  it('are those of the user, even if entries are swapped', async () => {
    const other = { oid: '9999aaaa-2222-4bbb-8ccc-333344445555' };
    await lookup().complete(cloud.claims());
    const [mine] = await keys();
    cloud.microsoft.graph = () => ({ body: { value: ['of the other'] } });
    await lookup().complete(cloud.claims(other));
    const theirs = (await keys()).find((key) => key !== mine)!;
    await redis.command(['rename', mine!, theirs]);
    expect((await lookup().complete(cloud.claims(other))).groups).to.deep.equal(['of the other']);
  });

  it('release the connection when the login or the lookup is closed', async () => {
    const connections = async (): Promise<number> => (await redis.command(['client', 'list'])).match(/^id=/gm)!.length;
    const before = await connections();
    const first = lookup();
    await first.complete(cloud.claims());
    const handler = oidc(
      {
        issuerUrl: 'https://id.example.com',
        clientId: 'web',
        clientSecret: 'x',
        appUrl: 'https://app.example.com',
        callbackPath: '/callback',
        session: { redis: { options: { host: redis.host } } },
        azure: { ...BLOCK, claimsCachingOptions: { host: redis.host } },
      },
      cloud.context(),
    );
    site.use(handler);
    await fetch(site.url, { headers: { cookie: `__Host-__session=${'x'.repeat(43)}` }, redirect: 'manual' });
    expect(await connections()).to.equal(before + 2);
    await handler.close?.();
    first.close();
    first.close();
    await until(async () => (await connections()) === before);
  });

  it('are read from Graph while Redis is stopped or frozen, and shared again afterwards', async () => {
    const first = lookup();
    await redis.stop();
    expect((await first.complete(cloud.claims())).groups).to.have.length(250);
    expect(cloud.log).to.contain('failed to share groups of users');
    await redis.start();
    redis.freeze();
    expect((await lookup().complete(cloud.claims({ iat: 1 }))).groups).to.have.length(250);
    redis.thaw();
    let iat = 2;
    await until(async () => {
      await first.complete(cloud.claims({ iat: iat++ }));
      return (await keys()).length > 0;
    });
  });

  it('are complete even if Redis contains invalid entries', async () => {
    await lookup().complete(cloud.claims());
    const [key] = await keys();
    await redis.command(['del', key!]);
    await redis.command(['lpush', key!, 'x']);
    expect((await lookup().complete(cloud.claims())).groups).to.have.length(250);
  });
});
