import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

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
  return { child, port };
}

async function cpuOf({ child }: Server): Promise<number> {
  const answer = once(child, 'message');
  child.send('cpu');
  return ((await answer)[0] as { cpuMicroseconds: number }).cpuMicroseconds;
}

/** CPU microseconds of the server per request. */
async function measure(server: Server, body: object, amount = AMOUNT): Promise<number> {
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

const backend = await start('backend');
const handler = await start('handler', String(backend.port));
const byHand = await start('nested', String(backend.port));
const graphql = await start('graphql', String(backend.port));
if ((await answerOf(byHand, NESTED)) !== (await answerOf(graphql, NESTED))) throw new Error('the answers differ');
await measure(handler, ONE);
await measure(graphql, ONE);
const times = { handler: [] as number[], graphql: [] as number[], nested: [] as number[], byHand: [] as number[] };
for (let round = 0; round < ROUNDS; round++) {
  times.handler.push(await measure(handler, ONE));
  times.graphql.push(await measure(graphql, ONE));
  times.byHand.push(await measure(byHand, NESTED, AMOUNT / 10));
  times.nested.push(await measure(graphql, NESTED, AMOUNT / 10));
}
const nestedRatio = median(times.nested.map((time, round) => time / times.byHand[round]!));
const ratio = median(times.graphql.map((time, round) => time / times.handler[round]!));
console.log(`  JSON handler, one call          ${median(times.handler).toFixed(0).padStart(6)} µs`);
console.log(
  `  GraphQL, the same call          ${median(times.graphql).toFixed(0).padStart(6)} µs  ${ratio.toFixed(2)} × (at most 1.5)`,
);
console.log(
  `  JSON handler, 31 calls          ${median(times.byHand).toFixed(0).padStart(6)} µs  ten books with three parts each`,
);
console.log(
  `  GraphQL, the same calls         ${median(times.nested).toFixed(0).padStart(6)} µs  ${nestedRatio.toFixed(2)} ×`,
);
for (const { child } of [handler, byHand, graphql, backend]) child.kill();
