import { fork } from 'node:child_process';
import { once } from 'node:events';
import { answerOf, line, measure, start, told } from './graphql-load.ts';
import { installHive } from './hive-install.ts';
import { pin } from './measure.ts';

// CPU of a query over four GraphQL servers: our joined API beside Hive gateway with a supergraph, each over the same servers.
const ROUNDS = 5;
const AMOUNT = Number(process.env['AMOUNT'] ?? 5000) / 10;
const QUERY = {
  query:
    '{ books { title author pages year details { publisher language } reviews { reviewer text } ratings { reviewer stars } } }',
};
const FILE = 'federated-servers.ts';

installHive();
// What is measured has a core of its own; client and subgraphs share the other one.
pin(process, '1');
const child = fork(new URL(FILE, import.meta.url), ['subgraphs'], { execArgv: ['--conditions=source'] });
const [{ ports }] = (await once(child, 'message')) as [{ ports: readonly number[] }];
pin(child, '1');
const subgraphs = { child, port: ports[0]! };
const given = ports.map(String);
const byHand = await start(FILE, ['byHand', ...given], '0');
const stitched = await start(FILE, ['stitched', ...given], '0');
const hive = await start(FILE, ['hive', ...given], '0');
const servers = [byHand, stitched, hive];
const expected = await answerOf(byHand, QUERY);
for (const server of servers) {
  const before = await told(subgraphs, 'requests');
  if ((await answerOf(server, QUERY)) !== expected) throw new Error('the answers differ');
  const made = (await told(subgraphs, 'requests')) - before;
  if (made !== 4) throw new Error(`${made} requests to the subgraphs instead of four`);
}
const times: readonly number[][] = servers.map(() => []);
// The first round warms up.
for (let round = 0; round <= ROUNDS; round++) {
  for (const [index, server] of servers.entries()) {
    const time = await measure(server, QUERY, AMOUNT);
    if (round > 0) times[index]!.push(time);
  }
}
const [handler, ours, theirs] = times as [number[], number[], number[]];
console.log(`${line('JSON handler, 4 calls', handler)}  ten books with three parts each`);
console.log(`${line('joined API, 4 calls', ours, handler)} of the handler`);
console.log(`${line('Hive gateway, 4 calls', theirs, handler)} of the handler`);
console.log(`${line('joined API to Hive gateway', ours, theirs)} of Hive (at most 0.125)`);
for (const server of [...servers, subgraphs]) server.child.kill('SIGKILL');
