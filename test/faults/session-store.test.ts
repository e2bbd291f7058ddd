import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import type { Kind } from './answer-kind.ts';
import { allServed, mixedFlows, ofSessions, pageEverywhere, SESSION_FLOWS, withoutSession } from './flows.ts';
import { commandsOf } from './redis-commands.ts';
import { suiteWorld } from './suite-world.ts';
import { countOf, slowestOf, underTraffic, type Report } from './traffic.ts';
import { logIn } from './world.ts';

const CALM_MS = 1000;
const FAULT_MS = 2500;
/** What a request may take, with what a busy machine adds. */
const WITHIN_MS = 1000 + 1000;
const BACK_WITHIN_MS = 2000 + 1000;

const AWAY = { ...ofSessions('store away'), logins: ['store away'] };
const CHANGING = { ...ofSessions('served', 'store away'), logins: ['served', 'store away'] };

describe('the session store under traffic', function () {
  this.timeout(60_000);
  const suite = suiteWorld({ redisArgs: ['--appendonly', 'yes'] });

  const everywhere = async (kind: Kind): Promise<boolean> =>
    (await pageEverywhere(suite.world, suite.world.people[0]!)).every((each) => each === kind);

  interface Fault {
    begin(): Promise<void>;
    end(): Promise<void>;
  }

  /** Redis is away: 503 in time wherever it is needed, nothing else; and everything is as before afterwards. */
  async function away(title: string, fault: Fault): Promise<Report> {
    let backAfterMs = 0;
    const report = await underTraffic(title, mixedFlows(suite.world), async (phase) => {
      await wait(CALM_MS);
      phase('breaking', CHANGING);
      await fault.begin();
      await until(() => everywhere('store away'), 'a 503 everywhere');
      phase('away', AWAY);
      await wait(FAULT_MS);
      phase('returning', CHANGING);
      await fault.end();
      const from = performance.now();
      await until(() => allServed(suite.world), 'every session works again');
      backAfterMs = performance.now() - from;
      phase('after');
      await wait(CALM_MS);
    });
    console.log(`        all sessions worked again after ${Math.round(backAfterMs)} ms`);
    expect(backAfterMs).to.be.lessThan(BACK_WITHIN_MS);
    expect(countOf(report, 'store away', { phase: 'away', flows: SESSION_FLOWS })).to.be.greaterThan(50);
    for (const phase of ['breaking', 'away']) {
      const slowest = slowestOf(report, { phase, flows: SESSION_FLOWS });
      expect(slowest, phase).to.be.lessThan(WITHIN_MS + report.ownLagMs);
    }
    return report;
  }

  it('F1: stopped: 503 with Retry-After within a second, all else goes on, no session is lost', async () => {
    const { redis } = suite;
    await away('F1', { begin: () => redis.stop(), end: () => redis.start() });
  });

  it('F2: frozen: the same, and few commands wait for it', async () => {
    const { redis } = suite;
    let waited = 0;
    const report = await away('F2', {
      async begin() {
        await redis.command(['config', 'resetstat']);
        redis.freeze();
      },
      async end() {
        redis.thaw();
        waited = await commandsOf(redis, 'get');
      },
    });
    const refused = countOf(report, 'store away', { phase: 'away', flows: SESSION_FLOWS });
    console.log(`        ${refused} requests were refused while it was frozen, ${waited} reads waited in Redis`);
    expect(waited).to.be.lessThan(refused);
  });

  it('F6: full: who is logged in goes on, a login is 503', async () => {
    const { redis, world } = suite;
    const report = await underTraffic('F6', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('filling', { logins: ['served', 'store away'] });
      await redis.command(['config', 'set', 'maxmemory-policy', 'noeviction']);
      await redis.command(['config', 'set', 'maxmemory', '1']);
      // A login that had begun may still have got in.
      await wait(CALM_MS);
      phase('full', { logins: ['store away'] });
      await wait(FAULT_MS);
      phase('emptying', { logins: ['served', 'store away'] });
      await redis.command(['config', 'set', 'maxmemory', '0']);
      await wait(CALM_MS);
      phase('after');
      await wait(CALM_MS);
    });
    expect(countOf(report, 'store away', { phase: 'full', flows: ['logins'] })).to.be.greaterThan(2);
  });

  it('F4: restarted empty: pages are sent to log in, scripts and POST get 401, no body gets through', async () => {
    const { redis, world } = suite;
    const report = await underTraffic('F4', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('restarting', { ...withoutSession('served', 'store away'), logins: ['served', 'store away'] });
      await redis.command(['flushall']);
      await redis.stop();
      await redis.start();
      await until(() => everywhere('sent to log in'), 'logins are offered everywhere');
      phase('empty', withoutSession());
      await wait(FAULT_MS);
      phase('logging in', withoutSession('served'));
      await Promise.all(world.people.map((person) => logIn(world, person)));
      phase('after');
      await wait(CALM_MS);
    });
    expect(countOf(report, 'sent to log in', { phase: 'empty', flows: ['pages'] })).to.be.greaterThan(20);
    expect(countOf(report, 'told to log in', { phase: 'empty', flows: ['scripts', 'posts'] })).to.be.greaterThan(20);
  });
});
