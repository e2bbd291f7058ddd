import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Pool } from 'undici';
import { createContext } from '@edge-gateway/core';
import { createUpstreams, forward } from '@edge-gateway/routing';
import { moduleIn } from './installed.ts';

// One server of the forwarding benchmark, in a process of its own: `node forward-proxies.ts NAME [UPSTREAM PORT]`.
const KILOBYTE = Buffer.alloc(1024, 'k');
const MEGABYTE = Buffer.alloc(1024 * 1024, 'm');

const SERVERS: Readonly<Record<string, (port: number) => RequestListener | Promise<RequestListener>>> = {
  upstream: () => (req, res) => {
    if (req.method === 'POST') req.resume();
    res.writeHead(200, ['content-type', 'application/octet-stream', 'x-one', '1', 'x-two', '2']);
    res.end(req.url === '/1m' ? MEGABYTE : KILOBYTE);
  },

  middleware: (port) => {
    const upstreams = createUpstreams(createContext());
    const endpoints = [{ address: '127.0.0.1', port, weight: 1 }];
    upstreams.apply([
      { name: 'bench_gw-system', ref: { name: 'bench', namespace: 'gw-system' }, spec: {}, endpoints, tls: false },
    ]);
    const upstream = upstreams.get('bench_gw-system')!;
    return (req, res) =>
      forward(req, res, upstream, {
        method: req.method!,
        path: req.url!,
        headers: withoutConnection(req.rawHeaders),
        timeoutMs: 15_000,
        onResponseHead: (_status, headers) => headers,
        onDone: ({ failure }) => failure && res.writeHead(failure.status).end(failure.message),
      });
  },

  undici: (port) => {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 });
    return (req, res) => {
      const body = req.method === 'POST' ? req : null;
      const headers = withoutConnection(req.rawHeaders);
      void pool.stream({ method: req.method!, path: req.url!, headers, body, responseHeaders: 'raw' }, (answer) => {
        res.writeHead(answer.statusCode, answer.headers as never);
        return res;
      });
    };
  },

  hpm: async (port) => {
    const fromRouting = createRequire(new URL('../packages/routing/package.json', import.meta.url));
    const { createProxyMiddleware } = (await import(fromRouting.resolve('http-proxy-middleware'))) as {
      createProxyMiddleware(options: object): express.RequestHandler;
    };
    const app = express();
    app.use(createProxyMiddleware({ target: `http://127.0.0.1:${port}` }));
    return app as unknown as RequestListener;
  },

  'fast-gateway': async (port) => {
    const gateway = (await moduleIn('fast-gateway', 'fast-gateway'))['default'] as (options: object) => {
      handle(req: IncomingMessage, res: ServerResponse): void;
    };
    const service = gateway({ routes: [{ prefix: '', pathRegex: '/*', target: `http://127.0.0.1:${port}` }] });
    return (req, res) => service.handle(req, res);
  },
};

function withoutConnection(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length !== 10 || raw[i]!.toLowerCase() !== 'connection') headers.push(raw[i]!, raw[i + 1]!);
  }
  return headers;
}

const [name = '', port = '0'] = process.argv.slice(2);
const server = createServer(await SERVERS[name]!(Number(port)));
process.on('disconnect', () => process.exit());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!({ cpuMicroseconds: user + system });
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
