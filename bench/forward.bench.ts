// CPU time per request of the gateway and of other proxies doing the same work, in turns: `npm run bench -- forward --peers envoy,nginx`.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import {
  isInstalled,
  createSetup,
  PEERS,
  startPeer,
  startUpstream,
  type Peer,
  type PeerName,
  type Port,
} from './forward-peers.ts';
import { ROUTES } from './forward-configs.ts';
import { cpuOf, median } from './measure.ts';

export const name = 'forwarding: CPU time per request';

const { values: flags } = parseArgs({
  options: {
    peers: { type: 'string', default: PEERS.slice(1).join() },
    rows: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
  allowPositionals: true,
});
const ROUNDS = Number(flags.rounds);
const SECONDS = Number(flags.seconds);
const CONNECTIONS = 32;

interface Row {
  readonly label: string;
  readonly port: Port;
  readonly path: string;
  /** Greatest ratio to Envoy that is wanted. */
  readonly target?: number;
  /** The greatest ratio to another row of the gateway. */
  readonly against?: { readonly row: string; readonly target: number };
  readonly host?: string;
  readonly method?: 'POST';
  /** Default 200. */
  readonly status?: number;
  /** Default `wrk`: requests on connections that are kept alive. */
  readonly tool?: 'wrk' | 'handshakes' | 'resumptions' | 'h2load';
}

const ROWS: readonly Row[] = [
  { label: 'GET 1 KB', port: 'plain', path: '/1k', target: 0.6 },
  { label: 'POST 1 KB', port: 'plain', path: '/1k', method: 'POST', target: 0.65 },
  { label: 'GET 1 MB', port: 'plain', path: '/1m', target: 1.1 },
  { label: 'GET 1 KB, access log', port: 'logged', path: '/1k', target: 0.65 },
  { label: 'ten header changes, prefix rewrite', port: 'plain', path: '/changed/1k', target: 0.7 },
  { label: `last of ${ROUTES} routes`, port: 'plain', host: 'many', path: `/route-${ROUTES - 1}/1k`, target: 0.1 },
  { label: '403', port: 'plain', path: '/refused/1k', status: 403, against: { row: 'GET 1 KB', target: 0.5 } },
  {
    label: '403, access log',
    port: 'logged',
    path: '/refused/1k',
    status: 403,
    against: { row: 'GET 1 KB, access log', target: 0.5 },
  },
  { label: '404', port: 'plain', host: 'absent', path: '/1k', status: 404, against: { row: 'GET 1 KB', target: 0.5 } },
  { label: 'HTTPS kept alive, EC', port: 'secure', path: '/1k', target: 0.9 },
  { label: 'TLS handshakes, EC', port: 'secure', path: '/1k', tool: 'handshakes', target: 1.5 },
  { label: 'TLS resumptions, EC', port: 'secure', path: '/1k', tool: 'resumptions', target: 1 },
  { label: 'HTTP/2 downstream, TLS', port: 'secure', path: '/1k', tool: 'h2load', target: 1.5 },
  { label: 'HTTP/2 downstream', port: 'plain', path: '/1k', tool: 'h2load', target: 1.5 },
  { label: 'HTTP/2 downstream, POST 1 KB', port: 'plain', path: '/1k', method: 'POST', tool: 'h2load', target: 1.5 },
  { label: 'HTTP/2 downstream, GET 1 MB', port: 'plain', path: '/1m', tool: 'h2load' },
];

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'bench-forward-'));
const BODY = join(directory, 'body');

/** Runs a tool on the second core; returns its output. */
async function onSecondCore(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('taskset', ['-c', '1', program, ...args], { maxBuffer: 10_000_000 });
  return stdout;
}

function numberIn(output: string, pattern: RegExp): number {
  const found = pattern.exec(output);
  if (!found) throw new Error(`unexpected output: ${output}`);
  return Number(found[1]);
}

