// CPU time per request of `--workers 2`, all processes together, and of two gateways with one process each, in turns: `npm run bench -- workers`.
// Both pairs share the first core, because client and upstream need the other one: so they lose the same to each other.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoad, KEY_SET } from './forward-load.ts';
import { createSetup, startGateway, startUpstream, type Peer } from './forward-peers.ts';
import { ROWS, type Row } from './forward-rows.ts';
import { cpuOf, median, pin } from './measure.ts';

export const name = 'workers: CPU time per request of two gateways with one process, and of one with two workers';

const ROUNDS = 5;
const SECONDS = 1;
const WARM_UPS = 6;
const LABELS = new Set(['GET 1 KB', 'GET 1 KB, access log', 'POST 1 KB', 'GET 1 MB']);

/** The process and its workers. */
function processesOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').flatMap((child) => (child === '' ? [] : processesOf(Number(child))))];
}

const cpuOfAll = ({ child }: Peer): number => processesOf(child.pid!).reduce((sum, pid) => sum + cpuOf({ pid }), 0);

const directory = mkdtempSync(join(tmpdir(), 'bench-workers-'));
const upstream = await startUpstream(directory);
const gateways: Peer[] = [];

/** Starts a gateway with all its processes on the first core. */
async function start(folder: string, workers: number): Promise<Peer> {
  const own = join(directory, folder);
  mkdirSync(own);
  const gateway = await startGateway(createSetup(own, upstream, KEY_SET), ['--workers', String(workers)]);
  gateways.push(gateway);
  for (const pid of processesOf(gateway.child.pid!)) pin({ pid }, '0');
  return gateway;
}

try {
  const alone = [await start('one', 1), await start('other', 1)];
  const together = [await start('together', 2)];
  const load = createLoad(directory, SECONDS);

  /** CPU microseconds per request of these gateways, which share the connections. */
  async function measure(row: Row, peers: readonly Peer[]): Promise<number> {
    const connections = (row.path.endsWith('1m') ? 8 : 32) / peers.length;
    const before = peers.map(cpuOfAll);
    const sent = await Promise.all(peers.map(({ ports }) => load.send({ ...row, connections }, ports[row.port]!)));
    const requests = sent.reduce((sum, each) => sum + each.requests, 0);
    return peers.reduce((sum, peer, i) => sum + cpuOfAll(peer) - before[i]!, 0) / requests;
  }

  console.log(name);
  for (const row of ROWS.filter(({ label }) => LABELS.has(label))) {
    const times: { readonly alone: number; readonly together: number }[] = [];
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      const each = { alone: await measure(row, alone), together: await measure(row, together) };
      if (round >= 0) times.push(each);
    }
    const ratio = median(times.map((each) => each.together / each.alone));
    const figures = [times.map((each) => each.alone), times.map((each) => each.together)].map(
      (all) => `${median(all).toFixed(0)} µs`,
    );
    const share = (2 / ratio).toFixed(2);
    console.log(
      `  ${row.label.padEnd(32)} ${figures.join(', ')}, ${ratio.toFixed(2)} ×: ${share} of one (at least 1.8)`,
    );
  }
} finally {
  for (const { child } of [...gateways, upstream]) child.kill();
  rmSync(directory, { recursive: true });
}
