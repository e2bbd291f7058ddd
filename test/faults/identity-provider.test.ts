import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { digest } from '../../packages/oidc/src/seal.ts';
import type { Kind } from './answer-kind.ts';
import { anyUse, login, mixedFlows, page, pageEverywhere, pagesOf, SESSION_FLOWS, withoutSession } from './flows.ts';
import { BRIEF, BRIEF_SECONDS } from './provider.ts';
import { suiteWorld } from './suite-world.ts';
import { countOf, underTraffic } from './traffic.ts';
import { logIn, newcomer } from './world.ts';

const CALM_MS = 1000;
const FAULT_MS = 2000;
const PARALLEL = 200;
/** Each gateway has a key set for logins, and one for each of two JWT providers. */
const KEY_SETS = 3;
/** For what a busy machine adds. */
const MARGIN_MS = 800;

describe('the identity provider under traffic', function () {
  this.timeout(60_000);
  const suite = suiteWorld({ providerIsAway: true });

  it('F8: away at the start: what needs no login is served, a login is 503, and works alone when it is there', async () => {
    const { world } = suite;
    const AWAY = {
      ...withoutSession(),
      pages: ['provider away'],
      accounts: ['provider away'],
      logins: ['provider away'],
      tokens: ['no keys'],
      messages: ['told to log in'],
    };
    const RETURNING = {
      ...withoutSession('provider away', 'served'),
      logins: ['provider away', 'served'],
      tokens: ['no keys', 'served', 'forbidden'],
      messages: ['told to log in', 'served'],
    };
    const report = await underTraffic('F8', mixedFlows(world), async (phase) => {
      phase('away', AWAY);
      await wait(FAULT_MS);
      phase('returning', RETURNING);
      await world.provider.start();
      await until(async () => (await login(world)) === 'served', 'a login');
      await until(
        async () => (await pageEverywhere(world, newcomer())).every((kind) => kind === 'sent to log in'),
        'logins everywhere',
      );
      await world.settle();
      phase('after');
      await wait(CALM_MS);
    });
    const away = (kind: string, flows: readonly string[]): number => countOf(report, kind, { phase: 'away', flows });
    expect(away('provider away', ['logins', 'pages'])).to.be.greaterThan(20);
    expect(away('served', ['public'])).to.be.greaterThan(10);
  });

  it('F9: away during the run: sessions go on, ended tokens are 503, nobody is logged out', async () => {
    const { world } = suite;
    const people = [newcomer(BRIEF), newcomer(BRIEF), newcomer(BRIEF)];
    const from = performance.now();
    await Promise.all(people.map((person) => logIn(world, person)));
    const sinceLogin = (ms: number): Promise<void> => wait(Math.max(0, from + ms - performance.now()));
    const all = async (kind: Kind): Promise<boolean> => {
      const kinds = await Promise.all(people.map((person) => pageEverywhere(world, person)));
      return kinds.flat().every((each) => each === kind);
    };
    let turn = 0;
    const name = 'pages of one';
    const flows = [...mixedFlows(world), pagesOf(world, () => people[turn++ % people.length]!, 15)];
    const gone = { logins: ['served', 'no page of the provider', 'provider away'] };
    const report = await underTraffic('F9', flows, async (phase) => {
      phase('away, tokens hold', gone);
      await world.provider.stop();
      await sinceLogin(BRIEF_SECONDS * 1000 - MARGIN_MS);
      phase('tokens end', { ...gone, [name]: ['served', 'provider away'] });
      await until(() => all('provider away'), 'the end of all tokens');
      phase('away, tokens ended', { logins: ['no page of the provider'], [name]: ['provider away'] });
      await wait(FAULT_MS);
      phase('returning', { ...gone, [name]: ['provider away', 'served'] });
      await world.provider.start();
      await until(() => all('served'), 'every session works again');
      phase('after');
      await wait(CALM_MS);
    });
    expect(countOf(report, 'served', { phase: 'away, tokens hold', flows: [name] })).to.be.greaterThan(10);
    expect(countOf(report, 'provider away', { phase: 'away, tokens ended', flows: [name] })).to.be.greaterThan(10);
    expect(countOf(report, 'served', { phase: 'away, tokens ended', flows: SESSION_FLOWS })).to.be.greaterThan(50);
    for (const { email } of people) {
      expect(world.provider.authorizations.filter((each) => each === email)).to.have.length(1);
    }
  });

  it('F14: a refresh token that was revoked: one clean login, and the session is gone everywhere', async () => {
    const { redis, world } = suite;
    const person = await logIn(world, newcomer(BRIEF));
    const handle = /__session=([^;]+)/.exec(person.cookies())![1]!;
    const kept = (): Promise<string> => redis.command(['exists', digest(handle)]);
    expect(await kept(), 'the session in Redis').to.equal(':1\r\n');
    await underTraffic('F14', [...mixedFlows(world), pagesOf(world, () => person)], async (phase) => {
      const ended = { 'pages of one': ['sent to log in'] };
      phase('revoked', { 'pages of one': ['served', 'sent to log in'] });
      world.provider.revoke(person.email);
      await until(async () => (await page(world, person)) === 'sent to log in', 'the end of the session');
      phase('ended', ended);
      expect(await pageEverywhere(world, person)).to.deep.equal(world.nodes.map(() => 'sent to log in'));
      expect(await Promise.all([1, 2].map((use) => anyUse(world, person, use)))).to.deep.equal([
        'told to log in',
        'told to log in',
      ]);
      expect(await kept(), 'the session in Redis').to.equal(':0\r\n');
      await wait(CALM_MS);
      phase('logging in', { 'pages of one': ['sent to log in', 'served'] });
      expect(await login(world, person)).to.equal('served');
      phase('after');
      await wait(CALM_MS);
    });
    expect(world.provider.authorizations.filter((each) => each === person.email)).to.have.length(2);
  });

  it('F15: 200 parallel requests at expiry at three gateways make one token call, and get 200 correct answers', async () => {
    const { world } = suite;
    const person = await logIn(world, newcomer(BRIEF));
    await underTraffic('F15', mixedFlows(world), async (phase) => {
      await wait(BRIEF_SECONDS * 1000);
      phase('ended');
      const kinds = await Promise.all(Array.from({ length: PARALLEL }, (_, use) => anyUse(world, person, use)));
      const right = kinds.filter((kind) => kind === 'served').length;
      const calls = world.provider.refreshes.filter((email) => email === person.email).length;
      console.log(
        `        parallel: sent ${PARALLEL}, answered ${right}, lost ${PARALLEL - right}; token calls ${calls}`,
      );
      expect(new Set(kinds)).to.deep.equal(new Set(['served']));
      expect(calls).to.equal(1);
      phase('after');
      await wait(CALM_MS);
    });
  });

  it('F11: other keys without overlap: nobody is refused, each set is read once', async () => {
    const { world } = suite;
    // Id tokens of before are signed with a key that is gone: a route that judges them again refuses them.
    const expected = { accounts: ['served', 'bad token'] };
    const report = await underTraffic('F11', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('rotated', expected);
      const before = world.provider.keyReads;
      world.provider.rotate();
      await wait(FAULT_MS);
      const reads = world.provider.keyReads - before;
      console.log(`        ${reads} reads of the keys by ${world.nodes.length} gateways`);
      expect(reads).to.be.within(world.nodes.length, world.nodes.length * KEY_SETS);
    });
    expect(countOf(report, 'served', { phase: 'rotated', flows: ['tokens'] })).to.be.greaterThan(10);
    expect(countOf(report, 'served', { phase: 'rotated', flows: ['logins'] })).to.be.greaterThan(3);
  });
});
