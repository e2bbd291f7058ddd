import { answerOf, line, measure, start as startFile, type Server } from './graphql-load.ts';
import { installHive } from './hive-install.ts';
import { pin } from './measure.ts';

// CPU of a GraphQL query in relation to a hand-written JSON handler that makes the same backend call.
const ROUNDS = 5;
const AMOUNT = Number(process.env['AMOUNT'] ?? 5000);
const ONE = { query: 'query ($id: ID!) { book(id: $id) { title author pages year } }', variables: { id: '3' } };
const NESTED = {
  query:
    '{ books { title author pages year details { publisher language } reviews { reviewer text } ratings { reviewer stars } } }',
};

function start(...args: string[]): Promise<Server> {
  return startFile('graphql-servers.ts', args, args[0] === 'backend' ? '1' : '0');
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
