import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startProtectedDemo, type ProtectedDemo } from '../browser/protected-demo.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { Person, type Answered } from './person.ts';
import { startTraffic, type Count, type Flow } from './traffic.ts';

const PEOPLE = 10;

describe('the session store under traffic', function () {
  this.timeout(120_000);
  let redis: RedisServer;
  let demo: ProtectedDemo;
  let people: Person[];
  before(async () => {
    redis = await startRedis();
    const redisBlock = `failOnFetchFailure: true\n            redis:\n              options: { host: '${redis.host}' }`;
    demo = await startProtectedDemo({ change: (text) => text.replace('redis:', () => redisBlock) });
    people = Array.from({ length: PEOPLE }, () => new Person('admin@example.com'));
    for (const person of people) expect((await person.visit(`${demo.appUrl}/account`)).status).to.equal(200);
  });
  after(async () => {
    await Promise.all((people ?? []).map((person) => person.close()));
    await demo?.close();
    await redis?.close();
  });

  const isPage = ({ status, text }: Answered): boolean => status === 200 && text.includes('admin@example.com');
  const isBusy = ({ status, headers }: Answered): boolean => status === 503 && headers['retry-after'] !== undefined;
  const flows = (mayRefuse: () => boolean): Flow[] => [
    ...people.map((person): Flow => ({
      name: 'sessions',
      send: () => person.send(`${demo.appUrl}/account`),
      judge: (answered) => isPage(answered) || (mayRefuse() && isBusy(answered)),
    })),
    {
      name: 'public',
      send: () => people[0]!.send(`${demo.appUrl}/goodbye`),
      judge: ({ status }) => status === 200,
    },
  ];
  const lost = (counts: ReadonlyMap<string, Count>): number =>
    [...counts.values()].reduce((sum, each) => sum + each.lost, 0);
  const pageComes = async (person: Person): Promise<boolean> => isPage(await person.send(`${demo.appUrl}/account`));

  /** Runs traffic during a fault; pages may be 503 from its begin until all sessions work again. */
  async function during(title: string, fault: () => Promise<void>): Promise<ReadonlyMap<string, Count>> {
    let broken = false;
    const traffic = startTraffic(
      title,
      flows(() => broken),
    );
    await until(() => pageComes(people[0]!), 'pages before the fault');
    broken = true;
    await fault();
    await until(async () => (await Promise.all(people.map(pageComes))).every(Boolean), 'every session works again');
    broken = false;
    return traffic.stop();
  }

  const refusesNow = (): Promise<boolean> =>
    until(async () => isBusy(await people[0]!.send(`${demo.appUrl}/account`)), 'a 503 with Retry-After');

  it('F2: frozen: 503 in time, the public route goes on, no session is lost', async () => {
    const counts = await during('F2', async () => {
      redis.freeze();
      await refusesNow();
      redis.thaw();
    });
    expect(lost(counts)).to.equal(0);
    expect(counts.get('public')!.statuses.size).to.equal(1);
  });

  it('F3: slow: requests are served', async () => {
    const counts = await during('F3', async () => {
      for (let i = 0; i < 5; i++) await redis.command(['client', 'pause', '200', 'ALL']);
    });
    expect(lost(counts)).to.equal(0);
  });

  it('F6: full: those who are logged in go on, a login is 503', async () => {
    const counts = await during('F6', async () => {
      await redis.command(['config', 'set', 'maxmemory-policy', 'noeviction']);
      await redis.command(['config', 'set', 'maxmemory', '1']);
      const late = new Person('admin@example.com');
      expect((await late.visit(`${demo.appUrl}/account`)).status).to.equal(503);
      await redis.command(['config', 'set', 'maxmemory', '0']);
      await late.close();
    });
    expect(lost(counts)).to.equal(0);
    for (const [name, { statuses }] of counts) expect([...statuses.keys()], name).to.deep.equal([200]);
  });

  it('F5: a server that has become a replica: no session is lost', async () => {
    const counts = await during('F5', async () => {
      await redis.command(['replicaof', '127.0.0.1', '1']);
      await redis.command(['replicaof', 'no', 'one']);
    });
    expect(lost(counts)).to.equal(0);
  });

  it('F1 and F4: stopped: 503; restarted empty: logins are offered, never 500', async () => {
    let empty = false;
    const offered = ({ status }: Answered): boolean => status === 302;
    const ways = flows(() => true).map((flow) => ({
      ...flow,
      judge: (answered: Answered) => flow.judge(answered) || (empty && offered(answered)),
    }));
    const traffic = startTraffic('F1, F4', ways);
    await redis.stop();
    await refusesNow();
    empty = true;
    await redis.start();
    await until(async () => offered(await people[0]!.send(`${demo.appUrl}/account`)), 'a login is offered');
    expect(lost(await traffic.stop())).to.equal(0);
    for (const person of people) expect((await person.visit(`${demo.appUrl}/account`)).status).to.equal(200);
  });
});
