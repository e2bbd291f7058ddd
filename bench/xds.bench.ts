// One changed virtual service of 10,000, sent to many proxies: until all have acknowledged it, CPU time and memory of the control plane.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createControlPlane,
  createMetrics,
  memorySource,
  silentLoggers,
  type ControlPlaneState,
} from '@edge-gateway/core';
import { createDiscoveryServer } from '@edge-gateway/xds';
import { createStateEncoder, differenceOf, secretsOf, type ProxyState } from '@edge-gateway/xds/resources';
import { serviceFile, upstreamFile } from './resource-files.ts';

export const name = 'many proxies of one control plane';

const SERVICES = Number(process.env['SERVICES'] ?? 10_000);
const CHANGES = Number(process.env['CHANGES'] ?? 20);
const NODES = (process.env['NODES'] ?? '10,200,1000').split(',').map(Number);
const PER_PROCESS = 100;
const MIB = 1024 * 1024;

function print(what: string, value: number, unit: string, target?: number): void {
  const limit = target === undefined ? '' : ` (target: at most ${target})`;
  console.log(`  ${what.padEnd(52)} ${value.toFixed(1).padStart(8)} ${unit}${limit}`);
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;

const files = Object.fromEntries(Array.from({ length: SERVICES }, (_, i) => [`service-${i}`, serviceFile(i, 200)]));
const source = memorySource({ ...files, upstream: upstreamFile(1) });
const controlPlane = createControlPlane({ source, log: silentLoggers, certificateFiles: false });
let state: ControlPlaneState | undefined;
controlPlane.subscribe((next) => (state = next));
await controlPlane.start();

function current(): ProxyState {
  const snapshot = state!.snapshots.get('gateway-proxy')!;
  return { snapshot, unserved: [], secrets: secretsOf(snapshot, state!.resources, controlPlane.secrets) };
}

const encoder = createStateEncoder();
const began = performance.now();
const before = encoder.encode(current());
print(`${SERVICES} virtual services encoded for the first time`, performance.now() - began, 'ms');
let versions = 0;
/** Changes a virtual service to a new value each time. */
const change = (i: number): void => source.set(`service-${i}`, serviceFile(i, 201 + (versions++ % 300)));
change(7);
const again = performance.now();
const after = encoder.encode(current());
print('encoded after one change', performance.now() - again, 'ms');
const changed = [...after.types].flatMap(
  ([type, resources]) => differenceOf(before.types.get(type)!, resources).changed,
);
print('size of the change', changed.reduce((sum, { value }) => sum + value.length, 0) / 1024, 'KiB');

for (const nodes of NODES) {
  console.log(`  ${nodes} proxies`);
  const server = createDiscoveryServer({ log: silentLoggers, metrics: createMetrics() });
  const listening = await server.listen({ address: '127.0.0.1', port: 0 });
  server.update(new Map([['gateway-proxy', current()]]));
  globalThis.gc?.();
  const memory = process.memoryUsage();
  const started = performance.now();
  const cpuAtStart = process.cpuUsage();
  const children: ChildProcess[] = [];
  for (let first = 0; first < nodes; first += PER_PROCESS) {
    const count = Math.min(PER_PROCESS, nodes - first);
    const args = [String(listening.port), String(count), String(first)];
    children.push(fork(join(import.meta.dirname, 'xds-nodes.ts'), args, { execArgv: ['--conditions=source'] }));
  }
  await Promise.all(children.map((child) => once(child, 'message')));
  const isSettled = (): boolean => server.proxies().length === nodes && server.proxies().every((each) => each.current);
  while (!isSettled()) await wait(20);
  print('all have the whole state', performance.now() - started, 'ms');
  const { user, system } = process.cpuUsage(cpuAtStart);
  print('CPU time per proxy for that', (user + system) / 1000 / nodes, 'ms');
  globalThis.gc?.();
  const grown = process.memoryUsage();
  print(
    'memory per proxy (heap and buffers)',
    (grown.heapUsed + grown.external - memory.heapUsed - memory.external) / nodes / 1024,
    'KiB',
  );
  print('resident memory of the control plane', grown.rss / MIB, 'MiB');
  const times: number[] = [];
  const cpu: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    change(i);
    const at = Date.now();
    const usage = process.cpuUsage();
    server.update(new Map([['gateway-proxy', current()]]));
    while (!isSettled()) await wait(10);
    for (const { lastAck } of server.proxies()) times.push(Date.parse(lastAck!) - at);
    const used = process.cpuUsage(usage);
    cpu.push((used.user + used.system) / 1000);
  }
  print('a change acknowledged, median', percentile(times, 0.5), 'ms');
  print('a change acknowledged, 99th percentile', percentile(times, 0.99), 'ms', 2000);
  print('CPU time per change (with the look at the proxies)', percentile(cpu, 0.5), 'ms');
  for (const child of children) child.disconnect();
  await Promise.all(children.map((child) => once(child, 'exit')));
  listening.close();
}
await controlPlane.close();
