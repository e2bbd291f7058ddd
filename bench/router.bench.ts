// The router alone, without sockets: CPU time per request, relative to a bare handler of node:http.
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  DEFAULT_SNAPSHOT_SETTINGS,
  type Concern,
  type Handler,
  type Route,
  type Snapshot,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { createRouter } from '@edge-gateway/routing';
import { median } from './measure.ts';

const ROUNDS = 15;
const AMOUNT = Number(process.env['AMOUNT'] ?? 20_000);
const BODY = 'hello';
const LISTENER = 'listener-::-8080';

const SOCKET = {
  remoteAddress: '127.0.0.1',
  remotePort: 50_000,
  localAddress: '127.0.0.1',
  localPort: 8080,
} as unknown as Socket;

const HEADERS = [
  ['Host', 'shop.example.com'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-GB,en;q=0.5'],
  ['Accept-Encoding', 'gzip, deflate, br, zstd'],
  ['Connection', 'keep-alive'],
  ['Cookie', 'session=0123456789abcdef; theme=dark'],
].flat();

const routeOf = (i: number, action: Route['action'], options: Route['options'] = {}): Route => ({
  name: `gw-system.shop-route-${i}`,
  logName: '',
  matchers: [{ prefix: `/api/v1/service-${i}/` }],
  action,
  options,
  source: { kind: 'VirtualService', name: 'shop', namespace: 'gw-system' },
});

const direct: Route['action'] = { type: 'direct', status: 200, body: BODY };
const forwarded: Route['action'] = {
  type: 'forward',
  destinations: [{ upstream: 'empty_gw-system', weight: 1, options: {} }],
};

const EMPTY_UPSTREAM: SnapshotUpstream = {
  name: 'empty_gw-system',
  ref: { name: 'empty', namespace: 'gw-system' },
  spec: {},
  endpoints: [],
  tls: false,
};

function snapshotOf(routes: readonly Route[]): Snapshot {
  const virtualService = { name: 'shop', namespace: 'gw-system' };
  const host = {
    name: 'gw-system.shop',
    virtualService,
    options: {},
    authConfigs: [],
    rateLimitConfigs: [],
    graphqlApis: [],
  };
  return {
    proxy: 'gateway-proxy',
    version: '',
    upstreams: [EMPTY_UPSTREAM],
    settings: DEFAULT_SNAPSHOT_SETTINGS,
    listeners: [
      {
        name: LISTENER,
        bindAddress: '::',
        bindPort: 8080,
        gateway: { name: 'gateway-proxy', namespace: 'gw-system' },
        ssl: false,
        options: {},
        httpOptions: {},
        routeOptions: {},
        sslConfigurations: [],
        virtualHosts: [{ ...host, domains: ['shop.example.com'], routes }],
      },
    ],
  };
}

const passing = (name: string): Concern<object> => ({
  name,
  option: 'rbac',
  stage: 'rbac',
  compile: () => (_req, _res, next) => next(),
});

function routerOf(routes: readonly Route[], concerns: readonly Concern<object>[] = []): Handler {
  const router = createRouter({ accessLog: 'none', concerns: concerns as readonly Concern[] });
  router.apply(snapshotOf(routes));
  return router.listener(LISTENER);
}

const bare: Handler = (_req, res) =>
  void res.writeHead(200, ['content-length', String(BODY.length), 'content-type', 'text/plain']).end(BODY);

/** One thing to measure. */
interface Case {
  readonly name: string;
  readonly handler: Handler;
  readonly path: string;
  readonly status: number;
}

const list = (size: number, action: Route['action'], options?: Route['options']): Route[] =>
  Array.from({ length: size }, (_, i) => routeOf(i, action, options));
const few = routerOf(list(3, direct));
const many = routerOf(list(10_000, direct));
const guarded = routerOf(list(3, direct, { rbac: {} }), [passing('a'), passing('b'), passing('c')]);
const upstream = routerOf(list(3, forwarded));
const LAST = '/api/v1/service-2/items/5?page=2';
const CASES: readonly Case[] = [
  { name: 'bare handler', handler: bare, path: LAST, status: 200 },
  { name: 'direct response, 3 routes', handler: few, path: LAST, status: 200 },
  { name: 'direct response, 10,000 routes', handler: many, path: '/api/v1/service-9999/items/5?page=2', status: 200 },
  { name: 'direct response behind three concerns', handler: guarded, path: LAST, status: 200 },
  { name: 'upstream without an endpoint', handler: upstream, path: LAST, status: 503 },
  { name: 'rejected: no such route', handler: few, path: '/other', status: 404 },
  { name: 'rejected: encoded dot segment', handler: few, path: '/api/%252e%252e/admin', status: 400 },
];

function serve({ handler, path, status, name }: Case, amount: number): void {
  for (let i = 0; i < amount; i++) {
    const req = new IncomingMessage(SOCKET);
    req.method = 'GET';
    req.url = path;
    req.httpVersion = '1.1';
    req.httpVersionMajor = req.httpVersionMinor = 1;
    req.rawHeaders = HEADERS;
    req.complete = true;
    const res = new ServerResponse(req);
    handler(req, res, unexpected);
    if (res.statusCode !== status || !res.writableEnded) throw new Error(`${name}: responded ${res.statusCode}`);
  }
}

function unexpected(): void {
  throw new Error('the router passed the request on');
}

/** Microseconds of CPU time per request. */
function microseconds(each: Case): number {
  globalThis.gc?.();
  const before = process.cpuUsage();
  serve(each, AMOUNT);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / AMOUNT;
}

for (const each of CASES) serve(each, AMOUNT);
const rounds = Array.from({ length: ROUNDS }, () => CASES.map(microseconds));
for (const [i, { name }] of CASES.entries()) {
  const time = median(rounds.map((round) => round[i]!));
  const ratio = median(rounds.map((round) => round[i]! / round[0]!));
  console.log(`  ${name.padEnd(40)} ${time.toFixed(2).padStart(7)} µs ${ratio.toFixed(2).padStart(6)}`);
}
