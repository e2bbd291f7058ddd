// Route and domain look-ups, and what applying a snapshot costs, at 1,000, 10,000 and 100,000 routes or hosts.
import { DEFAULT_SNAPSHOT_SETTINGS, type Route, type Snapshot, type VirtualHost } from '@edge-gateway/core';
import { createRouter } from '@edge-gateway/routing';
import { createDomainIndex } from '../packages/routing/src/route/match/domain.ts';
import { compileMatcher } from '../packages/routing/src/route/match/matcher.ts';
import type { RequestView } from '../packages/routing/src/format/record.ts';
import { createRouteIndex, findRoute } from '../packages/routing/src/route/match/route-index.ts';

const SIZES = [1_000, 10_000, 100_000];
const LOOKUPS = 200_000;

function print(what: string, value: number, unit: string): void {
  console.log(`  ${what.padEnd(60)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}`);
}

/** Nanoseconds of one call, the best of five rounds. */
function nanoseconds(call: (i: number) => unknown): number {
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < LOOKUPS; i++) call(i);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / LOOKUPS);
  }
  return best;
}

function milliseconds(call: () => void): number {
  const start = performance.now();
  call();
  return performance.now() - start;
}

const viewOf = (path: string): RequestView => ({
  method: 'GET',
  authority: 'a',
  path,
  pathname: path,
  headers: ['x-a', '1'],
});

function routes(size: number, matcher: (i: number) => Route['matchers'][number]): void {
  const entries = Array.from({ length: size }, (_, i) => ({ order: i, matcher: compileMatcher(matcher(i)), route: i }));
  const index = createRouteIndex(entries);
  const views = Array.from({ length: 1_000 }, (_, i) => viewOf(`/api/v1/service-${(i * 7919) % size}/items/5`));
  const kind = Object.keys(matcher(0)).join('+');
  print(
    `route by ${kind}, ${size.toLocaleString('en')} routes`,
    nanoseconds((i) => findRoute(index, views[i % 1_000]!)),
    'ns',
  );
}

function domains(size: number): void {
  const exact = Array.from({ length: size }, (_, i) => ({ domain: `host-${i}.example.com`, value: i }));
  const wildcard = Array.from({ length: size }, (_, i) => ({ domain: `*.host-${i}.example.com`, value: i }));
  const find = createDomainIndex([...exact, ...wildcard]);
  const hosts = Array.from({ length: 1_000 }, (_, i) => `host-${(i * 7919) % size}.example.com`);
  print(
    `exact domain, ${size.toLocaleString('en')} hosts`,
    nanoseconds((i) => find(hosts[i % 1_000]!)),
    'ns',
  );
  const below = hosts.map((host) => `a.${host}`);
  print(
    `wildcard domain, ${size.toLocaleString('en')} hosts`,
    nanoseconds((i) => find(below[i % 1_000]!)),
    'ns',
  );
}

function hostOf(i: number, body: string): VirtualHost {
  const ref = { name: `service-${i}`, namespace: 'gw-system' };
  const routeOf = (j: number): Route => ({
    name: `gw-system.service-${i}-route-${j}`,
    logName: '',
    matchers: [{ prefix: `/${j}` }],
    action: { type: 'direct', status: 200, body },
    options: {},
    source: { kind: 'VirtualService', ...ref },
  });
  const name = `gw-system.service-${i}`;
  return {
    name,
    authConfigs: [],
    rateLimitConfigs: [],
    graphqlApis: [],
    virtualService: ref,
    domains: [`host-${i}.example.com`],
    options: {},
    routes: [routeOf(0), routeOf(1)],
  };
}

function snapshotOf(virtualHosts: readonly VirtualHost[]): Snapshot {
  const gateway = { name: 'gateway-proxy', namespace: 'gw-system' };
  const bind = { name: 'listener-::-8080', bindAddress: '::', bindPort: 8080, gateway, ssl: false };
  const options = { options: NONE, httpOptions: NONE, routeOptions: NONE, sslConfigurations: [] };
  return {
    proxy: 'gateway-proxy',
    version: '',
    upstreams: [],
    settings: DEFAULT_SNAPSHOT_SETTINGS,
    listeners: [{ ...bind, ...options, virtualHosts }],
  };
}

const NONE = {};

function applying(size: number): void {
  const hosts = Array.from({ length: size }, (_, i) => hostOf(i, 'a'));
  const router = createRouter();
  const first = milliseconds(() => router.apply(snapshotOf(hosts)));
  print(`apply ${size.toLocaleString('en')} virtual hosts with two routes`, first, 'ms');
  let changed = 0;
  for (let i = 0; i < 10; i++) {
    hosts[i] = hostOf(i, 'b');
    changed += milliseconds(() => router.apply(snapshotOf([...hosts])));
  }
  print(`apply with one of ${size.toLocaleString('en')} changed`, changed / 10, 'ms');
}

for (const size of SIZES) routes(size, (i) => ({ prefix: `/api/v1/service-${i}/` }));
for (const size of SIZES)
  routes(size, (i) => ({ prefix: `/api/v1/service-${i}/`, headers: [{ name: 'x-a', value: '1' }] }));
for (const size of SIZES.slice(0, 2)) routes(size, (i) => ({ regex: `/api/v1/service-${i}/.*` }));
for (const size of SIZES) domains(size);
for (const size of SIZES) applying(size);
