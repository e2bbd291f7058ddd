// Rate limits on Redis: CPU time of the client per check with 1,000 checks in flight, beside rate-limiter-flexible with the same client
// package. The competitors take turns; the keys are 1,000 client addresses. "count" is the store alone; "check" counts a request
// of a route, as a gateway does. The time of Redis itself, in a process of its own, is not included.
import { createClient } from 'redis';
import {
  compileActions,
  compileRules,
  createRedisStore,
  embeddedLimiter,
  type DescribedRequest,
} from '@edge-gateway/rate-limit';
import { silentLoggers } from '@edge-gateway/core';
import { startRedis } from '../test/parts/redis.ts';
import { compileDescriptors } from '../packages/rate-limit/src/descriptor/compile-actions.ts';
import { installBeside, moduleIn } from './installed.ts';
import { median } from './measure.ts';

const ROUNDS = 11;
const CHECKS = Number(process.env['AMOUNT'] ?? 100_000);
const IN_FLIGHT = 1000;
/** Milliseconds; no check may fail. */
const DEADLINE_MS = 10_000;
const ADDRESSES = Array.from({ length: 1000 }, (_, i) => `198.51.${i >> 8}.${i & 255}`);
const LIMIT = { requestsPerUnit: 4_294_967_295, unit: 'DAY' } as const;

installBeside('rate-limiter-flexible', { 'rate-limiter-flexible': '11.4.0' });
/** The parts of rate-limiter-flexible that are compared with. */
interface Flexible {
  consume(key: string): Promise<unknown>;
}
interface FlexibleOptions {
  readonly storeClient: unknown;
  readonly useRedisPackage: boolean;
  readonly points: number;
  readonly duration: number;
  readonly keyPrefix: string;
}
const { RateLimiterRedis } = (await moduleIn('rate-limiter-flexible', 'rate-limiter-flexible')) as {
  RateLimiterRedis: new (options: FlexibleOptions) => Flexible;
};

const requestOf = (clientAddress: string): DescribedRequest => ({
  clientAddress,
  destinationCluster: undefined,
  sourceCluster: undefined,
  userId: undefined,
  graphqlComplexity: undefined,
  header: () => undefined,
  metadata: () => undefined,
  routeMetadata: () => undefined,
});
const REQUESTS = ADDRESSES.map(requestOf);

const redis = await startRedis();
const storeClient = await createClient({ url: `redis://${redis.host}` }).connect();
const flexible = new RateLimiterRedis({
  storeClient,
  useRedisPackage: true,
  points: LIMIT.requestsPerUnit,
  duration: 86_400,
  keyPrefix: 'orders',
});
const store = createRedisStore({ url: `redis://${redis.host}`, log: silentLoggers.get('redis') });

const rules = {
  descriptors: [
    { key: 'generic_key', value: 'orders', descriptors: [{ key: 'remote_address', rateLimit: LIMIT }] },
    { key: 'generic_key', value: 'users', rateLimit: LIMIT },
  ],
};
const ruleSets = [compileRules(rules, { domain: 'custom' })];
const limiter = embeddedLimiter({ ruleSets: { custom: ruleSets }, store });
const actions = [{ actions: [{ genericKey: { descriptorValue: 'orders' } }, { remoteAddress: {} }] }];
const descriptorsOf = compileActions(actions);
const decide = limiter.prepare!('custom', compileDescriptors(actions))!;
const { limit } = (await limiter.check('custom', descriptorsOf(REQUESTS[0]!), DEADLINE_MS)).outcomes[0]!;
const charges = ADDRESSES.map((address) => [{ key: `custom.orders|${address}`, limit, cost: 1 }]);

/** One thing to measure. */
interface Case {
  readonly name: string;
  check(i: number): unknown;
}
const CASES: readonly Case[] = [
  {
    name: 'rate-limiter-flexible 11.4.0, Redis',
    check: (i) => flexible.consume(ADDRESSES[i % ADDRESSES.length]!),
  },
  { name: 'the loop alone', check: () => undefined },
  { name: 'count', check: (i) => store.count(charges[i % charges.length]!, DEADLINE_MS) },
  { name: 'check', check: (i) => decide(REQUESTS[i % REQUESTS.length]!, DEADLINE_MS) },
];

/** Microseconds of CPU time per check. */
async function microseconds({ check }: Case): Promise<number> {
  globalThis.gc?.();
  let sent = 0;
  const before = process.cpuUsage();
  const ask = async (): Promise<void> => {
    while (sent < CHECKS) await check(sent++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CHECKS;
}

const cell = (time: number): string => time.toFixed(2).padStart(6);

for (const each of CASES) await microseconds(each);
const rounds: number[][] = [];
for (let round = 0; round < ROUNDS; round++) {
  const times: number[] = [];
  for (const each of CASES) times.push(await microseconds(each));
  rounds.push(times);
}
for (const [i, { name }] of CASES.entries()) {
  const times = rounds.map((round) => round[i]!);
  const ratio = median(rounds.map((round) => round[i]! / round[0]!));
  console.log(
    `  ${name.padEnd(40)} ${cell(median(times))} µs, least ${cell(Math.min(...times))} µs ${ratio.toFixed(2).padStart(6)}`,
  );
}
store.close();
storeClient.destroy();
await redis.close();
