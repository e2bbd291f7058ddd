import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { buildSchema, parse, type DocumentNode } from 'graphql';
import { compileQuery } from 'graphql-jit';
import { DEFAULT_LIMITS } from '../packages/graphql/src/document/limits.ts';
import { createEngine } from '../packages/graphql/src/execute/engine.ts';
import { CASES, type CaseName } from './engine-cases.ts';
import { start } from './graphql-load.ts';
import { median, pin } from './measure.ts';

// CPU of the execution of an operation: our plans, graphql-jit, and GraphQL.js with the document parsed and validated before.
const FILE = 'engine-runner.ts';
const ROUNDS = 5;
/** Part of the operations of each measurement, for a quick look. */
const SHARE = Number(process.env['SHARE'] ?? 1);

interface Measured {
  readonly microseconds: number;
  readonly result: string;
}

async function ask(child: ChildProcess, name: CaseName, amount: number): Promise<Measured> {
  const answer = once(child, 'message');
  child.send({ name, amount: Math.ceil(amount * SHARE) });
  return ((await answer) as [Measured])[0];
}

async function startEngine(name: string, port: number): Promise<ChildProcess> {
  const child = fork(new URL(FILE, import.meta.url), [name, String(port)], { execArgv: ['--conditions=source'] });
  await once(child, 'message');
  pin(child, '0');
  return child;
}

// What is measured has a core of its own; the service shares the other one with this process.
pin(process, '1');
const service = await start(FILE, ['service'], '1');
const engines = {
  own: await startEngine('own', service.port),
  jit: await startEngine('jit', service.port),
  js: await startEngine('js', service.port),
};
const cell = (text: string): string => text.padStart(18);
console.log(`${''.padEnd(36)}${cell('own plans')}${cell('graphql-jit')}${cell('GraphQL.js')}`);
for (const [name, { title, fields, amount }] of Object.entries(CASES) as [CaseName, (typeof CASES)[CaseName]][]) {
  const times = { own: [] as number[], jit: [] as number[], js: [] as number[] };
  const results = new Set<string>();
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [engine, child] of Object.entries(engines) as [keyof typeof engines, ChildProcess][]) {
      const { microseconds, result } = await ask(child, name, amount);
      results.add(JSON.stringify((JSON.parse(result) as { data: unknown }).data).replaceAll(/"a\d+":/g, '"a":'));
      if (round > 0) times[engine].push(microseconds);
    }
  }
  if (results.size !== 1) throw new Error(`${name}: the results differ: ${[...results].join('\n').slice(0, 2000)}`);
  const shown = (engine: keyof typeof engines): string => {
    const ratio = median(times[engine].map((time, round) => time / times.own[round]!));
    return cell(`${median(times[engine]).toFixed(1)} µs ${ratio.toFixed(2)} ×`);
  };
  console.log(`${`${title} (${fields})`.padEnd(36)}${shown('own')}${shown('jit')}${shown('js')}`);
}
for (const child of [...Object.values(engines), service.child]) child.kill('SIGKILL');

/** An interface within itself: each type of it may stand at each level. */
const KINDS = Array.from({ length: 12 }, (_, i) => `T${i}`);
const schema = buildSchema(`
  interface Node { id: ID next: Node }
  ${KINDS.map((kind) => `type ${kind} implements Node { id: ID next: Node }`).join('\n')}
  type Query { node: Node }
`);
const value = { __typename: 'T3', id: '1', next: { __typename: 'T7', id: '2', next: null } };
const context = {
  schema,
  limits: DEFAULT_LIMITS,
  maxDepth: 0,
  values: 'json',
  resolverOf: () => undefined,
} as const;

function inMilliseconds(work: () => void): string {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return `${((user + system) / 1000).toFixed(1)} ms`;
}

function planned(document: DocumentNode): void {
  const operation = { document, definition: document.definitions[0], text: '', name: undefined } as never;
  const options = { rootValue: { node: value }, context: {}, signal: new AbortController().signal, requestId: '' };
  void createEngine(context).execute({ operation, variables: {} }, options);
}

console.log('\nfirst execution of an interface with 12 types within itself');
for (const levels of [1, 2, 3, 4]) {
  const document = parse(`{ node ${'{ id next '.repeat(levels)}{ id }${' }'.repeat(levels)} }`);
  const own = inMilliseconds(() => planned(document));
  console.log(
    `  ${levels} levels: own plans ${own}, graphql-jit ${inMilliseconds(() => void compileQuery(schema, document))}`,
  );
}
