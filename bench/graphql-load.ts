import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { median, pin } from './measure.ts';

const CONNECTIONS = 32;
const HEADERS = { 'content-type': 'application/json' };

/** A server of a GraphQL benchmark in a process of its own. */
export interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

const autocannon = createRequire(import.meta.url)('autocannon') as (options: object) => Promise<{
  readonly non2xx: number;
  readonly errors: number;
  readonly requests: { readonly total: number };
}>;

/** Starts a file of this folder as a server, on one core. */
export async function start(file: string, args: readonly string[], core: string): Promise<Server> {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: ['--conditions=source'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  pin(child, core);
  return { child, port };
}

/** What a server tells of itself when it is asked by name. */
export async function told({ child }: Server, name: string): Promise<number> {
  const answer = once(child, 'message');
  child.send(name);
  return ((await answer)[0] as Readonly<Record<string, number>>)[name]!;
}

/** CPU microseconds of the server per request. */
export async function measure(server: Server, body: object, amount: number): Promise<number> {
  const before = await told(server, 'cpuMicroseconds');
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}/graphql`,
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(body),
    amount,
    connections: CONNECTIONS,
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} errors`);
  return ((await told(server, 'cpuMicroseconds')) - before) / result.requests.total;
}

export async function answerOf({ port }: Server, body: object): Promise<string> {
  const sent = { method: 'POST', headers: HEADERS, body: JSON.stringify(body) };
  return (await fetch(`http://127.0.0.1:${port}/graphql`, sent)).text();
}

/** A median, and that of its ratios to another one round by round. */
export function line(name: string, times: readonly number[], to?: readonly number[]): string {
  const shown = `  ${name.padEnd(32)}${median(times).toFixed(0).padStart(6)} µs`;
  if (!to) return shown;
  return `${shown}  ${median(times.map((time, round) => time / to[round]!)).toFixed(3)} ×`;
}
