import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext } from '@edge-gateway/core';
import { forward } from '../../src/forward/forward-request.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import { snapshotOf } from './harness.ts';

// A gateway in a process of its own, for tests that watch its memory. The upstream's port is the first argument.
const upstreams = createUpstreams(createContext());
upstreams.apply([snapshotOf(Number(process.argv[2]))]);
const upstream = upstreams.get('echo_gw-system')!;
const server = createServer({ requestTimeout: 0 }, (req, res) =>
  forward(req, res, upstream, {
    method: req.method!,
    path: req.url!,
    headers: ['host', 'a'],
    timeoutMs: 60_000,
    onResponseHead: (_status, headers) => headers,
    onDone: ({ failure }) => failure && res.writeHead(failure.status).end(failure.message),
  }),
);
let peak = 0;
setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5).unref();
process.on('message', (message) => {
  if (message === 'reset') peak = process.memoryUsage.rss();
  process.send!({ peak, rss: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
