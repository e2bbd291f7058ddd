import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { kindOf, type Kind } from './answer-kind.ts';
import { login, mixedFlows } from './flows.ts';
import type { Person } from './person.ts';
import { suiteWorld } from './suite-world.ts';
import { allAnswered, countOf, slowestOf, underTraffic } from './traffic.ts';
import { logIn, newcomer } from './world.ts';

const CALM_MS = 1500;
const FAULT_MS = 4000;
const DRIP_MS = 400;
/** A call to the provider may take 5 s; on a machine that is ten times slower, this. */
const WITHIN_MS = 50_000;
/** Within the 60 s that clocks may differ, and beyond. */
const INSIDE_SECONDS = [-55, 55];
const OUTSIDE_SECONDS = [-300, 300];
/** Shorter than the larger difference. */
const ID_SECONDS = 120;

describe('a slow or skewed identity provider under traffic', function () {
  this.timeout(300_000);
  const suite = suiteWorld();
  afterEach(() => {
    const { world } = suite;
    world.provider.intercept = undefined;
    world.provider.clockSeconds = 0;
  });

  const SLOW: Readonly<Record<string, (res: ServerResponse) => Promise<void>>> = {
    'does not answer': async () => {},
    drips: async (res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      while (!res.destroyed) {
        res.write(' ');
        await wait(DRIP_MS);
      }
    },
  };
  for (const [how, answer] of Object.entries(SLOW)) {
    it(`${how}: returns 504 in time with a page to retry, and the same callback succeeds then`, async () => {
      const { world } = suite;
      const person = newcomer();
      const callback = await person.toCallback('/private/page', () => world.next().url);
      const ask = async (): Promise<Kind> => kindOf(await person.ask(world.nodes[0]!.url + callback), () => false);
      let tookMs = 0;
      const report = await underTraffic(how, mixedFlows(world), async (phase, soFar) => {
        await wait(CALM_MS);
        phase('slow', { logins: ['served', 'provider slow'] });
        world.provider.intercept = (req, res) => {
          if (req.url === '/token') void answer(res);
          return req.url === '/token';
        };
        const from = performance.now();
        expect(await ask()).to.equal('provider slow');
        tookMs = performance.now() - from;
        await wait(CALM_MS);
        phase('mended', { logins: ['served', 'provider slow'] });
        world.provider.intercept = undefined;
        await allAnswered(soFar, { phase: 'slow', flows: ['logins'] });
        phase('after');
        await wait(CALM_MS);
      });
      expect(tookMs).to.be.lessThan(WITHIN_MS);
      expect(countOf(report, 'provider slow', { phase: 'slow', flows: ['logins'] })).to.be.greaterThan(3);
      expect(slowestOf(report, { phase: 'slow', flows: ['logins'] })).to.be.lessThan(WITHIN_MS + report.ownLagMs);
      const { status, headers } = await person.ask(world.nodes[0]!.url + callback);
      expect([status, headers.location]).to.deep.equal([302, 'http://app.test/private/page']);
      expect(await login(world, person)).to.equal('served');
      expect(world.provider.authorizations.filter((email) => email === person.email)).to.have.length(1);
    });
  }

  it('clock skew: serves everything within 60 s; beyond that returns 401 with reason `clock`, without a redirect loop', async () => {
    const { world } = suite;
    world.provider.idSeconds = ID_SECONDS;
    const report = await underTraffic('clock skew', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      for (const seconds of INSIDE_SECONDS) {
        phase(`${seconds} s`);
        world.provider.clockSeconds = seconds;
        await wait(FAULT_MS);
      }
      for (const seconds of OUTSIDE_SECONDS) {
        phase('changing', { tokens: ['served', 'forbidden', 'clock'], logins: ['served', 'clock'] });
        world.provider.clockSeconds = seconds;
        await wait(CALM_MS);
        phase(`${seconds} s`, { tokens: ['clock'], logins: ['clock'] });
        await inCircles(newcomer());
        await wait(FAULT_MS);
      }
      phase('changing', { tokens: ['served', 'forbidden', 'clock'], logins: ['served', 'clock'] });
      world.provider.clockSeconds = 0;
      await wait(CALM_MS);
      phase('after');
      await wait(CALM_MS);
    });
    for (const seconds of OUTSIDE_SECONDS) {
      const phase = `${seconds} s`;
      expect(countOf(report, 'clock', { phase, flows: ['tokens'] }), phase).to.be.greaterThan(20);
      expect(countOf(report, 'clock', { phase, flows: ['logins'] }), phase).to.be.greaterThan(5);
    }
    for (const { output, errors } of world.nodes) expect(output + errors).to.match(/clock/);
  });

  /** Whoever starts again gets the page again, each time after one login at the provider. */
  async function inCircles(person: Person): Promise<void> {
    const { world } = suite;
    for (let round = 1; round <= 3; round++) {
      expect(await login(world, person), `round ${round}`).to.equal('clock');
      expect(world.provider.authorizations.filter((email) => email === person.email)).to.have.length(round);
    }
  }

  it('lost logins: stops the browser after two of them', async () => {
    const { redis, world } = suite;
    const person = await logIn(world, newcomer());
    for (let round = 1; round <= 2; round++) {
      await redis.command(['flushall']);
      const { status, text } = await person.visit('/private/page', () => world.next().url);
      if (round === 1) expect(status).to.equal(200);
      else expect([status, text.includes('Your login could not be kept')]).to.deep.equal([403, true]);
    }
    expect(world.provider.authorizations.filter((email) => email === person.email)).to.have.length(2);
  });
});
