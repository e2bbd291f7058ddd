import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import type { Kind } from './answer-kind.ts';
import { mixedFlows, page, pagesOf } from './flows.ts';
import { BRIEF, BRIEF_SECONDS } from './provider.ts';
import { suiteWorld } from './suite-world.ts';
import { underTraffic } from './traffic.ts';
import { logIn, newcomer } from './world.ts';

const CALM_MS = 2000;

describe('token refresh under traffic', () => {
  const suite = suiteWorld();

  it('gateway killed during a refresh: the lock expires, the next gateway refreshes, no session is lost', async () => {
    const { world } = suite;
    const person = await logIn(world, newcomer(BRIEF));
    const [, , victim] = world.nodes;
    let isAsked = false;
    let heldMs = 0;
    const flows = mixedFlows(world);
    await underTraffic('gateway killed', flows, async (phase) => {
      await wait((BRIEF_SECONDS + 1) * 1000);
      world.provider.intercept = (req, _res, form) => {
        const isHeld =
          !isAsked && req.url === '/token' && world.provider.ownerOf(form.get('refresh_token') ?? '') === person.email;
        isAsked ||= isHeld;
        return isHeld;
      };
      const inFlight = page(world, person, victim).catch(() => 'cut off');
      await until(() => isAsked, 'the refresh');
      phase(
        'killed',
        Object.fromEntries(flows.map(({ name, usual }): [string, readonly Kind[]] => [name, [...usual, 'cut off']])),
      );
      await world.kill(victim!);
      expect(await inFlight).to.equal('cut off');
      phase('lock held');
      const from = performance.now();
      const kinds = await Promise.all(Array.from({ length: 30 }, () => page(world, person)));
      heldMs = performance.now() - from;
      expect(new Set(kinds)).to.deep.equal(new Set(['served']));
      expect(world.provider.refreshes.filter((email) => email === person.email)).to.have.length(1);
      phase('two gateways');
      await wait(CALM_MS);
      await world.revive(victim!);
      phase('three again');
      await wait(CALM_MS);
    });
    const everyone = [...world.people, person];
    const kinds = await Promise.all(everyone.flatMap((who) => world.nodes.map((node) => page(world, who, node))));
    expect(new Set(kinds), 'no session is destroyed').to.deep.equal(new Set(['served']));
    console.log(`        the 30 that came then waited ${Math.round(heldMs)} ms for the lock`);
    expect(world.provider.authorizations.filter((email) => email === person.email)).to.have.length(1);
  });

  it('refreshes tokens before they expire, once per lifetime', async () => {
    const { world } = suite;
    const person = await logIn(world, newcomer(BRIEF));
    await underTraffic('renewals', [...mixedFlows(world), pagesOf(world, () => person, 30)], () =>
      wait(BRIEF_SECONDS * 2 * 1000),
    );
    // Within the last two seconds of five, so at 3 and at 6 s; a busy machine may come later.
    expect(world.provider.refreshes.filter((email) => email === person.email).length).to.be.within(2, 3);
  });
});
