import { createRedisStore } from '@edge-gateway/rate-limit';
import { silentLoggers } from '@edge-gateway/core';
import { startRedis } from '../test/parts/redis.ts';
const redis = await startRedis();
const store = createRedisStore({ url: `redis://${redis.host}`, log: silentLoggers.get('redis') });
const limit = {
  requests: 4294967295,
  unit: 'DAY',
  unitMs: 86400000,
  algorithm: 'FIXED_WINDOW',
  burst: 4294967295,
} as const;
const A = Array.from({ length: 1000 }, (_, i) => `198.51.${i >> 8}.${i & 255}`);
const charges = A.map((a) => [{ key: `custom||orders|${a}`, limit, cost: 1 }]);
const N = Number(process.env.N ?? 300000),
  FL = Number(process.env.FL ?? 1000);
async function run(n: number) {
  let sent = 0;
  const b = process.cpuUsage();
  const t = performance.now();
  const ask = async () => {
    while (sent < n) await store.count(charges[sent++ % 1000]!, 10000);
  };
  await Promise.all(Array.from({ length: FL }, ask));
  const { user, system } = process.cpuUsage(b);
  return [(user + system) / n, user / n, performance.now() - t];
}
await run(30000);
await redis.command(['config', 'resetstat']);
console.log(await run(N));
console.log(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.command(['info', 'commandstats']))?.[1], 'commands');
for (let i = 0; i < 5; i++) console.log((await run(30000))[0]);
store.close();
await redis.close();
