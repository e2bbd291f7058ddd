import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { staticUpstream } from '../parts/static-upstream.ts';
import { GatewayProcess, until } from '../../apps/gateway/test/gateway-process.ts';
import { proxiesOf, startControlPlane, startProxy } from '../../apps/gateway/test/planes/planes.ts';
import { get, portOf } from './plane-services.ts';
import { inspectMemory, INSPECTED, type UsedMemory } from './used-memory.ts';

const OBJECTS = 10_000;
const CHANGES_PER_SECOND = 100;
const SECONDS = Number(process.env['CHANGES_SECONDS'] ?? 20);
/** Of this many changes, one is waited for, and its time is measured. */
const MEASURED = 10;
/** More are not waited for at once: on a slow machine, their requests would delay each other. */
const MAX_MEASURED_AT_ONCE = 16;
const CHECKS_AT_ONCE = 4;
/** It is one second; on a machine that is ten times slower, this. */
const MAX_LAG_MS = 10_000;
const MIB = 1024 * 1024;
/** How often the memory that is in use is measured: each time stops the planes for some tenths of a second, or for seconds on a busy machine. */
const MEMORY_SAMPLES = Math.min(9, Math.max(3, Math.floor(SECONDS / 20)));
/** Objects that change for the first time in between the middles of the second and of the last third. */
const NEWLY_CHANGED =
  OBJECTS *
  ([1 / 2, 5 / 6] as const)
    .map((share) => Math.exp((-CHANGES_PER_SECOND * SECONDS * share) / OBJECTS))
    .reduce((before, after) => before - after);
/** How much the memory may grow in that time: an object that has changed takes a few KiB more than one of the start. */
const MAX_GROWTH_BYTES = 4 * MIB + NEWLY_CHANGED * 8 * 1024;

/** What is written for one object. */
interface Written {
  readonly version: number;
  readonly at: number;
  /** Which of the two upstreams it forwards to. */
  readonly upstream: 'a' | 'b';
}

const service = (i: number, { version, upstream: to }: Written): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: service-${i} }
spec:
  virtualHost:
    domains: ['host-${i}']
    routes:
      - matchers: [{ exact: /version }]
        directResponseAction: { status: 200, body: '${version}' }
      - matchers: [{ prefix: / }]
        routeAction: { single: { upstream: { name: ${to} } } }
        options: { headerManipulation: { requestHeadersToAdd: [{ header: { key: x-version, value: '${version}' } }] } }
