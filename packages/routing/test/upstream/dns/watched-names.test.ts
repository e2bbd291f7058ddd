import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createLocalNames } from '../../../src/upstream/dns/local-names.ts';
import { createLookup, type Addresses, type Lookup } from '../../../src/upstream/dns/lookup.ts';
import { createWatchedNames } from '../../../src/upstream/dns/watched-names.ts';
import { closeAll, until, whenDone } from '../../forward/harness.ts';
import { dnsServer } from './dns-server.ts';

const DAY_MS = 86_400_000;
const NO_FILES = createLocalNames({ hosts: '/nonexistent', resolver: '/nonexistent' });

describe('a watched name', () => {
  afterEach(closeAll);
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  it('waits longer after each failure in a row, and begins anew after a success', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(Math, 'random', () => 0);
    let looks = 0;
    let isFailing = true;
    const resolve = async (): Promise<Addresses> => {
      looks++;
      if (isFailing) throw new Error('no answer');
      return { v4: ['192.0.2.1'], v6: [] } as unknown as Addresses;
    };
    const names = createWatchedNames({ local: () => undefined, resolve } as unknown as Lookup);
    const rules = { family: 'v4', rateMs: 1000, respectTtl: false, backoff: { baseMs: 100, maxMs: 800 } } as const;
    whenDone(names.watch('a.test', rules, { onAddresses() {} }));
    /** Passes as much time as the next lookup must wait for, and checks that it is not earlier. */
    const waits = async (ms: number): Promise<void> => {
      await turn();
      const before = looks;
      mock.timers.tick(ms - 1);
      expect(looks).to.equal(before);
      mock.timers.tick(1);
      expect(looks).to.equal(before + 1);
    };
    for (const ms of [100, 200, 400, 800]) await waits(ms);
    isFailing = false;
    await waits(800);
    isFailing = true;
    await waits(1000);
    await waits(100);
    await waits(200);
  });

  for (const isFailing of [false, true])
    it(`is not looked up again after its last watcher left during a lookup that ${isFailing ? 'fails' : 'succeeds'}`, async () => {
      mock.timers.enable({ apis: ['setTimeout'] });
      const found: unknown[] = [];
      const lookups: PromiseWithResolvers<Addresses>[] = [];
      const resolve = (): Promise<Addresses> => {
        lookups.push(Promise.withResolvers());
        return lookups.at(-1)!.promise;
      };
      const names = createWatchedNames({ local: () => undefined, resolve } as unknown as Lookup);
      const rules = { family: 'v4', rateMs: 1000, respectTtl: false } as const;
      const watcher = { onAddresses: found.push.bind(found), onFailure: found.push.bind(found) };
      names.watch('a.test', rules, watcher)();
      if (isFailing) lookups[0]!.reject(new Error('no answer'));
      else lookups[0]!.resolve({ v4: ['192.0.2.1'], v6: [], ttlMs: undefined });
      await turn();
      mock.timers.tick(DAY_MS);
      await turn();
      expect([found, lookups.length]).to.deep.equal([[], 1]);
    });

  it('keeps its last addresses for a day if lookups fail', async () => {
    const dns = await dnsServer({ 'a.test': { a: ['192.0.2.1'] } });
    let now = 0;
    const names = createWatchedNames(createLookup({ servers: [dns.address], localNames: NO_FILES }), () => now);
    const found: unknown[] = [];
    let failures = 0;
    const rules = { family: 'v4', rateMs: 5, respectTtl: false, backoff: { baseMs: 5, maxMs: 5 } } as const;
    whenDone(
      names.watch('a.test', rules, {
        onAddresses: (addresses) => found.push(addresses?.v4),
        onFailure: () => failures++,
      }),
    );
    await until(() => found.length > 0, 'an address');
    dns.zones.set('a.test', { fails: 'SERVFAIL' });
    await until(() => failures > 0, 'a failure');
    now = DAY_MS;
    const before = failures;
    await until(() => failures > before + 1, 'a failure after a day');
    expect(found).not.to.include(undefined);
    now = DAY_MS + 1;
    await until(() => found.includes(undefined), 'no address');
    expect(found.indexOf(undefined)).to.equal(found.length - 1);
  });
});

describe('the lookup of a name for a connection', () => {
  it('is shared by connections that wait for it, and made again for later ones', async () => {
    const answers = [['192.0.2.1'], ['192.0.2.2'], new Error('no answer'), ['192.0.2.3']];
    let looks = 0;
    const resolve = async (): Promise<Addresses> => {
      const answer = answers[looks++]!;
      if (answer instanceof Error) throw answer;
      return { v4: answer, v6: [], ttlMs: undefined };
    };
    const names = createWatchedNames({ local: () => undefined, resolve });
    const find = (): Promise<unknown> =>
      new Promise((done) => names.lookup('a.test', {}, (error, address) => done(error?.message ?? address)));
    expect(await Promise.all([find(), find()])).to.deep.equal(['192.0.2.1', '192.0.2.1']);
    expect(await find()).to.equal('192.0.2.2');
    expect(await Promise.all([find(), find()])).to.deep.equal(['no answer', 'no answer']);
    expect(await find()).to.equal('192.0.2.3');
    expect(looks).to.equal(4);
  });
});
