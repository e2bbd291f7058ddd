// 10,000 virtual services with two routes each, one file each: time to the first answer, one change, memory.
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createControlPlane, directorySource } from '@edge-gateway/core';
import { createRouter } from '@edge-gateway/routing';
import { serviceFile, upstreamFile } from './resource-files.ts';

const SERVICES = Number(process.env['SERVICES'] ?? 10_000);
const CHANGES = 15;

function print(what: string, value: number, unit: string, target: number): void {
  console.log(
    `  ${what.padEnd(44)} ${value.toFixed(value < 100 ? 1 : 0).padStart(8)} ${unit.padEnd(3)} (at most ${target})`,
  );
}

const router = createRouter({ fallthrough: 'notFound' });
const server = createServer((req, res) => router(req, res, () => res.destroy()));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

/** The status that `/health` of a service is answered with. */
async function ask(i: number): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const options = { port, host: '127.0.0.1', path: '/health', headers: { host: `host-${i}.example.com` } };
  const response = await new Promise<IncomingMessage>((resolve, reject) => get(options, resolve).on('error', reject));
  response.resume();
  return response.statusCode!;
}

const directory = mkdtempSync(join(tmpdir(), 'bench-load-'));
try {
  writeFileSync(join(directory, 'upstream.yaml'), upstreamFile(8080));
  for (let i = 0; i < SERVICES; i++) writeFileSync(join(directory, `service-${i}.yaml`), serviceFile(i, 200));

  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const controlPlane = createControlPlane({ source: directorySource(directory) });
  controlPlane.subscribe((state) => router.apply(state.snapshots.get('gateway-proxy')!));
  const began = performance.now();
  await controlPlane.start();
  const status = await ask(SERVICES - 1);
  const loaded = performance.now() - began;
  const { snapshots, issues } = controlPlane.state!;
  const { virtualHosts } = snapshots.get('gateway-proxy')!.listeners[0]!;
  if (status !== 200 || virtualHosts.length !== SERVICES || issues.length > 0)
    throw new Error('the directory was not taken in as a whole');
  print(`load ${SERVICES} virtual services to first answer`, loaded / 1000, 's', 6);

  const times: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    const i = Math.floor((SERVICES / CHANGES) * change);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const written = performance.now();
    writeFileSync(join(directory, `service-${i}.yaml`), serviceFile(i, 201 + change));
    while ((await ask(i)) !== 201 + change);
    times.push(performance.now() - written);
  }
  times.sort((a, b) => a - b);
  print('one changed file to served, median', times[times.length >> 1]!, 'ms', 100);
  print('one changed file to served, slowest', times.at(-1)!, 'ms', 100);

  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  print('heap in use', heap / 1e6, 'MB', 400);
  print('of which the configuration', (heap - before) / 1e6, 'MB', 400);
  await controlPlane.close();
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(directory, { recursive: true });
}
