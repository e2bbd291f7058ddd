// The longest turn of the event loop, in which all requests wait, while many resources change at once or one of them is large.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { serviceFile, upstreamFile } from './resource-files.ts';
import { report, startGateway } from './started-gateway.ts';

export const name = 'longest turn while resources change';

const SERVICES = Number(process.env['SERVICES'] ?? 10_000);
const AT_ONCE = SERVICES / 10;
const SCALAR_BYTES = 5 * 1024 * 1024;

const root = mkdtempSync(join(tmpdir(), 'bench-turns-'));
const config = join(root, 'config');
let folders = 0;

/** Writes files beside the directory, and moves all of them into it at once. */
function replace(folder: string, files: Readonly<Record<string, string>>): void {
  const next = join(root, `next-${folders++}`);
  mkdirSync(next);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(next, file), text);
  const target = join(config, folder);
  renameSync(target, join(root, `old-${folders}`));
  renameSync(next, target);
}

const services = (from: number, count: number, status: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`service-${from + i}.yaml`, serviceFile(from + i, status)]),
  );

for (const folder of ['', 'many', 'some', 'one', 'large']) mkdirSync(join(config, folder));
writeFileSync(join(config, 'upstream.yaml'), upstreamFile(9));
writeFileSync(join(config, 'first.yaml'), serviceFile(-1, 200));
const { gateway, port } = await startGateway(config);
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 4 });

async function statusOf(i: number): Promise<number> {
  const headers = { host: `host-${i}.example.com` };
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/health', headers });
  await body.dump();
  return statusCode;
}

/** Changes files while requests arrive, and prints the longest turn until a service responds with a status. */
async function measure(what: string, change: () => void, [i, status]: readonly [number, number]): Promise<void> {
  await wait(1000);
  gateway.send('busy');
  await statusOf(-1);
  change();
  const began = performance.now();
  let longest = 0;
  for (;;) {
    const sent = performance.now();
    const served = await statusOf(i);
    longest = Math.max(longest, performance.now() - sent);
    if (served === status) break;
    await wait(2);
  }
  const seconds = (performance.now() - began) / 1000;
  await wait(500);
  const { longestTurnMs, longestTurnCpuMs } = await report(gateway);
  const figures = [
    `turn ${longestTurnMs.toFixed(0)} ms`,
    `CPU ${longestTurnCpuMs.toFixed(0)} ms`,
    `request ${longest.toFixed(0)} ms`,
    `served after ${seconds.toFixed(1)} s`,
  ];
  console.log(`  ${what.padEnd(36)} ${figures.map((each) => each.padStart(16)).join('')}`);
}

try {
  const others = SERVICES - AT_ONCE - 1;
  await measure(`${others} new files`, () => replace('many', services(0, others, 200)), [others - 1, 200]);
  await measure(`${AT_ONCE} new files`, () => replace('some', services(others, AT_ONCE, 200)), [others, 200]);
  await measure(`${AT_ONCE} changed files`, () => replace('some', services(others, AT_ONCE, 201)), [others, 201]);
  await measure('one new file', () => replace('one', services(SERVICES - 1, 1, 200)), [SERVICES - 1, 200]);
  await measure('one changed file', () => replace('one', services(SERVICES - 1, 1, 202)), [SERVICES - 1, 202]);
  const body = 'x'.repeat(SCALAR_BYTES);
  const large = serviceFile(SERVICES, 200).replace('body: ok', `body: ${body}`);
  await measure(
    'a scalar of 5 MB',
    () => replace('large', { 'large.yaml': large, ...services(SERVICES + 1, 1, 200) }),
    [SERVICES + 1, 200],
  );
  await measure(`${others} removed files`, () => replace('many', {}), [0, 404]);
} finally {
  await pool.destroy();
  gateway.kill();
  rmSync(root, { recursive: true });
}
