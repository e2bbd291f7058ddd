import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { digest } from '@edge-gateway/core';
import type { Kind } from './answer-kind.ts';
import { anyUse, login, mixedFlows, page, pageEverywhere, pagesOf, SESSION_FLOWS, withoutSession } from './flows.ts';
import { BRIEF, BRIEF_SECONDS } from './provider.ts';
import { suiteWorld } from './suite-world.ts';
import { moreThan, underTraffic } from './traffic.ts';
import { logIn, newcomer } from './world.ts';

const CALM_MS = 1000;
const FAULT_MS = 2000;
const PARALLEL = 200;
/** Each gateway has a key set for logins, and one for each of two JWT providers. */
const KEY_SETS = 3;
/** Of the tokens that hold for a while after the provider is gone, and what a busy machine may take of that. */
const HOLD_SECONDS = 12;
const MARGIN_MS = 4000;

describe('the identity provider under traffic', function () {
  this.timeout(300_000);
  const suite = suiteWorld({ providerIsAway: true });
  afterEach(() => void (suite.world.provider.briefSeconds = BRIEF_SECONDS));

  it('unavailable at startup: serves routes without a login, returns 503 to logins, and recovers automatically', async () => {
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
    await underTraffic('provider unavailable at startup', mixedFlows(world), async (phase, soFar) => {
      phase('away', AWAY);
      await wait(FAULT_MS);
      await moreThan(20, soFar, 'provider away', { phase: 'away', flows: ['logins', 'pages'] });
      await moreThan(10, soFar, 'served', { phase: 'away', flows: ['public'] });
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
  });

  it('unavailable later: keeps sessions, returns 503 for expired tokens, logs nobody out', async () => {
    const { world } = suite;
    world.provider.briefSeconds = HOLD_SECONDS;
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
    await underTraffic('provider unavailable later', flows, async (phase, soFar) => {
      phase('away, tokens hold', gone);
      await world.provider.stop();
      await moreThan(10, soFar, 'served', { phase: 'away, tokens hold', flows: [name] });
      await sinceLogin(HOLD_SECONDS * 1000 - MARGIN_MS);
      phase('tokens end', { ...gone, [name]: ['served', 'provider away'] });
      await until(() => all('provider away'), 'the end of all tokens');
      phase('away, tokens ended', { logins: ['no page of the provider'], [name]: ['provider away'] });
      await moreThan(10, soFar, 'provider away', { phase: 'away, tokens ended', flows: [name] });
      await moreThan(50, soFar, 'served', { phase: 'away, tokens ended', flows: SESSION_FLOWS });
      phase('returning', { ...gone, [name]: ['provider away', 'served'] });
      await world.provider.start();
      await until(() => all('served'), 'every session works again');
      phase('after');
      await wait(CALM_MS);
    });
    for (const { email } of people) {
      expect(world.provider.authorizations.filter((each) => each === email)).to.have.length(1);
    }
  });

  it('revoked refresh token: requires one login, and removes the session at all gateways', async () => {
    const { redis, world } = suite;
    const person = await logIn(world, newcomer(BRIEF));
    const handle = /__session=([^;]+)/.exec(person.cookies())![1]!;
    const kept = (): Promise<string> => redis.command(['exists', digest(handle)]);
    expect(await kept(), 'the session in Redis').to.equal(':1\r\n');
    await underTraffic('refresh token revoked', [...mixedFlows(world), pagesOf(world, () => person)], async (phase) => {
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

  it('200 concurrent requests at expiry at three gateways: makes one token call, and returns 200 correct responses', async () => {
    const { world } = suite;
    const person = await logIn(world, newcomer(BRIEF));
    // Those of the renewal outlive the test.
    world.provider.briefSeconds = 3600;
    await underTraffic('expiry under load', mixedFlows(world), async (phase) => {
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

  it('key rotation without overlap: rejects no login, and reads each key set once', async () => {
    const { world } = suite;
    // Id tokens of before are signed with a key that is gone: a route that judges them again refuses them.
    const expected = { accounts: ['served', 'bad token'] };
    await underTraffic('key rotation', mixedFlows(world), async (phase, soFar) => {
      await wait(CALM_MS);
      phase('rotated', expected);
      const before = world.provider.keyReads;
      world.provider.rotate();
      await wait(FAULT_MS);
      await moreThan(10, soFar, 'served', { phase: 'rotated', flows: ['tokens'] });
      await moreThan(3, soFar, 'served', { phase: 'rotated', flows: ['logins'] });
      await until(() => world.provider.keyReads - before >= world.nodes.length, 'a read by every gateway');
      const reads = world.provider.keyReads - before;
      console.log(`        ${reads} reads of the keys by ${world.nodes.length} gateways`);
      expect(reads).to.be.within(world.nodes.length, world.nodes.length * KEY_SETS);
    });
  });
});
