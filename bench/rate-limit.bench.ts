// Rate limits in memory: CPU time per check, beside rate-limiter-flexible. The competitors take turns; the keys are 1,000 client addresses.
// A check of rate-limiter-flexible counts a key that exists already, as "count" does. "match + count" finds the rule of a descriptor before,
// and creates the decision with the outcome of the rule, as a rate limit server does; "check" counts a request of a route, as a gateway does, with
// actions and rules compiled into one step. All read the clock.
import {
  compileActions,
  compileRules,
  createMatch,
  createMemoryStore,
  embeddedLimiter,
  type DescribedRequest,
} from '@edge-gateway/rate-limit';
import { compileDescriptors } from '../packages/rate-limit/src/descriptor/compile-actions.ts';
import { installBeside, moduleIn } from './installed.ts';
import { median } from './measure.ts';

const ROUNDS = 15;
const CHECKS = Number(process.env['AMOUNT'] ?? 200_000);
const ADDRESSES = Array.from({ length: 1000 }, (_, i) => `198.51.${i >> 8}.${i & 255}`);
const LIMIT = { requestsPerUnit: 4_294_967_295, unit: 'HOUR' } as const;

installBeside('rate-limiter-flexible', { 'rate-limiter-flexible': '11.4.0' });
/** The parts of rate-limiter-flexible that are compared with. */
interface Flexible {
  consume(key: string): Promise<unknown>;
}
const { RateLimiterMemory } = (await moduleIn('rate-limiter-flexible', 'rate-limiter-flexible')) as {
  RateLimiterMemory: new (options: { points: number; duration: number; keyPrefix: string }) => Flexible;
};
const flexible = new RateLimiterMemory({ points: LIMIT.requestsPerUnit, duration: 3600, keyPrefix: 'orders' });

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

/** The parts of a check, with one rule per address below a fixed entry, and a rule that other entries would hit. */
function checks(algorithm: 'FIXED_WINDOW' | 'SLIDING_WINDOW' | 'TOKEN_BUCKET') {
  const rateLimit = { ...LIMIT, algorithm };
  const rules = {
    descriptors: [
      { key: 'generic_key', value: 'orders', descriptors: [{ key: 'remote_address', rateLimit }] },
      { key: 'generic_key', value: 'users', rateLimit },
    ],
  };
  const ruleSets = [compileRules(rules, { domain: 'custom' })];
  const store = createMemoryStore();
  const limiter = embeddedLimiter({ ruleSets: { custom: ruleSets }, store });
  const actions = [{ actions: [{ genericKey: { descriptorValue: 'orders' } }, { remoteAddress: {} }] }];
  const descriptorsOf = compileActions(actions);
  const decide = limiter.prepare!('custom', compileDescriptors(actions))!;
  const descriptors = REQUESTS.map(descriptorsOf);
  const hits = descriptors.map(createMatch(ruleSets));
  return {
    count: (i: number) => store.tally(hits[i % hits.length]!),
    matchAndCount: (i: number) => limiter.check('custom', descriptors[i % descriptors.length]!, 100),
    check: (i: number) => decide(REQUESTS[i % REQUESTS.length]!, 100),
  };
}

/** One thing to measure: all calls of a round. */
interface Case {
  readonly name: string;
  run(): Promise<void> | void;
}

const ofChecker = (name: string, check: (i: number) => unknown): Case => ({
  name,
  run() {
    for (let i = 0; i < CHECKS; i++) check(i);
  },
});
const casesOf = (name: string, { count, matchAndCount, check }: ReturnType<typeof checks>): Case[] => [
  ofChecker(`${name}: count`, count),
  ofChecker(`${name}: match + count`, matchAndCount),
  ofChecker(`${name}: check`, check),
];
const CASES: readonly Case[] = [
  {
    name: 'rate-limiter-flexible 11.4.0, memory',
    async run() {
      for (let i = 0; i < CHECKS; i++) await flexible.consume(ADDRESSES[i % ADDRESSES.length]!);
    },
  },
  ofChecker('the clock alone', Date.now),
  ...casesOf('fixed window', checks('FIXED_WINDOW')),
  ...casesOf('sliding window', checks('SLIDING_WINDOW')),
  ...casesOf('token bucket', checks('TOKEN_BUCKET')),
];

/** Microseconds of CPU time per check. */
async function microseconds({ run }: Case): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CHECKS;
}

const cell = (time: number): string => time.toFixed(3).padStart(7);

for (const each of CASES) await each.run();
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
