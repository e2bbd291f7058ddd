import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Pool } from 'undici';
import { startRedis } from '../test/parts/redis.ts';
import { cpuPerRequest, pin } from './measure.ts';
const redis = await startRedis();
pin(redis, '1');
const start = async (file: string, args: string[], core: string, prof: string[]) => {
  const child = fork(join(import.meta.dirname, file), args, { execArgv: ['--conditions=source', ...prof] });
  const [{ port }] = (await once(child, 'message')) as any;
  pin(child, core);
  return { child, port };
};
const upstream = await start('forward-proxies.ts', ['upstream'], '1', []);
for (const [label, path, ...args] of [
  ['open', '/open'],
  ['memory', '/limited'],
  ['redis', '/limited', `redis://${redis.host}`],
  ['redisopen', '/open', `redis://${redis.host}`],
] as any) {
  const { child, port } = await start('.limited-gateway.ts', [String(upstream.port), ...args], '0', []);
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 });
  const out = [];
  for (let i = 0; i < 14; i++) {
    if (process.env.PROF && i === 8) {
      child.send({ start: 1 });
      await once(child, 'message');
    }
    out.push(
      Math.round(await cpuPerRequest(child, pool, { path, headersOf: () => ({}), amount: 3000, connections: 64 })),
    );
  }
  if (process.env.PROF) {
    child.send({ stop: '/tmp/limits/' + label + '.cpuprofile' });
    await once(child, 'message');
  }
  console.log(label, out.join(' '));
  await pool.destroy();
  child.disconnect();
  await once(child, 'exit');
}
console.log(/evalsha:calls=(\d+)/.exec(await redis.command(['info', 'commandstats']))?.[1]);
upstream.child.kill();
await redis.close();
