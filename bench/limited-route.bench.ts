// A route with a rate limit: CPU time of the gateway per request, relative to the same route without, counted in memory and on Redis.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Pool } from 'undici';
import { startRedis } from '../test/parts/redis.ts';
import { cpuPerRequest, median, pin } from './measure.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 15);
const AMOUNT = Number(process.env['AMOUNT'] ?? 3000);
/** Requests per route until the gateways run at their final speed. */
const WARM_UP = 20_000;
const CONNECTIONS = 64;

// Everything that is measured runs on the first core, what answers on the other.
async function start(
  file: string,
  args: readonly string[],
  core: string,
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(import.meta.dirname, file), args, { execArgv: ['--conditions=source'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  pin(child, core);
  return { child, port };
}

const redis = await startRedis();
pin(redis, '1');
const upstream = await start('forward-proxies.ts', ['upstream'], '1');
const gateways = [];
for (const [label, ...args] of [['memory'], ['Redis', `redis://${redis.host}`]] as const) {
  const { child, port } = await start('limited-gateway.ts', [String(upstream.port), ...args], '0');
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
  gateways.push({ label, child, pool, open: [] as number[], limited: [] as number[] });
}

const headersOf = (): Record<string, string> => ({});
for (const { child, pool } of gateways) {
  for (const path of ['/open', '/limited'])
    await cpuPerRequest(child, pool, { path, headersOf, amount: WARM_UP, connections: CONNECTIONS });
}
for (let round = 0; round < ROUNDS; round++) {
  for (const { child, pool, open, limited } of gateways) {
    const measure = (path: string): Promise<number> =>
      cpuPerRequest(child, pool, { path, headersOf, amount: AMOUNT, connections: CONNECTIONS });
    // Each is first in every second round.
    const first = round % 2 === 0 ? '/open' : '/limited';
    const earlier = await measure(first);
    const later = await measure(first === '/open' ? '/limited' : '/open');
    open.push(first === '/open' ? earlier : later);
    limited.push(first === '/open' ? later : earlier);
  }
}
for (const { label, open, limited } of gateways) {
  const ratio = median(limited.map((time, i) => time / open[i]!)).toFixed(2);
  console.log(
    `  ${label.padEnd(10)} unlimited ${median(open).toFixed(0)} µs, limited ${median(limited).toFixed(0)} µs (${ratio} ×)`,
  );
}
if ((await redis.command(['dbsize'])) === ':0\r\n') throw new Error('no request was counted');
for (const { pool } of gateways) await pool.destroy();
for (const { child } of [...gateways, upstream]) child.kill();
await redis.close();
