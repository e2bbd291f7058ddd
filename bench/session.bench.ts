import { Pool } from 'undici';
import { startRedis } from '../test/parts/redis.ts';
import { APP } from '../test/faults/resources.ts';
import { startWorld } from '../test/faults/world.ts';
import { cpuPerRequest, median, pin } from './measure.ts';

export const name = 'sessions in Redis: CPU time per request, relative to the same route unprotected';

const ROUNDS = 7;
const AMOUNT = 3000;
const CONNECTIONS = 16;

const callsOf = (stats: string, command: string): number =>
  Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);

/** The gateway as a process of its own, with its access log; rounds of both routes take turns. */
export async function run(): Promise<void> {
  const redis = await startRedis();
  const world = await startWorld({ redis: redis.host, count: 1, people: 1 });
  const { child } = world.nodes[0]!;
  await world.settle();
  const headers = { host: APP, cookie: world.people[0]!.cookies() };
  const pool = new Pool(world.nodes[0]!.url, { connections: CONNECTIONS });
  pin(child, '0');
  const load = (path: string) => ({ path, headersOf: () => headers, amount: AMOUNT, connections: CONNECTIONS });
  const open: number[] = [];
  const session: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await redis.command(['config', 'resetstat']);
    const times = [
      await cpuPerRequest(child, pool, load('/public')),
      await cpuPerRequest(child, pool, load('/private')),
    ] as const;
    if (round === 0) continue;
    open.push(times[0]);
    session.push(times[1]);
  }
  const stats = await redis.command(['info', 'commandstats']);
  const ratio = median(session.map((time, i) => time / open[i]!)).toFixed(2);
  console.log(`  unprotected ${median(open).toFixed(0)} µs, session ${median(session).toFixed(0)} µs (${ratio} ×)`);
  const writes = ['set', 'expire', 'del'].map((command) => callsOf(stats, command)).reduce((sum, each) => sum + each);
  console.log(`  Redis: ${(callsOf(stats, 'get') / AMOUNT).toFixed(2)} reads and ${writes / AMOUNT} writes a request`);
  await pool.destroy();
  await world.close();
  await redis.close();
}

if (process.argv[1] === import.meta.filename) {
  console.log(name);
  await run();
}
