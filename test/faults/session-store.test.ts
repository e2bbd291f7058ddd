import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import type { Kind } from './answer-kind.ts';
import { allServed, mixedFlows, ofSessions, pageEverywhere, SESSION_FLOWS, withoutSession } from './flows.ts';
import { commandsOf } from './redis-commands.ts';
import { suiteWorld } from './suite-world.ts';
import { allAnswered, countOf, moreThan, slowestOf, underTraffic, type Report } from './traffic.ts';
import { logIn } from './world.ts';

const CALM_MS = 1000;
const FAULT_MS = 2500;
/** A request takes a second, and sessions are back after two; on a machine that is ten times slower, this. */
const WITHIN_MS = 10_000;
const BACK_WITHIN_MS = 20_000;

const AWAY = { ...ofSessions('store away'), logins: ['store away'] };
const CHANGING = { ...ofSessions('served', 'store away'), logins: ['served', 'store away'] };

describe('the session store under traffic', function () {
  this.timeout(300_000);
  const suite = suiteWorld({ redisArgs: ['--appendonly', 'yes', '--appendfsync', 'always'] });

  const everywhere = async (kind: Kind): Promise<boolean> =>
    (await pageEverywhere(suite.world, suite.world.people[0]!)).every((each) => each === kind);

  /** Every gateway has an open WebSocket: their handshakes need the store. */
  async function connected(soFar: Report): Promise<void> {
    const part = { phase: 'before', flows: ['messages'] };
    await wait(CALM_MS);
    await moreThan(2 * suite.world.nodes.length, soFar, 'served', part);
    await allAnswered(soFar, part);
  }

  interface Fault {
    begin(): Promise<void>;
    end(): Promise<void>;
  }

  /** Redis is away: 503 in time wherever it is needed, nothing else; and everything is as before afterwards. */
  async function away(title: string, fault: Fault): Promise<Report> {
    let backAfterMs = 0;
    const report = await underTraffic(title, mixedFlows(suite.world), async (phase, soFar) => {
      await connected(soFar);
      phase('breaking', CHANGING);
      await fault.begin();
      await until(() => everywhere('store away'), 'a 503 everywhere');
      phase('away', AWAY);
      await wait(FAULT_MS);
      await moreThan(150, soFar, 'store away', { phase: 'away', flows: SESSION_FLOWS });
      phase('still away', AWAY);
      // Nobody waits until it is back.
      await allAnswered(soFar, { phase: 'breaking', flows: SESSION_FLOWS });
      await allAnswered(soFar, { phase: 'away', flows: SESSION_FLOWS });
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
    for (const phase of ['breaking', 'away']) {
      const slowest = slowestOf(report, { phase, flows: SESSION_FLOWS });
      expect(slowest, phase).to.be.lessThan(WITHIN_MS + report.ownLagMs);
    }
    return report;
  }

  it('stopped: returns 503 with Retry-After meanwhile, serves everything else, loses no session', async () => {
    const { redis } = suite;
    await away('Redis stopped', { begin: () => redis.stop(), end: () => redis.start() });
  });

  it('frozen: as if stopped, and few commands wait for it', async () => {
    const { redis } = suite;
    let waited = 0;
    const report = await away('Redis frozen', {
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

  it('out of memory: keeps sessions, returns 503 to logins', async () => {
    const { redis, world } = suite;
    await underTraffic('Redis out of memory', mixedFlows(world), async (phase, soFar) => {
      await connected(soFar);
      phase('filling', { logins: ['served', 'store away'] });
      await redis.command(['config', 'set', 'maxmemory-policy', 'noeviction']);
      await redis.command(['config', 'set', 'maxmemory', '1']);
      phase('filled', { logins: ['served', 'store away'] });
      // A login that had begun may still have got in.
      for (const each of ['before', 'filling']) await allAnswered(soFar, { phase: each, flows: ['logins'] });
      await wait(CALM_MS);
      phase('full', { logins: ['store away'] });
      await wait(FAULT_MS);
      await moreThan(2, soFar, 'store away', { phase: 'full', flows: ['logins'] });
      phase('emptying', { logins: ['served', 'store away'] });
      await redis.command(['config', 'set', 'maxmemory', '0']);
      await wait(CALM_MS);
      phase('after');
      await wait(CALM_MS);
    });
  });

  it('restarted empty: redirects pages to the login, returns 401 to scripts and POST, forwards no body', async () => {
    const { redis, world } = suite;
    await underTraffic('Redis restarted empty', mixedFlows(world), async (phase, soFar) => {
      await connected(soFar);
      phase('restarting', { ...withoutSession('served', 'store away'), logins: ['served', 'store away'] });
      await redis.command(['flushall']);
      await redis.stop();
      await redis.start();
      await until(() => everywhere('sent to log in'), 'logins are offered everywhere');
      phase('empty', withoutSession());
      await moreThan(20, soFar, 'sent to log in', { phase: 'empty', flows: ['pages'] });
      await moreThan(20, soFar, 'told to log in', { phase: 'empty', flows: ['scripts', 'posts'] });
      phase('logging in', withoutSession('served'));
      await Promise.all(world.people.map((person) => logIn(world, person)));
      phase('after');
      await wait(CALM_MS);
    });
  });
});