`;
const fileOf = (i: number): string => `services/${i % 100}/${i}.yaml`;

/** Resident memory in bytes. */
function residentOf({ child }: GatewayProcess): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) * 1024;
}

async function startBackend(name: string): Promise<Server> {
  const server = createServer((req, res) => res.end(`${name} ${req.headers['x-version']}`)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

describe('many objects that change', function () {
  this.timeout(600_000 + SECONDS * 2000);
  const backends: Server[] = [];
  let controlPlane: GatewayProcess;
  let proxy: GatewayProcess;
  const stateDir = mkdtempSync(join(tmpdir(), 'gateway-state-'));
  /** All versions of each object, the newest last. */
  const oracle: Written[][] = [];
  before(async () => {
    backends.push(await startBackend('a'), await startBackend('b'));
    controlPlane = new GatewayProcess({ nodeFlags: INSPECTED });
    proxy = new GatewayProcess({ nodeFlags: INSPECTED });
    for (const [i, name] of ['a', 'b'].entries())
      controlPlane.write(`${name}.yaml`, staticUpstream(name, (backends[i]!.address() as AddressInfo).port));
    for (let i = 0; i < OBJECTS; i++) writeNext(i);
    // With the files that both write when they run as usual.
    await startControlPlane(controlPlane, '--state-dir', stateDir);
    await startProxy(proxy, [controlPlane.ready.xdsPort], '--snapshot-file', join(stateDir, 'proxy.snapshot'));
    // A busy machine takes its time for so many.
    while (proxy.ready.listeners.length === 0) await wait(100);
    while (!(await proxiesOf(controlPlane))[0]?.current) await wait(100);
  });
  after(async () => {
    await proxy?.close();
    await controlPlane?.close();
    for (const backend of backends) backend.close().closeAllConnections();
    rmSync(stateDir, { recursive: true, force: true });
  });

  function writeNext(i: number): Written {
    const versions = (oracle[i] ??= []);
    const version = versions.length;
    const written: Written = { version, at: performance.now(), upstream: (i + version) % 2 === 0 ? 'a' : 'b' };
    // Before the file: it may be served at once.
    versions.push(written);
    controlPlane.write(fileOf(i), service(i, written));
    return written;
  }

  it(`${OBJECTS} objects, ${CHANGES_PER_SECOND} changes a second for ${SECONDS} s: right routes, little lag, flat memory`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const port = portOf(proxy);
    const counts = { sent: 0, answered: 0, wrong: 0, lost: 0 };
    const wrong: string[] = [];
    const lags: number[] = [];
    /** When the planes were stopped to measure their memory: nothing could be applied. */
    const stops: { readonly from: number; readonly to: number }[] = [];
    const planes = { controlPlane, proxy } as const;
    const inspected = { controlPlane: await inspectMemory(controlPlane), proxy: await inspectMemory(proxy) };
    const memory: Record<keyof typeof planes, (UsedMemory & { readonly resident: number })[]> = {
      controlPlane: [],
      proxy: [],
    };
    const over = new AbortController();

    /** Returns how long the planes were stopped between two times. */
    function stoppedMs(from: number, to: number): number {
      return stops.reduce((sum, stop) => sum + Math.max(0, Math.min(to, stop.to) - Math.max(from, stop.from)), 0);
    }

    async function ask(i: number, path: string): Promise<string | undefined> {
      counts.sent++;
      try {
        return await get(port, `host-${i}`, path, agent);
      } catch {
        counts.lost++;
        return undefined;
      }
    }

    /** Compares one response with what was written: the version that was newest long before the request, or a later one. */
    async function check(i: number): Promise<void> {
      const since = performance.now();
      const isVersion = counts.sent % 2 === 0;
      const got = await ask(i, isVersion ? '/version' : '/forwarded');
      if (got === undefined) return;
      const versions = oracle[i]!;
      const found = versions.find(
        ({ version, upstream: to }) => got === (isVersion ? `200 ${version}` : `200 ${to} ${version}`),
      );
      const next = found && versions[found.version + 1];
      const isLate = next !== undefined && since - next.at - stoppedMs(next.at, since) > MAX_LAG_MS;
      if (found && !isLate) counts.answered++;
      else {
        counts.wrong++;
        wrong.push(`host-${i}: ${got}, newest is ${JSON.stringify(versions.at(-1))}`);
      }
    }

    async function checkAll(): Promise<void> {
      while (!over.signal.aborted) {
        await check(Math.floor(Math.random() * OBJECTS));
        await wait(20);
      }
    }

    async function measureLag(i: number, { version, at }: Written): Promise<void> {
      for (;;) {
        const got = await ask(i, '/version');
        if (got !== undefined) counts.answered++;
        // A later one contains it.
        if (got !== undefined && Number(got.slice('200 '.length)) >= version) break;
        await wait(5);
      }
      const now = performance.now();
      lags.push(now - at - stoppedMs(at, now));
    }

    async function measureMemory(): Promise<void> {
      for (const plane of ['controlPlane', 'proxy'] as const) {
        const resident = residentOf(planes[plane]);
        const from = performance.now();
        const stop = { from, to: Infinity };
        stops.push(stop);
        memory[plane].push({ ...(await inspected[plane].used()), resident });
        stop.to = performance.now();
      }
    }

    const checking = Array.from({ length: CHECKS_AT_ONCE }, checkAll);
    const measuring = new Set<Promise<void>>();
    const began = performance.now();
    let changes = 0;
    let sampling: Promise<void> = Promise.resolve();
    for (let samples = 0; performance.now() - began < SECONDS * 1000;) {
      const due = Math.floor(((performance.now() - began) / 1000) * CHANGES_PER_SECOND);
      for (; changes < due; changes++) {
        const i = Math.floor(Math.random() * OBJECTS);
        const written = writeNext(i);
        if (changes % MEASURED > 0 || measuring.size >= MAX_MEASURED_AT_ONCE) continue;
        const measured: Promise<void> = measureLag(i, written).finally(() => measuring.delete(measured));
        measuring.add(measured);
      }
      if ((performance.now() - began) / 1000 > ((samples + 1) * SECONDS) / (MEMORY_SAMPLES + 1)) {
        samples++;
        sampling = sampling.then(measureMemory);
      }
      await wait(10);
    }
    await sampling;
    for (const each of Object.values(inspected)) each.close();
    await Promise.all(measuring);
    over.abort();
    await Promise.all(checking);
    await until(async () => (await proxiesOf(controlPlane))[0]?.current, 'the last state');
    // In the end, all routes are those that were written last.
    for (let i = 0; i < OBJECTS; i++) {
      const { version, upstream: to } = oracle[i]!.at(-1)!;
      const got = await ask(i, '/forwarded');
      if (got === `200 ${to} ${version}`) counts.answered++;
      else if (got !== undefined) wrong.push(`host-${i}: ${got}, not ${to} ${version}`);
    }
    counts.wrong = wrong.length;
    agent.destroy();

    lags.sort((a, b) => a - b);
    const [median, p99, most] = [0.5, 0.99, 1].map((part) => Math.round(lags[Math.ceil(lags.length * part) - 1]!));
    const { sent, answered, lost } = counts;
    console.log(`      sent ${sent}, answered ${answered}, wrong ${counts.wrong}, lost ${lost}`);
    console.log(
      `        ${changes} changes; lag of ${lags.length}: median ${median} ms, p99 ${p99} ms, longest ${most} ms`,
    );
    for (const [plane, values] of Object.entries(memory)) {
      const shown = (of: (each: (typeof values)[number]) => number): string =>
        values.map((each) => (of(each) / MIB).toFixed(0)).join(' ');
      console.log(
        `        MiB of the ${plane}: heap ${shown(({ heap }) => heap)}; external ${shown(({ external }) => external)}; resident ${shown(({ resident }) => resident)}`,
      );
      // The first third warms up.
      const third = Math.floor(values.length / 3);
      const used = values.map(({ heap, external }) => heap + external);
      expect(mean(used.slice(2 * third)), plane).to.be.lessThan(mean(used.slice(third, 2 * third)) + MAX_GROWTH_BYTES);
    }
    expect(wrong.slice(0, 5)).to.deep.equal([]);
    expect(lost).to.equal(0);
    expect(most).to.be.lessThan(MAX_LAG_MS);
  });
});
