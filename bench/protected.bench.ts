import { fork, spawn, type ChildProcess } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { installedEnvoy } from '../test/parts/envoy.ts';
import { envoyConfig } from './envoy-config.ts';
import { cpuPerRequest, median, pin } from './measure.ts';

export const name = 'protected requests (JWT and RBAC): CPU time per request, relative to the same route unprotected';

const ROUNDS = 7;
const AMOUNT = 3000;
const CONNECTIONS = 16;
const directory = mkdtempSync(join(tmpdir(), 'protected-bench-'));
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keySet = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }] });

interface Proxy {
  readonly label: string;
  readonly child: ChildProcess;
  readonly pool: Pool;
}

let signed = 0;
function sign(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: 'https://issuer.test', email: 'admin@example.com', jti: String(signed++), exp: 4_000_000_000 };
  const input = `${part({ alg: 'RS256', kid: 'k' })}.${part(claims)}`;
  return `${input}.${createSign('sha256').update(input).sign(privateKey).toString('base64url')}`;
}

// Everything that is measured runs on the first core, what answers on the other.
const poolOf = (port: number) => new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });

async function startUpstream(): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(import.meta.dirname, 'forward-proxies.ts'), ['upstream'], {
    execArgv: ['--conditions=source'],
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  pin(child, '1');
  return { child, port };
}

async function startGateway(upstreamPort: number): Promise<Proxy> {
  const child = fork(join(import.meta.dirname, 'protected-gateway.ts'), [String(upstreamPort)], {
    execArgv: ['--conditions=source'],
  });
  child.send(keySet);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  pin(child, '0');
  return { label: 'gateway', child, pool: poolOf(port) };
}

async function startEnvoy(label: string, upstreamPort: number, cacheTokens: boolean): Promise<Proxy> {
  const port = await freePort();
  const file = join(directory, `${label.replaceAll(' ', '-')}.json`);
  writeFileSync(file, JSON.stringify(envoyConfig({ port, upstreamPort, keySet, cacheTokens })));
  const flags = ['--concurrency', '1', '--use-dynamic-base-id', '--disable-hot-restart', '--log-level', 'error'];
  const args = ['--cpu-list', '0', await installedEnvoy(), '-c', file, ...flags];
  const child = spawn('taskset', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const pool = poolOf(port);
  for (let tries = 0; tries < 200; tries++) {
    const answer = await pool.request({ method: 'GET', path: '/open' }).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return { label, child, pool };
    await wait(50);
  }
  throw new Error('Envoy does not answer');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function measure({ child, pool }: Proxy, path: string, tokenOf: (i: number) => string): Promise<number> {
  const headersOf = (i: number) => ({ authorization: `Bearer ${tokenOf(i)}` });
  return cpuPerRequest(child, pool, { path, headersOf, amount: AMOUNT, connections: CONNECTIONS });
}

interface Figures {
  readonly open: number[];
  readonly repeated: number[];
  readonly firstSeen: number[];
}

async function round(proxies: readonly Proxy[], figures: Map<Proxy, Figures>): Promise<void> {
  const repeated = sign();
  const fresh = Array.from({ length: AMOUNT }, sign);
  for (const proxy of proxies) {
    const times = figures.get(proxy)!;
    times.open.push(await measure(proxy, '/open', () => repeated));
    times.repeated.push(await measure(proxy, '/safe', () => repeated));
    times.firstSeen.push(await measure(proxy, '/safe', (i) => fresh[i]!));
  }
}

/** The proxies take turns in every round, so that what else the machine does falls on all alike. */
export async function run(): Promise<void> {
  const upstream = await startUpstream();
  const proxies = [
    await startGateway(upstream.port),
    await startEnvoy('Envoy', upstream.port, false),
    await startEnvoy('Envoy with its token cache', upstream.port, true),
  ];
  const empty = (): Figures => ({ open: [], repeated: [], firstSeen: [] });
  const warm = new Map(proxies.map((proxy) => [proxy, empty()]));
  await round(proxies, warm);
  const figures = new Map(proxies.map((proxy) => [proxy, empty()]));
  for (let i = 0; i < ROUNDS; i++) await round(proxies, figures);
  for (const [{ label }, { open, repeated, firstSeen }] of figures) {
    const ratio = (times: readonly number[]) => median(times.map((time, i) => time / open[i]!)).toFixed(2);
    const microseconds = (times: readonly number[]) => `${median(times).toFixed(0)} µs`;
    console.log(
      `  ${label.padEnd(28)} unprotected ${microseconds(open)}, ` +
        `repeated token ${microseconds(repeated)} (${ratio(repeated)} ×), ` +
        `first-seen RS256 token ${microseconds(firstSeen)} (${ratio(firstSeen)} ×)`,
    );
  }
  for (const { pool } of proxies) await pool.destroy();
  for (const { child } of [...proxies, upstream]) child.kill();
  rmSync(directory, { recursive: true });
}

if (process.argv[1] === import.meta.filename) {
  console.log(name);
  await run();
}
