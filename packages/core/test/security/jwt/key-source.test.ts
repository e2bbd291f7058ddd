import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createMetrics, silentLoggers } from '../../../src/index.ts';
import {
  FIRST_KEYS_RETRY_MS,
  MAX_WAITING,
  REFETCH_COOLDOWN_MS,
  remoteKeys,
  type RemoteKeysOptions,
} from '../../../src/security/jwt/key-source.ts';
import type { KeySet } from '../../../src/security/jwt/key-set.ts';
import { createIssuer, NOW, type Issuer } from './issuer.ts';

describe('remote keys', () => {
  let issuer: Issuer;
  let now: number;
  let answers: (string | Error)[];
  let calls: number;
  let told: [object, string][];
  before(async () => {
    issuer = await createIssuer();
  });
  beforeEach(() => {
    now = NOW;
    answers = [];
    calls = 0;
    told = [];
  });

  const counter = (path: string) => createMetrics().counter({ path, metric: path, labels: {} });
  const source = (cacheMs = 300_000, more: Partial<RemoteKeysOptions> = {}) =>
    remoteKeys({
      ...more,
      fetchText: async () => {
        calls++;
        const answer = answers.shift() ?? issuer.keySet;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      cacheMs,
      now: () => now,
      wait: async (ms) => {
        await nextTick();
        now += ms;
      },
      log: { ...silentLoggers.get('jwt'), warn: (details, message) => void told.push([details, message]) },
      from: { provider: 'main', server: 'id.example' },
      stats: { success: counter('success'), failed: counter('failed') },
    });

  it('are not fetched before the first request, and once for many at the same time', async () => {
    const keys = source();
    expect(calls).to.equal(0);
    await Promise.all(Array.from({ length: 100 }, () => keys.get()));
    expect(calls).to.equal(1);
  });

  it('are reported in the log if they are unavailable, with the consequence', async () => {
    const error = new Error('down');
    answers = [error, '{}'];
    const keys = source();
    await keys.get();
    now += 2_000;
    await keys.get();
    const from = { provider: 'main', server: 'id.example' };
    expect(told[0]).to.deep.equal([
      { ...from, err: error },
      'failed to fetch key set, rejecting its tokens until there is one',
    ]);
    expect(told[1]![0]).to.include(from);
    expect(told[1]![1]).to.equal('key set rejected, rejecting its tokens until there is one');
    now += 2_000;
    await keys.get();
    now += 400_000;
    answers = [error];
    await keys.get();
    expect(told[2]![1]).to.equal('failed to fetch key set, keeping the previous keys');
  });

  it('are fetched again after the cache time', async () => {
    const keys = source();
    await keys.get();
    now += 299_000;
    expect(keys.fresh()).to.not.equal(undefined);
    now += 2_000;
    expect(keys.fresh()).to.equal(undefined);
    await keys.get();
    expect(calls).to.equal(2);
  });

  it('are fetched again when the clock was set back', async () => {
    const keys = source();
    await keys.get();
    now -= 3_600_000;
    expect(keys.fresh()).to.equal(undefined);
    await keys.get();
    expect(calls).to.equal(2);
    expect(keys.fresh()).to.not.equal(undefined);
  });

  for (const bad of [new Error('down'), '<html>', '{}', '{"keys":[]}', 'null', '{"keys":[{"kty":"RSA"}]}']) {
    it(`stay the same when the response is ${bad instanceof Error ? 'an error' : bad}`, async () => {
      const keys = source();
      const first = await keys.get();
      now += 400_000;
      answers = [bad];
      expect(await keys.get()).to.equal(first);
    });
  }

  it('are a failure, not an error, when there never were any; and come as soon as they can be had', async () => {
    const keys = source();
    answers = [new Error('down'), '<html>'];
    expect(await keys.get()).to.equal('keysUnreachable');
    now += 1_000;
    expect(await keys.get()).to.equal('keysInvalidJson');
    now += 1_000;
    expect(await keys.get()).to.be.an('object');
  });

  it('are waited for by requests that come before a failed fetch may be repeated', async () => {
    const keys = source();
    answers = [new Error('down')];
    expect(await keys.get()).to.equal('keysUnreachable');
    now += 50;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => keys.get()));
    for (const outcome of outcomes) expect(outcome).to.be.an('object');
    expect(calls).to.equal(2);
    expect(now).to.equal(NOW + FIRST_KEYS_RETRY_MS);
  });

  for (const [whether, more, outcome] of [
    ['are not waited for by requests without patience', { patienceMs: 0 }, 'keysUnreachable'],
    ['are waited for by requests without patience that await keys', { patienceMs: 0, awaitsKeys: true }, 'object'],
  ] as const) {
    it(`${whether}, after a failed fetch`, async () => {
      const keys = source(300_000, more);
      answers = [new Error('down')];
      await keys.get();
      const got = await keys.get();
      expect(typeof got === 'string' ? got : typeof got).to.equal(outcome);
    });
  }

  it('are awaited by a bounded number of requests after a failed fetch; the others fail immediately', async () => {
    const keys = source();
    answers = [new Error('down')];
    await keys.get();
    const waiting = Array.from({ length: MAX_WAITING }, () => keys.get());
    expect(await keys.get()).to.equal('keysUnreachable');
    expect(calls).to.equal(1);
    const trusted = keys.get({ trusted: true });
    for (const outcome of await Promise.all([...waiting, trusted])) expect(outcome).to.be.an('object');
    expect(await keys.get()).to.be.an('object');
    expect(calls).to.equal(2);
  });

  it('are waited for by as many requests after each failed fetch', async () => {
    const keys = source();
    answers = [new Error('down'), new Error('down')];
    await keys.get();
    const ask = () => Promise.all(Array.from({ length: MAX_WAITING }, () => keys.get()));
    expect(new Set(await ask())).to.deep.equal(new Set(['keysUnreachable']));
    for (const outcome of await ask()) expect(outcome).to.be.an('object');
    expect(calls).to.equal(3);
  });

  it('are waited for once when the clock was set back', async () => {
    const keys = source();
    answers = [new Error('down')];
    await keys.get();
    now -= 3_600_000;
    const from = now;
    expect(await keys.get()).to.be.an('object');
    expect(now - from).to.equal(FIRST_KEYS_RETRY_MS);
  });

  it('do not hammer a server that is down, or fill the log', async () => {
    const keys = source();
    answers = Array.from({ length: 1000 }, () => new Error('down'));
    for (let i = 0; i < 81; i++) await Promise.all(Array.from({ length: 10 }, () => keys.get()));
    expect(calls).to.equal(81);
    expect(now).to.equal(NOW + 80 * FIRST_KEYS_RETRY_MS);
    expect(told).to.have.length(5);
  });

  it('are fetched again for an unknown kid at most once in a cool-down', async () => {
    const keys = source();
    const known = (await keys.get()) as KeySet;
    now += REFETCH_COOLDOWN_MS;
    for (let i = 0; i < 1000; i++) await keys.refetch(known);
    expect(calls).to.equal(2);
  });

  it('are fetched immediately for a key that is new right after a fetch', async () => {
    const keys = source();
    const known = (await keys.get()) as KeySet;
    answers = [(await createIssuer('RS256', 'k2')).keySet];
    expect(await keys.refetch(known)).to.be.an('object');
    expect(calls).to.equal(2);
  });

  it('are the same set, with the same version, if the document is unchanged', async () => {
    const keys = source();
    const first = await keys.get();
    const { version } = keys;
    now += 400_000;
    expect(await keys.get()).to.equal(first);
    expect(keys.version).to.equal(version);
    expect(calls).to.equal(2);
  });

  it('are fetched at the interval of a short cache time, also after a failure', async () => {
    const keys = source(1000);
    for (let i = 0; i < 3; i++) {
      await keys.get();
      now += 1001;
    }
    expect(calls).to.equal(3);
    answers = [new Error('down')];
    await keys.get();
    now += 1001;
    await keys.get();
    expect(calls).to.equal(5);
  });

  it('are fetched ahead by a request, which does not wait', async () => {
    const keys = source();
    await keys.get();
    keys.refreshAhead();
    expect(calls).to.equal(1);
    now += 250_000;
    keys.refreshAhead();
    keys.refreshAhead();
    expect(calls).to.equal(2);
    expect(keys.fresh()).to.be.an('object');
  });

  it('are not fetched ahead again right after a failure', async () => {
    const keys = source();
    await keys.get();
    now += 250_000;
    answers = [new Error('down'), new Error('down')];
    for (let i = 0; i < 5; i++) {
      keys.refreshAhead();
      await nextTick();
    }
    expect(calls).to.equal(2);
    now += REFETCH_COOLDOWN_MS;
    keys.refreshAhead();
    expect(calls).to.equal(3);
  });

  describe('that tokens wait for', () => {
    const COOL_DOWN_MS = 5000;
    const waitedFor = () => source(300_000, { awaitsKeys: true, coolDownMs: COOL_DOWN_MS });
    const keySet = async (kid: string): Promise<string> => (await createIssuer('RS256', kid)).keySet;

    it('are fetched after the cool-down, once for all', async () => {
      const keys = waitedFor();
      const first = (await keys.get()) as KeySet;
      answers = [await keySet('k2'), await keySet('k3')];
      const second = (await keys.refetch(first)) as KeySet;
      const third = await Promise.all(Array.from({ length: 20 }, () => keys.refetch(second)));
      expect(new Set(third).size).to.equal(1);
      expect(third[0]).to.be.an('object').and.not.equal(second);
      expect([calls, now - NOW]).to.deep.equal([3, COOL_DOWN_MS]);
    });

    it('are waited for by a bounded number of tokens, and by all trusted ones', async () => {
      const keys = waitedFor();
      const first = (await keys.get()) as KeySet;
      await keys.refetch(first);
      answers = [await keySet('k2')];
      const waiting = Array.from({ length: MAX_WAITING }, () => keys.refetch(first));
      expect(await keys.refetch(first)).to.equal(undefined);
      expect(await keys.refetch(first, { trusted: true })).to.be.an('object');
      for (const outcome of await Promise.all(waiting)) expect(outcome).to.be.an('object');
      expect(calls).to.equal(3);
    });

    it('are fetched only if the token may cause a fetch', async () => {
      const keys = waitedFor();
      expect(await keys.refetch((await keys.get()) as KeySet, { mayFetch: () => false })).to.equal(undefined);
      expect(calls).to.equal(1);
    });

    it('are a failure for trusted tokens if the fetch fails', async () => {
      const keys = waitedFor();
      const first = (await keys.get()) as KeySet;
      answers = [new Error('down'), '{}'];
      expect(await keys.refetch(first, { trusted: true })).to.equal('keysUnreachable');
      expect(await keys.refetch(first, { trusted: true })).to.equal('keysMissing');
      answers = [new Error('down')];
      expect(await keys.refetch(first)).to.equal(undefined);
    });

    it('are fetched again if the fetch in progress started before the token arrived', async () => {
      const keys = waitedFor();
      const first = (await keys.get()) as KeySet;
      answers = [issuer.keySet, await keySet('k2')];
      const early = keys.refetch(first);
      const late = keys.refetch(first, { fetches: keys.fetches });
      expect(await early).to.equal(undefined);
      expect(await late).to.be.an('object');
      expect(calls).to.equal(3);
    });
  });
});
