// CPU time per request of one process and of `--workers 2`, all processes of a gateway together, in turns: `npm run bench -- workers`.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoad, KEY_SET } from './forward-load.ts';
import { createSetup, startGateway, startUpstream, type Peer } from './forward-peers.ts';
import { ROWS } from './forward-rows.ts';
import { cpuOf, median, pin } from './measure.ts';

export const name = 'workers: CPU time per request of two, to that of one process';

const ROUNDS = 9;
const SECONDS = 1;
const WARM_UPS = 12;
const LABELS = new Set(['GET 1 KB', 'GET 1 KB, access log', 'POST 1 KB', 'GET 1 MB', 'GET 1 KB, new connection each']);

/** The process and its workers. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').flatMap((child) => (child === '' ? [] : processesOf(Number(child))))];
}

const cpuOfAll = ({ child }: Peer): number => processesOf(child.pid!).reduce((sum, pid) => sum + cpuOf({ pid }), 0);

const directory = mkdtempSync(join(tmpdir(), 'bench-workers-'));
const upstream = await startUpstream(directory);
const gateways: Peer[] = [];
try {
  for (const workers of [1, 2]) {
    const own = join(directory, String(workers));
    mkdirSync(own);
    const gateway = await startGateway(createSetup(own, upstream, KEY_SET), ['--workers', String(workers)]);
    // All on one core: the second one is that of the client. What they would do on two cores at once costs the same.
    for (const pid of processesOf(gateway.child.pid!)) pin({ pid }, '0');
    gateways.push(gateway);
  }
  const load = createLoad(directory, SECONDS);
  console.log(name);
  for (const row of ROWS.filter(({ label }) => LABELS.has(label))) {
    const times: number[][] = gateways.map(() => []);
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      for (const [i, gateway] of gateways.entries()) {
        const before = cpuOfAll(gateway);
        const { requests } = await load.send(row, gateway.ports[row.port]!);
        if (round >= 0) times[i]!.push((cpuOfAll(gateway) - before) / requests);
      }
    }
    const [one, two] = times as [number[], number[]];
    const ratio = median(two.map((time, i) => time / one[i]!));
    const figures = `${median(one).toFixed(0)} µs, ${median(two).toFixed(0)} µs, ${ratio.toFixed(2)} ×`;
    console.log(`  ${row.label.padEnd(32)} ${figures}: ${(2 / ratio).toFixed(2)} of one process (at least 1.8)`);
  }
} finally {
  for (const { child } of [...gateways, upstream]) child.kill();
  rmSync(directory, { recursive: true });
}
