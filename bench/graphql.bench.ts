import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { installHive } from './hive-install.ts';
import { pin } from './measure.ts';

// CPU of a GraphQL query in relation to a hand-written JSON handler that makes the same backend call.
const ROUNDS = 5;
const AMOUNT = Number(process.env['AMOUNT'] ?? 5000);
const CONNECTIONS = 32;
const ONE = { query: 'query ($id: ID!) { book(id: $id) { title author pages year } }', variables: { id: '3' } };
const NESTED = {
  query:
    '{ books { title author pages year details { publisher language } reviews { reviewer text } ratings { reviewer stars } } }',
};

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

const autocannon = createRequire(import.meta.url)('autocannon') as (options: object) => Promise<{
  readonly non2xx: number;
  readonly errors: number;
  readonly requests: { readonly total: number };
}>;

async function start(...args: string[]): Promise<Server> {
  const child = fork(new URL('graphql-servers.ts', import.meta.url), args, { execArgv: ['--conditions=source'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  pin(child, args[0] === 'backend' ? '1' : '0');
  return { child, port };
}

async function cpuOf({ child }: Server): Promise<number> {
  const answer = once(child, 'message');
  child.send('cpu');
  return ((await answer)[0] as { cpuMicroseconds: number }).cpuMicroseconds;
}

/** CPU microseconds of the server per request. */
async function measure(server: Server, body: object, amount: number): Promise<number> {
  const before = await cpuOf(server);
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/graphql`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    amount,
    connections: CONNECTIONS,
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} errors`);
  return ((await cpuOf(server)) - before) / result.requests.total;
}

async function answerOf({ port }: Server, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await fetch(`http://127.0.0.1:${port}/graphql`, sent)).text();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** A median, and that of its ratios to another one round by round. */
function line(name: string, times: readonly number[], to?: readonly number[]): string {
  const shown = `  ${name.padEnd(32)}${median(times).toFixed(0).padStart(6)} µs`;
  if (!to) return shown;
  return `${shown}  ${median(times.map((time, round) => time / to[round]!)).toFixed(3)} ×`;
}

installHive();
// What is measured has a core of its own; client and backend share the other one.
pin(process, '1');
const backend = await start('backend');
const port = String(backend.port);
const servers = {
  handler: await start('handler', port),
  byHand: await start('nested', port),
  graphql: await start('graphql', port),
  hive: await start('hive', port),
};
const { handler, byHand, graphql, hive } = servers;
for (const [query, first, ...others] of [
  [ONE, handler, graphql, hive],
  [NESTED, byHand, graphql, hive],
] as const) {
  const expected = await answerOf(first, query);
  for (const other of others) if ((await answerOf(other, query)) !== expected) throw new Error('the answers differ');
}
const runs = [
  { name: 'handler', server: handler, query: ONE, amount: AMOUNT },
  { name: 'graphql', server: graphql, query: ONE, amount: AMOUNT },
  { name: 'hive', server: hive, query: ONE, amount: AMOUNT },
  { name: 'nestedHandler', server: byHand, query: NESTED, amount: AMOUNT / 10 },
  { name: 'nestedGraphql', server: graphql, query: NESTED, amount: AMOUNT / 10 },
  { name: 'nestedHive', server: hive, query: NESTED, amount: AMOUNT / 10 },
] as const;
const times = Object.fromEntries(runs.map(({ name }) => [name, []])) as unknown as Record<
  (typeof runs)[number]['name'],
  number[]
>;
// The first round warms up.
for (let round = 0; round <= ROUNDS; round++) {
  for (const { name, server, query, amount } of runs) {
    const time = await measure(server, query, amount);
    if (round > 0) times[name].push(time);
  }
}
console.log(line('JSON handler, one call', times.handler));
console.log(`${line('GraphQL, the same call', times.graphql, times.handler)} of the handler (at most 1.5)`);
console.log(`${line('Hive gateway, the same call', times.hive, times.handler)} of the handler`);
console.log(`${line('JSON handler, 31 calls', times.nestedHandler)}  ten books with three parts each`);
console.log(`${line('GraphQL, the same calls', times.nestedGraphql, times.nestedHandler)} of the handler`);
console.log(`${line('Hive gateway, the same calls', times.nestedHive, times.nestedHandler)} of the handler`);
console.log(`${line('GraphQL to Hive gateway', times.nestedGraphql, times.nestedHive)} of Hive (at most 0.125)`);
for (const { child } of [...Object.values(servers), backend]) child.kill('SIGKILL');
