// One changed file of 10,000: how long until it is served, its CPU time, the longest turn of the event loop, and the latency of traffic.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { median } from './measure.ts';
import { serviceFile, upstreamFile } from './resource-files.ts';
import { report, startGateway } from './started-gateway.ts';

export const name = 'one changed virtual service among many';

const SERVICES = Number(process.env['SERVICES'] ?? 10_000);
const CHANGES = Number(process.env['CHANGES'] ?? 20);
const RATE = Number(process.env['RATE'] ?? 3000);
const SECONDS = Number(process.env['SECONDS'] ?? 10);

function print(what: string, value: number, unit: string, target?: number): void {
  const limit = target === undefined ? '' : ` (target: at most ${target})`;
  console.log(`  ${what.padEnd(52)} ${value.toFixed(1).padStart(8)} ${unit}${limit}`);
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;

const directory = mkdtempSync(join(tmpdir(), 'bench-change-'));
const upstream = createServer((_req, res) => res.end('x'.repeat(1024)));
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));

const pathOf = (i: number): string => join(directory, `service-${i}.yaml`);

/** Replaces a file at once, as tools that deploy do. */
function change(i: number, status: number): void {
  const temporary = join(directory, '.next.yaml');
  writeFileSync(temporary, serviceFile(i, status));
  renameSync(temporary, pathOf(i));
}

/** Latencies in milliseconds of requests at a fixed rate, whether or not earlier ones have ended. */
async function traffic(pool: Pool, seconds: number): Promise<number[]> {
  const latencies: number[] = [];
  const sent: Promise<void>[] = [];
  const began = performance.now();
  const send = async (i: number): Promise<void> => {
    const due = began + (i / RATE) * 1000;
    const headers = { host: `host-${(i * 7919) % SERVICES}.example.com` };
    const { body } = await pool.request({ method: 'GET', path: '/api/orders', headers });
    await body.dump();
    latencies.push(performance.now() - due);
  };
  while (sent.length < RATE * seconds) {
    const due = Math.min(RATE * seconds, ((performance.now() - began) / 1000) * RATE);
    while (sent.length < due) sent.push(send(sent.length));
    await wait(1);
  }
  await Promise.all(sent);
  return latencies;
}

async function statusOf(pool: Pool, i: number): Promise<number> {
  const headers = { host: `host-${i}.example.com` };
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/health', headers });
  await body.dump();
  return statusCode;
}

let next = 0;
/** Changes one file and waits until it is served; the milliseconds of that. */
async function changeOne(pool: Pool): Promise<number> {
  const i = Math.floor((SERVICES / 97) * (next % 97));
  const status = 201 + (next++ % 90);
  const began = performance.now();
  change(i, status);
  while ((await statusOf(pool, i)) !== status) await wait(1);
  return performance.now() - began;
}

let gateway: ChildProcess | undefined;
try {
  writeFileSync(join(directory, 'upstream.yaml'), upstreamFile((upstream.address() as AddressInfo).port));
  for (let i = 0; i < SERVICES; i++) writeFileSync(pathOf(i), serviceFile(i, 200));
  const started = await startGateway(directory);
  gateway = started.gateway;
  const pool = new Pool(`http://127.0.0.1:${started.port}`, { connections: 32 });
  print(`${SERVICES} virtual services: ready`, started.readyMs / 1000, 's', 1.5);
  for (let i = 0; i < 10; i++) await changeOne(pool);

  const served: number[] = [];
  const longest: number[] = [];
  const longestCpu: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    await wait(200);
    gateway.send('busy');
    served.push(await changeOne(pool));
    const { longestTurnMs, longestTurnCpuMs } = await report(gateway);
    longest.push(longestTurnMs);
    longestCpu.push(longestTurnCpuMs);
  }
  print('file to served, median', median(served), 'ms', 50);
  print('file to served, longest', Math.max(...served), 'ms');
  print('longest turn of the event loop, median of changes', median(longest), 'ms', 5);
  print('longest turn of the event loop, longest', Math.max(...longest), 'ms', 5);

  print('CPU time of that turn, median of changes', median(longestCpu), 'ms');
  print('CPU time of that turn, longest', Math.max(...longestCpu), 'ms');

  gateway.send('reset');
  for (let i = 0; i < CHANGES; i++) {
    change(i, 201 + (next++ % 90));
    await wait(250);
  }
  const { cpuMs, rssMb } = await report(gateway);
  print('CPU time per change, idle gateway', cpuMs / CHANGES, 'ms');
  print('resident memory', rssMb, 'MB', 250);

  await traffic(pool, 3);
  for (let round = 0; round < 2; round++) {
    const quiet = await traffic(pool, SECONDS);
    const changing = traffic(pool, SECONDS);
    for (let i = 0; i < SECONDS * 2; i++) {
      change(i * 11, 201 + (next++ % 90));
      await wait(450);
    }
    const busy = await changing;
    print(`p99 at ${RATE} requests per second, no changes`, percentile(quiet, 0.99), 'ms');
    print('p99 with two changes per second', percentile(busy, 0.99), 'ms', percentile(quiet, 0.99) + 5);
    print('p99.9 no changes', percentile(quiet, 0.999), 'ms');
    print('p99.9 with two changes per second', percentile(busy, 0.999), 'ms');
  }
  await pool.destroy();
} finally {
  gateway?.kill();
  upstream.close();
  upstream.closeAllConnections();
  rmSync(directory, { recursive: true });
}
