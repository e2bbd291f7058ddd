import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import { createMetrics, silentLoggers } from '../../../src/index.ts';
import {
  FIRST_KEYS_RETRY_MS,
  MAX_WAITING,
  REFETCH_COOLDOWN_MS,
  remoteKeys,
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
  const source = (cacheMs = 300_000) =>
    remoteKeys({
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

  it('say in the log where they cannot be had, and what that means', async () => {
    const error = new Error('down');
    answers = [error, '{}'];
    const keys = source();
    await keys.get();
    now += 2_000;
    await keys.get();
    const from = { provider: 'main', server: 'id.example' };
    expect(told[0]).to.deep.equal([
      { ...from, err: error },
      'key set cannot be fetched, its tokens are refused until there is one',
    ]);
    expect(told[1]![0]).to.include(from);
    expect(told[1]![1]).to.equal('key set refused, its tokens are refused until there is one');
    now += 2_000;
    await keys.get();
    now += 400_000;
    answers = [error];
    await keys.get();
    expect(told[2]![1]).to.equal('key set cannot be fetched, the keys known so far are kept');
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

  for (const bad of [new Error('down'), '<html>', '{}', '{"keys":[]}', 'null', '{"keys":[{"kty":"RSA"}]}']) {
    it(`stay the same when the answer is ${bad instanceof Error ? 'an error' : bad}`, async () => {
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

  it('are waited for by a bounded number of requests after a failed fetch; the others fail at once', async () => {
    const keys = source();
    answers = [new Error('down')];
    await keys.get();
    const waiting = Array.from({ length: MAX_WAITING }, () => keys.get());
    expect(await keys.get()).to.equal('keysUnreachable');
    expect(calls).to.equal(1);
    for (const outcome of await Promise.all(waiting)) expect(outcome).to.be.an('object');
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

  it('are fetched at once for a key that is new right after a fetch', async () => {
    const keys = source();
    const known = (await keys.get()) as KeySet;
    answers = [(await createIssuer('RS256', 'k2')).keySet];
    expect(await keys.refetch(known)).to.be.an('object');
    expect(calls).to.equal(2);
  });

  it('are the same set, with the same version, when the same document comes again', async () => {
    const keys = source();
    const first = await keys.get();
    const { version } = keys;
    now += 400_000;
    expect(await keys.get()).to.equal(first);
    expect(keys.version).to.equal(version);
    expect(calls).to.equal(2);
  });

  it('are asked for as often as a short cache time says, also after a failure', async () => {
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
});
