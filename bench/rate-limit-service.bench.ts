// The rate limit server `edge-gateway rate-limit`: its CPU time per check over gRPC, with counters in memory and on Redis; and the CPU time of a
// real Envoy per request, with a limit that it asks this server about, and without.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { Pool } from 'undici';
import { GatewayProcess } from '../apps/gateway/test/gateway-process.ts';
import { rateLimitService, type WireRequest, type WireResponse } from '../packages/rate-limit/src/protocol/messages.ts';
import { startEnvoyProcess } from '../test/parts/envoy-process.ts';
import { startRedis } from '../test/parts/redis.ts';
import { limitedEnvoyConfig } from './limited-envoy.ts';
import { cpuOf, cpuPerRequest, median, pin } from './measure.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 11);
const AMOUNT = Number(process.env['AMOUNT'] ?? 3000);
const WARM_UP = 5;
const IN_FLIGHT = 64;
/** Milliseconds; no check may fail. */
const DEADLINE_MS = 10_000;
const ADDRESSES = Array.from({ length: 1000 }, (_, i) => `198.51.${i >> 8}.${i & 255}`);
const SETTINGS = `
apiVersion: settings.gw.vendor.io/v1
kind: Settings
metadata: { name: default, namespace: gw-system }
spec:
  ratelimit:
    descriptors:
      - key: generic_key
        value: orders
        descriptors: [{ key: remote_address, rateLimit: { requestsPerUnit: 4294967295, unit: DAY } }]
`;
const REQUESTS: readonly WireRequest[] = ADDRESSES.map((value) => ({
  domain: 'custom',
  descriptors: [
    {
      entries: [
        { key: 'generic_key', value: 'orders' },
        { key: 'remote_address', value },
      ],
    },
  ],
}));
const { path, requestSerialize, responseDeserialize } = rateLimitService().service['ShouldRateLimit']!;

/** A server, and a client of it. */
interface Served {
  readonly label: string;
  readonly server: GatewayProcess;
  readonly client: Client;
  readonly times: number[];
}

// What is measured runs on the first core, what calls it and what it calls on the other.
pin({ pid: process.pid }, '1');
const redis = await startRedis();
pin(redis, '1');

async function serve(label: string, ...flags: string[]): Promise<Served> {
  const server = new GatewayProcess();
  server.write('rules.yaml', SETTINGS);
  await server.startRole('rate-limit', '--grpc-port', '0', '--http-port', '0', '--stats-port', '0', ...flags);
  pin(server.child, '0');
  const client = new Client(`127.0.0.1:${server.ready.grpcPort}`, credentials.createInsecure());
  return { label, server, client, times: [] };
}

function ask(client: Client, i: number): Promise<void> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize as never,
      responseDeserialize as never,
      REQUESTS[i % REQUESTS.length]!,
      new Metadata(),
      { deadline: Date.now() + DEADLINE_MS },
      (error: ServiceError | null, response?: WireResponse) => {
        if (error) return reject(error);
        if (response!.statuses?.[0]?.currentLimit) return resolve();
        reject(new Error('the request was not counted'));
      },
    );
  });
}

/** Microseconds of CPU time of the server per check. */
async function cpuPerCheck({ server, client }: Served): Promise<number> {
  let sent = 0;
  const before = cpuOf(server.child);
  const askAll = async (): Promise<void> => {
    while (sent < AMOUNT) await ask(client, sent++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, askAll));
  return (cpuOf(server.child) - before) / AMOUNT;
}

async function startUpstream(): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const file = join(import.meta.dirname, 'forward-proxies.ts');
  const child = fork(file, ['upstream'], { execArgv: ['--conditions=source'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  pin(child, '1');
  return { child, port };
}

const memory = await serve('memory');
const onRedis = await serve('Redis', '--rate-limit-redis', `redis://${redis.host}`);
for (let round = 0; round < ROUNDS + WARM_UP; round++) {
  for (const each of [memory, onRedis]) {
    const time = await cpuPerCheck(each);
    if (round >= WARM_UP) each.times.push(time);
  }
}
for (const { label, times } of [memory, onRedis]) {
  const cell = (time: number): string => `${time.toFixed(0)} µs`;
  console.log(`  server, ${label.padEnd(8)} ${cell(median(times))} per check, least ${cell(Math.min(...times))}`);
}

const upstream = await startUpstream();
const config = limitedEnvoyConfig({ upstream: upstream.port, service: memory.server.ready.grpcPort });
const envoy = await startEnvoyProcess(JSON.stringify(config), 'envoy.json');
pin(envoy, '0');
pin(memory.server.child, '1');
const pool = new Pool(`http://127.0.0.1:${envoy.ports.get('bench')}`, { connections: IN_FLIGHT });
const open: number[] = [];
const limited: number[] = [];
for (let round = 0; round < ROUNDS + 1; round++) {
  for (const [route, times] of [
    ['/open', open],
    ['/limited', limited],
  ] as const) {
    const load = { path: route, headersOf: () => ({}), amount: AMOUNT, connections: IN_FLIGHT };
    const time = await cpuPerRequest(envoy, pool, load);
    if (round > 0) times.push(time);
  }
}
const ratio = median(limited.map((time, i) => time / open[i]!)).toFixed(2);
console.log(
  `  Envoy            unlimited ${median(open).toFixed(0)} µs, limited ${median(limited).toFixed(0)} µs (${ratio} ×)`,
);
await pool.destroy();
await envoy.close();
upstream.child.kill();
for (const { client, server } of [memory, onRedis]) {
  client.close();
  await server.close();
}
await redis.close();
