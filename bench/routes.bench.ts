// One virtual service with 100,000 routes: time until it is served, CPU time of that, and memory.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { upstreamFile, routesFile } from './resource-files.ts';
import { report, startGateway } from './started-gateway.ts';

export const name = 'many routes in one virtual service';

const ROUTES = Number(process.env['ROUTES'] ?? 100_000);

function print(what: string, value: number, unit: string, target?: number): void {
  const limit = target === undefined ? '' : ` (target: at most ${target})`;
  console.log(`  ${what.padEnd(52)} ${value.toFixed(1).padStart(8)} ${unit}${limit}`);
}

const directory = mkdtempSync(join(tmpdir(), 'bench-routes-'));
let gateway: ChildProcess | undefined;
try {
  writeFileSync(join(directory, 'upstream.yaml'), upstreamFile(8080));
  writeFileSync(join(directory, 'routes.yaml'), routesFile(ROUTES));
  const started = await startGateway(directory);
  gateway = started.gateway;
  print(`${ROUTES} routes: ready`, started.readyMs / 1000, 's', 4);
  const { cpuMs, rssMb } = await report(gateway);
  print('CPU time of the start', cpuMs / 1000, 's');
  print('resident memory', rssMb, 'MB', 500);
  const status = await fetch(`http://127.0.0.1:${started.port}/last`).then((response) => response.status);
  if (status !== 204) throw new Error(`the last route responded with ${status}`);
} finally {
  gateway?.kill();
  rmSync(directory, { recursive: true });
}
