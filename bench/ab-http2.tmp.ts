// A/B of the HTTP/2 clients
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLoad, KEY_SET } from './forward-load.ts';
import { createSetup, startGateway, startPeer, startUpstream } from './forward-peers.ts';
import { cpuOf, median, pin } from './measure.ts';
import type { Row } from './forward-rows.ts';
const ROUNDS = Number(process.argv[2] ?? 5), SECONDS = Number(process.argv[3] ?? 2);
const rows: Row[] = [
  { label: 'HTTP/2 upstream GET 1k', port: 'plain', path: '/http2/1k' },
  { label: 'HTTP/2 upstream GET 1 MB', port: 'plain', path: '/http2/1m' },
  { label: 'gRPC unary', port: 'http2', path: '/grpc/unary', tool: 'grpc' },
].filter((r) => !process.argv[4] || process.argv[4].split(',').some((p) => r.label.includes(p))) as Row[];
const directory = mkdtempSync(join(tmpdir(), 'bench-ab-'));
const upstream = await startUpstream(directory);
const peers: { label: string; peer: Awaited<ReturnType<typeof startGateway>> }[] = [];
try {
  const roots = (process.env['ROOTS'] ?? '').split(',').filter(Boolean);
  const make = async (label: string, flags: string[], root?: string) => {
    const setup = createSetup(mkdtempSync(join(directory, 'p-')), upstream, KEY_SET);
    if (root) process.env['GATEWAY_ROOT'] = root; else delete process.env['GATEWAY_ROOT'];
    const peer = await startGateway(setup, flags);
    pin(peer.child, '0');
    peers.push({ label, peer });
  };
  if (!process.env['NO_NODE']) await make('node', ['--http2-client', 'node']);
  await make('direct', ['--http2-client', 'direct']);
  for (const root of roots) await make(root.split('/').at(-1)!, ['--http2-client', 'direct'], root);
  { const peer = await startPeer('envoy', createSetup(mkdtempSync(join(directory, 'e-')), upstream, KEY_SET)); peers.push({ label: 'envoy', peer }); }
  const load = createLoad(directory, SECONDS);
  for (const row of rows) {
    const times = new Map<string, number[]>(peers.map(({ label }) => [label, []]));
    const one = async ({ label, peer }: (typeof peers)[number], keep: boolean) => {
      load.prepare(row);
      const before = cpuOf(peer.child);
      const { requests } = await load.send(row, peer.ports[row.port]!);
      if (keep) times.get(label)!.push((cpuOf(peer.child) - before) / requests);
    };
    for (const p of peers) for (let i = 0; i < 2; i++) await one(p, false);
    for (let r = 0; r < ROUNDS; r++) for (const p of peers) await one(p, true);
    const base = times.get('envoy')!;
    console.log(row.label, [...times].map(([l, t]) => `${l} ${median(t).toFixed(1)} µs (${median(t.map((x, i) => x / base[i]!)).toFixed(2)})`).join(' | '));
  }
} finally {
  for (const { peer } of peers) peer.child.kill();
  upstream.child.kill();
  rmSync(directory, { recursive: true });
}
