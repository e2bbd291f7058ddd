import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { allServed, mixedFlows, ofSessions, pageEverywhere, SESSION_FLOWS } from './flows.ts';
import { commandsOf } from './redis-commands.ts';
import { redisSession } from './resources.ts';
import { suiteWorld } from './suite-world.ts';
import { countOf, medianOf, underTraffic, type Report } from './traffic.ts';

const CALM_MS = 2000;
const FAULT_MS = 5000;
const DELAY_MS = 300;
/** How long the address of Redis leads to the one that was the primary. */
const STALE_MS = 2000;
/** It is five seconds; on a machine that is ten times slower, this. */
const BACK_WITHIN_MS = 50_000;

const TROUBLED = { ...ofSessions('served', 'store away'), logins: ['served', 'store away'] };

describe('a session store that is slow, fails over, or changes its password, under traffic', function () {
  this.timeout(300_000);
  const suite = suiteWorld({ forEach: 'test behind a front' });

  it('300 ms slower: serves with one read per request, delayed only by that read', async () => {
    const { redis, front, world } = suite;
    let reads = 0;
    const report = await underTraffic('Redis 300 ms slower', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('slow');
      front.delayMs = DELAY_MS;
      await redis.command(['config', 'resetstat']);
      await wait(FAULT_MS);
      reads = await commandsOf(redis, 'get');
      phase('after');
      front.delayMs = 0;
      await wait(CALM_MS);
    });
    const pages = (phase: string): number => medianOf(report, { phase, flows: ['pages', 'scripts'] });
    const sent = (phase: string): number =>
      [...SESSION_FLOWS, 'logins'].reduce((sum, flow) => sum + report.tally(phase, flow).sent, 0);
    const later = pages('slow') - pages('before');
    console.log(`        ${Math.round(later)} ms later; ${reads} reads for ${sent('slow')} requests with a session`);
    // Once for each request, whatever a busy machine adds; that it is one read is counted below.
    expect(later).to.be.at.least(DELAY_MS * 0.9);
    // Those under way at the beginning and at the end are counted differently.
    expect(reads).to.be.lessThan(sent('slow') * 1.2);
  });

  /** The primary changes to `other`; the address of Redis leads there only after a while. */
  async function failOver(title: string, trouble: () => Promise<void>, other: RedisServer): Promise<Report> {
    const { front, world } = suite;
    let troubledMs = 0;
    const report = await underTraffic(title, mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('moving', TROUBLED);
      await trouble();
      const from = performance.now();
      await wait(STALE_MS);
      front.port = other.port;
      front.says = undefined;
      const writes = (): Promise<number> => commandsOf(other, 'set');
      const known = await writes();
      await until(async () => (await writes()) > known + world.nodes.length, 'logins are kept at the new primary');
      await until(() => allServed(world), 'every session works again');
      troubledMs = performance.now() - from;
      phase('after');
      await wait(CALM_MS);
    });
    console.log(`        trouble for ${Math.round(troubledMs)} ms, of which the address was wrong for ${STALE_MS} ms`);
    expect(troubledMs).to.be.lessThan(BACK_WITHIN_MS);
    return report;
  }

  it('failover, the old primary returns READONLY: logins return 503 for at most 5 s, nobody is logged out', async () => {
    const { redis } = suite;
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis.port)] });
    try {
      await until(async () => (await replica.command(['info', 'replication'])).includes('link_status:up'), 'a replica');
      const promote = async (): Promise<void> => {
        await replica.command(['replicaof', 'no', 'one']);
        await redis.command(['replicaof', '127.0.0.1', String(replica.port)]);
      };
      const report = await failOver('failover, READONLY', promote, replica);
      expect(countOf(report, 'store away', { phase: 'moving', flows: ['logins'] })).to.be.greaterThan(1);
    } finally {
      await replica.close();
    }
  });

  it('failover, the old primary returns MOVED: returns 503 for at most 5 s, nobody is logged out', async () => {
    const { redis, front } = suite;
    const move = async (): Promise<void> => {
      front.says = `-MOVED 866 ${redis.host}`;
    };
    const report = await failOver('failover, MOVED', move, redis);
    expect(countOf(report, 'store away', { phase: 'moving', flows: SESSION_FLOWS })).to.be.greaterThan(20);
  });

  it('changed password: returns 503 with the cause in the log, and accepts the new password without a restart', async () => {
    const { redis, front, world } = suite;
    const first = 'the-first-password';
    const second = 'the-second-password';
    await tell(redis.port, `CONFIG SET requirepass ${first}`);
    world.configure({ session: redisSession(`redis://:${first}@${front.host}`) });
    await until(() => allServed(world), 'every session works with the first password');
    const pids = world.nodes.map(({ child }) => child.pid);
    const report = await underTraffic('password of Redis changed', mixedFlows(world), async (phase) => {
      await wait(CALM_MS);
      phase('rotating', TROUBLED);
      await tell(redis.port, `AUTH ${first}`, `CONFIG SET requirepass ${second}`, 'CLIENT KILL TYPE normal SKIPME yes');
      const refused = async (): Promise<boolean> =>
        (await pageEverywhere(world, world.people[0]!)).every((kind) => kind === 'store away');
      await until(refused, 'a 503 everywhere');
      phase('locked out', { ...ofSessions('store away'), logins: ['store away'] });
      await wait(FAULT_MS);
      phase('returning', TROUBLED);
      world.configure({ session: redisSession(`redis://:${second}@${front.host}`) });
      await until(() => allServed(world), 'every session works again');
      phase('after');
      await wait(CALM_MS);
    });
    expect(countOf(report, 'store away', { phase: 'locked out', flows: SESSION_FLOWS })).to.be.greaterThan(50);
    expect(world.nodes.map(({ child }) => child.pid)).to.deep.equal(pids);
    for (const node of world.nodes) {
      const log = node.output + node.errors;
      expect(log).to.match(/WRONGPASS|NOAUTH/);
      expect(log).not.to.contain(first);
      expect(log).not.to.contain(second);
    }
  });
});

/** Says lines to Redis, one after the other on one connection. */
async function tell(port: number, ...lines: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    for (const line of lines) {
      socket.write(`${line}\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString(), line).to.match(/^[+:]/);
    }
  } finally {
    socket.destroy();
  }
}
