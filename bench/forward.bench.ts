// CPU time per request of the gateway and of other proxies doing the same work, in turns: `npm run bench -- forward --peers envoy,nginx`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLoad, KEY_SET } from './forward-load.ts';
import {
  isInstalled,
  createSetup,
  PEERS,
  startPeer,
  startUpstream,
  type Peer,
  type PeerName,
} from './forward-peers.ts';
import { ROWS, type Row } from './forward-rows.ts';
import { cpuOf, median } from './measure.ts';

export const name = 'forwarding: CPU time per request';

const { values: flags } = parseArgs({
  options: {
    peers: { type: 'string', default: PEERS.slice(4).join() },
    rows: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const ROUNDS = Number(flags.rounds);
const SECONDS = Number(flags.seconds);
/** Warm-up: number of requests for just-in-time compilers, and the maximum time for it. */
const WARM_UP_REQUESTS = 30_000;
const WARM_UP_MS = 12_000;
const COMPILED: ReadonlySet<PeerName> = new Set(['envoy', 'nginx']);

const WITHOUT_HTTP2: ReadonlySet<PeerName> = new Set(['node-tls', 'node-https']);

/** The figures of one peer for one row, by round. */
interface Figures {
  /** CPU microseconds per request. */
  readonly times: number[];
  readonly p99: number[];
}

type Load = ReturnType<typeof createLoad>;

/** Measures a round and returns the number of requests: 0 if the peer does not do this work. */
async function measure(load: Load, row: Row, { name: peer, child, ports }: Peer, figures: Figures): Promise<number> {
  const port = ports[row.port];
  if (port === undefined || row.peers?.includes(peer) === false) return 0;
  if (row.tool === 'h2load' && WITHOUT_HTTP2.has(peer)) return 0;
  // Those with one port forward everything as it is.
  if (Object.keys(ports).length === 1 && (row.path.split('/').length > 2 || row.host || row.status)) return 0;
  const before = cpuOf(child);
  const { requests, p99 } = await load.send(row, port);
  if (requests === 0) return 0;
  figures.times.push((cpuOf(child) - before) / requests);
  if (p99 !== undefined) figures.p99.push(p99);
  return requests;
}

async function warmUp(load: Load, row: Row, peer: Peer): Promise<void> {
  const until = performance.now() + (COMPILED.has(peer.name) ? 0 : WARM_UP_MS);
  let sent = 0;
  do {
    load.prepare(row);
    const requests = await measure(load, row, peer, { times: [], p99: [] });
    if (requests === 0) return;
    sent += requests;
  } while (sent < WARM_UP_REQUESTS && performance.now() < until);
}

const ratio = (times: readonly number[], others: readonly number[]): number =>
  median(times.map((time, i) => time / others[i]!));

function cell({ times, p99 }: Figures, envoy: Figures | undefined, row: Row): string {
  if (times.length === 0) return '–';
  const latency = row.path.endsWith('1m') && p99.length > 0 ? `, p99 ${median(p99).toFixed(0)} ms` : '';
  const own = `${median(times).toFixed(0)} µs`;
  const isCompared = envoy && envoy.times !== times && envoy.times.length === times.length;
  return own + (isCompared ? ` (${ratio(times, envoy.times).toFixed(2)})` : '') + latency;
}

/** The figures of another row, measured in the same rounds. */
interface Compared {
  readonly own: Figures;
  readonly other: Figures;
}

function targetOf({ target, against }: Row, compared: Compared | undefined): string {
  if (target !== undefined) return `≤ ${target}`;
  if (!against) return '';
  const limit = `≤ ${against.target} of ${against.row}${against.peer ? ` of ${against.peer}` : ''}`;
  const isComplete = compared && compared.own.times.length === compared.other.times.length;
  return isComplete ? `${limit}: ${ratio(compared.own.times, compared.other.times).toFixed(2)}` : limit;
}

/** Prints what the default access log adds to a request, from rounds that alternate. */
async function printLogCost(load: Load, gateway: Peer): Promise<void> {
  const [plain, logged] = ['GET 1 KB', 'GET 1 KB, access log'].map((label) => ROWS.find((row) => row.label === label)!);
  const costs: number[] = [];
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const without: Figures = { times: [], p99: [] };
    const withLog: Figures = { times: [], p99: [] };
    await measure(load, plain!, gateway, without);
    await measure(load, logged!, gateway, withLog);
    costs.push(withLog.times[0]! - without.times[0]!);
  }
  console.log(`\ndefault access log: ${median(costs).toFixed(1)} µs per request (target: 3)`);
}

export async function main(): Promise<void> {
  const wanted = ['gateway', ...flags.peers.split(',')].filter((peer) => peer !== '');
  const unknown = wanted.find((peer) => !PEERS.includes(peer as PeerName));
  if (unknown !== undefined) throw new Error(`unknown peer ${unknown}: must be one of ${PEERS.join(', ')}`);
  for (const program of ['wrk', 'nginx', 'openssl', 'h2load']) {
    if (!isInstalled(program)) throw new Error(`${program} is not installed`);
  }
  const directory = mkdtempSync(join(tmpdir(), 'bench-forward-'));
  const upstream = await startUpstream(directory);
  const peers: Peer[] = [];
  try {
    const setup = createSetup(directory, upstream, KEY_SET);
    for (const peer of wanted) peers.push(await startPeer(peer as PeerName, setup));
    const load = createLoad(directory, SECONDS);
    const parts = flags.rows.split(',');
    const rows = ROWS.filter(({ label }) => parts.some((part) => label.includes(part)));
    console.log(`| work | ${wanted.join(' | ')} | target |\n| --- |${wanted.map(() => ' --- |').join('')} --- |`);
    for (const row of rows) {
      const figures = new Map<PeerName, Figures>(peers.map((peer) => [peer.name, { times: [], p99: [] }]));
      for (const peer of peers) await warmUp(load, row, peer);
      const { against } = row;
      const otherRow = against && ROWS.find(({ label }) => label === against.row);
      const otherPeer = peers.find((peer) => peer.name === (against?.peer ?? 'gateway'));
      const other: Figures = { times: [], p99: [] };
      for (let round = 0; round < ROUNDS; round++) {
        load.prepare(row);
        for (const peer of peers) await measure(load, row, peer, figures.get(peer.name)!);
        if (otherRow && otherPeer) await measure(load, otherRow, otherPeer, other);
      }
      const cells = peers.map((peer) => cell(figures.get(peer.name)!, figures.get('envoy'), row));
      const compared = otherRow && { own: figures.get('gateway')!, other };
      console.log(`| ${row.label} | ${cells.join(' | ')} | ${targetOf(row, compared)} |`);
    }
    if (flags.rows === '' || parts.includes('log')) await printLogCost(load, peers[0]!);
  } finally {
    for (const { child } of [...peers, upstream]) child.kill();
    rmSync(directory, { recursive: true });
  }
}

console.log(name);
await main();