/** Sends requests for the seconds; returns their number. Throws if a response has another status. */
async function load(row: Row, port: number): Promise<number> {
  const { tool = 'wrk', host = 'localhost', path, status = 200 } = row;
  const address = `127.0.0.1:${port}`;
  if (tool === 'handshakes' || tool === 'resumptions') {
    const reuse = tool === 'handshakes' ? ['-new'] : ['-reuse', '-tls1_2'];
    const output = await onSecondCore('openssl', [
      's_time',
      '-connect',
      address,
      ...reuse,
      '-time',
      String(Math.ceil(SECONDS)),
    ]);
    return numberIn(output, /(\d+) connections in \d+ real seconds/);
  }
  const url = `${row.port === 'secure' ? 'https' : 'http'}://${address}${path}`;
  if (tool === 'h2load') {
    const body = row.method ? ['-d', BODY] : [];
    const connections = path.endsWith('1m') ? ['-c', '8', '-m', '1'] : ['-c', String(CONNECTIONS), '-m', '10'];
    const output = await onSecondCore('h2load', [...connections, ...body, '-D', String(SECONDS), url]);
    if (!output.includes('Application protocol: h2')) return 0;
    return numberIn(output, /(\d+) 2xx/);
  }
  const script = join(directory, `${row.method ?? 'GET'}-${status}.lua`);
  writeFileSync(
    script,
    [
      ...(row.method ? [`wrk.method = "${row.method}"`, `wrk.body = string.rep("p", 1024)`] : []),
      'wrong = 0',
      `response = function(s) if s ~= ${status} then wrong = wrong + 1 end end`,
      'local threads = {}',
      'setup = function(t) table.insert(threads, t) end',
      'done = function() for _, t in ipairs(threads) do print("wrong responses: " .. t:get("wrong")) end end',
    ].join('\n'),
  );
  const base = ['-t', '1', '-c', String(row.path.endsWith('1m') ? 8 : CONNECTIONS), '-d', `${SECONDS}s`, '-s', script];
  const output = await onSecondCore('wrk', [...base, '-H', `Host: ${host}`, url]);
  if (numberIn(output, /wrong responses: (\d+)/) > 0) throw new Error(`${row.label}: wrong status\n${output}`);
  return numberIn(output, /(\d+) requests in/);
}

/** CPU microseconds per request; `undefined` if the peer does not do this work. */
async function measure(row: Row, { child, ports }: Peer): Promise<number | undefined> {
  const port = ports[row.port];
  if (port === undefined || (Object.keys(ports).length === 1 && row.path.split('/').length > 2)) return undefined;
  if (Object.keys(ports).length === 1 && (row.host || row.status)) return undefined;
  const before = cpuOf(child);
  const requests = await load(row, port);
  return requests > 0 ? (cpuOf(child) - before) / requests : undefined;
}

function cell(times: readonly number[], envoy: readonly number[] | undefined): string {
  if (times.length === 0) return '–';
  const own = `${median(times).toFixed(0)} µs`;
  if (!envoy || envoy === times || envoy.length !== times.length) return own;
  return `${own} (${median(times.map((time, i) => time / envoy[i]!)).toFixed(2)})`;
}

export async function main(): Promise<void> {
  const wanted = ['gateway', ...flags.peers.split(',')].filter((peer) => peer !== '');
  const unknown = wanted.find((peer) => !PEERS.includes(peer as PeerName));
  if (unknown !== undefined) throw new Error(`unknown peer ${unknown}: must be one of ${PEERS.join(', ')}`);
  for (const program of ['wrk', 'nginx', 'openssl', 'h2load']) {
    if (!isInstalled(program)) throw new Error(`${program} is not installed`);
  }
  writeFileSync(BODY, 'p'.repeat(1024));
  const upstream = await startUpstream(directory);
  const peers: Peer[] = [];
  try {
    const setup = createSetup(directory, upstream.port);
    for (const peer of wanted) peers.push(await startPeer(peer as PeerName, setup));
    const rows = ROWS.filter(
      ({ label }) => flags.rows === '' || flags.rows.split(',').some((part) => label.includes(part)),
    );
    const figures = new Map<string, Map<PeerName, number[]>>();
    console.log(`| work | ${wanted.join(' | ')} | target |\n| --- |${wanted.map(() => ' --- |').join('')} --- |`);
    for (const row of rows) {
      const times = new Map<PeerName, number[]>(peers.map((peer) => [peer.name, []]));
      for (let round = -1; round < ROUNDS; round++) {
        for (const peer of peers) {
          const time = await measure(row, peer);
          if (round >= 0 && time !== undefined) times.get(peer.name)!.push(time);
        }
      }
      figures.set(row.label, times);
      const cells = peers.map((peer) => cell(times.get(peer.name)!, times.get('envoy')));
      console.log(`| ${row.label} | ${cells.join(' | ')} | ${targetOf(row, figures)} |`);
    }
  } finally {
    for (const { child } of [...peers, upstream]) child.kill();
    rmSync(directory, { recursive: true });
  }
}

function targetOf(
  { label, target, against }: Row,
  figures: ReadonlyMap<string, ReadonlyMap<PeerName, number[]>>,
): string {
  if (!against) return `≤ ${target}`;
  const [own, other] = [label, against.row].map((row) => figures.get(row)?.get('gateway') ?? []);
  if (other!.length === 0) return `≤ ${against.target} of ${against.row}`;
  return `≤ ${against.target} of ${against.row}: ${(median(own!) / median(other!)).toFixed(2)}`;
}

console.log(name);
await main();
