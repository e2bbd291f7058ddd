import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

export const name = 'forwarding: CPU time per request';

const PROXIES = ['gateway', 'bare', 'express'] as const;
type Proxy = (typeof PROXIES)[number];

const LABELS: Readonly<Record<Proxy, string>> = {
  gateway: 'node:http + forward',
  bare: 'node:http + undici stream',
  express: 'express + http-proxy-middleware',
};
const ROUNDS = 5;
const CONNECTIONS = 32;
const WORKLOADS = [
  { label: 'GET 1 KB', path: '/1k', method: 'GET', amount: 1000 },
  { label: 'POST 1 KB', path: '/1k', method: 'POST', amount: 1000 },
  { label: 'GET 1 MB', path: '/1m', method: 'GET', amount: 80 },
] as const;
type Workload = (typeof WORKLOADS)[number];

interface Server {
  readonly process: ChildProcess;
  readonly port: number;
}

const autocannon = createRequire(import.meta.url)('autocannon') as (options: object) => Promise<{
  readonly non2xx: number;
  readonly errors: number;
  readonly requests: { readonly total: number };
}>;

async function start(...args: string[]): Promise<Server> {
  const child = fork(new URL('forward-proxies.ts', import.meta.url), args, { execArgv: ['--conditions=source'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { process: child, port };
}

async function cpuOf({ process: child }: Server): Promise<number> {
  const answer = once(child, 'message');
  child.send('cpu');
  return ((await answer)[0] as { cpuMicroseconds: number }).cpuMicroseconds;
}

/** CPU microseconds of the proxy per request. */
async function measure(server: Server, { path, method, amount }: Workload): Promise<number> {
  const body = method === 'POST' ? 'p'.repeat(1024) : undefined;
  const before = await cpuOf(server);
  const url = `http://127.0.0.1:${server.port}${path}`;
  const result = await autocannon({ url, method, body, amount, connections: CONNECTIONS });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} wrong answers, ${result.errors} errors`);
  return ((await cpuOf(server)) - before) / result.requests.total;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** Rounds are interleaved, so that what else the machine does falls on all alike; printed are medians over the rounds. */
export async function run(): Promise<void> {
  const upstream = await start('upstream');
  const servers = new Map<Proxy, Server>();
  for (const proxy of PROXIES) servers.set(proxy, await start(proxy, String(upstream.port)));
  for (const server of servers.values()) for (const workload of WORKLOADS) await measure(server, workload);
  for (const workload of WORKLOADS) {
    const times: Record<Proxy, number[]> = { gateway: [], bare: [], express: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const proxy of PROXIES) times[proxy].push(await measure(servers.get(proxy)!, workload));
    }
    console.log(workload.label);
    for (const proxy of PROXIES) {
      const ratio = median(times[proxy].map((time, round) => time / times.express[round]!));
      const microseconds = median(times[proxy]).toFixed(0).padStart(6);
      console.log(`  ${LABELS[proxy].padEnd(32)} ${microseconds} µs  ${ratio.toFixed(2)} × express`);
    }
  }
  for (const { process: child } of [...servers.values(), upstream]) child.kill();
}

if (process.argv[1] === import.meta.filename) {
  console.log(name);
  await run();
}
