import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { createContext, factsOf, type Concern, type Listener, type Route, type Snapshot } from '@edge-gateway/core';
import { createRouter, type Router } from '../src/router.ts';
import {
  directOf,
  echo,
  endpointOf,
  hostOf,
  LISTENER,
  routeOf,
  snapshotOf,
  start,
  stopAll,
  upstreamOf,
} from './snapshots.ts';

type HttpOptions = Listener['httpOptions'];

async function get(port: number, path: string, host = 'a.example', more: Record<string, string> = {}) {
  return await new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const req = httpRequest({ port, host: '127.0.0.1', path, headers: { host, ...more }, agent: false }, (res) => {
      let body = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body }));
    });
    req.on('error', reject).end();
  });
}

describe('options of routes and listeners', () => {
  const context = createContext();
  let router: Router;

  async function serve(snapshot: Snapshot, concerns: readonly Concern[] = []): Promise<number> {
    router = createRouter({ context, concerns });
    router.apply(snapshot);
    const handler = router.listener(LISTENER);
    return (await start((req, res) => handler(req, res, () => res.destroy()))).port;
  }

  const withHttp = (httpOptions: HttpOptions, routes = [routeOf()], upstreams = [up]): Snapshot =>
    snapshotOf([hostOf(routes)], upstreams, { httpOptions });
  let up: ReturnType<typeof upstreamOf>;

  beforeEach(async () => {
    up = upstreamOf([endpointOf((await start(echo)).port)]);
  });

  afterEach(async () => {
    await router.close();
    await stopAll();
  });

  it('timeout: responds with 504 when the upstream is too slow, and sends it the limit', async () => {
    let told: unknown;
    const { port: slow } = await start((req) => (told = req.headers['x-envoy-expected-rq-timeout-ms']));
    const routes = [routeOf({ options: { timeout: '1s' } })];
    const port = await serve(snapshotOf([hostOf(routes)], [upstreamOf([endpointOf(slow)])]));
    expect(await get(port, '/')).to.include({ status: 504, body: 'upstream request timeout' });
    expect(told).to.equal('1000');
  });

  it('timeout: 0s is no limit and is not sent', async () => {
    const port = await serve(snapshotOf([hostOf([routeOf({ options: { timeout: '0s' } })])], [up]));
    expect(JSON.parse((await get(port, '/')).body).headers).not.to.have.property('x-envoy-expected-rq-timeout-ms');
  });

  it('multi: distributes requests by weight, and none to a weight of 0', async () => {
    const shares = [
      { upstream: 'up_gw-system', weight: 3, options: {} },
      { upstream: 'none', weight: 1, options: {}, broken: { status: 404, body: '', reason: '' } },
      { upstream: 'none', weight: 0, options: {}, broken: { status: 500, body: '', reason: '' } },
    ];
    const route = routeOf({ action: { type: 'forward', destinations: shares } });
    const port = await serve(snapshotOf([hostOf([route])], [up]));
    const counts = new Map<number, number>();
    for (let i = 0; i < 200; i++) {
      const { status } = await get(port, '/');
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    expect(counts.get(200)).to.be.within(110, 190);
    expect(counts.get(404)).to.be.within(10, 90);
    expect(counts.has(500)).to.equal(false);
  });

  it('autoHostRewrite: sends the DNS name of the endpoint, and keeps the host for a bare address', async () => {
    const { port: target } = await start(echo);
    const named = upstreamOf([{ address: 'localhost', port: target, weight: 1 }], 'named');
    const options = { autoHostRewrite: true };
    const routes = [
      routeOf({ matchers: [{ prefix: '/named' }], to: 'named_gw-system', options }),
      routeOf({ options }),
    ];
    const port = await serve(snapshotOf([hostOf(routes)], [up, named]));
    expect(JSON.parse((await get(port, '/named')).body).headers).to.include({
      host: 'localhost',
      'x-forwarded-host': 'a.example',
    });
    const bare = JSON.parse((await get(port, '/')).body).headers;
    expect([bare.host, bare['x-forwarded-host']]).to.deep.equal(['a.example', undefined]);
  });

  it('hostRewrite: appends the host of the request to the x-forwarded-host of a trusted proxy', async () => {
    const options = { hostRewrite: 'b.example' };
    const httpOptions = { httpConnectionManagerSettings: { useRemoteAddress: false } };
    const port = await serve(snapshotOf([hostOf([routeOf({ options })])], [up], { httpOptions }));
    const { body } = await get(port, '/', 'a.example', { 'x-forwarded-host': 'first.example' });
    expect(JSON.parse(body).headers).to.include({ host: 'b.example', 'x-forwarded-host': 'first.example,a.example' });
  });

  it('appendXForwardedHost: false keeps the host of the client to itself', async () => {
    const options = { hostRewrite: 'b.example', appendXForwardedHost: false };
    const port = await serve(snapshotOf([hostOf([routeOf({ options })])], [up]));
    expect(JSON.parse((await get(port, '/')).body).headers).not.to.have.property('x-forwarded-host');
  });

  it('headerManipulation: runs after request changes of concerns, and before their response changes', async () => {
    const record: Concern<object> = {
      name: 'record',
      option: 'record',
      stage: 'rbac',
      compile: () => (req, _res, next) => {
        const { requestChanges, responseChanges } = factsOf(req);
        for (const changes of [requestChanges, responseChanges]) {
          changes.push({ op: 'set', name: 'x-set', value: 'concern' }, { op: 'set', name: 'x-gone', value: 'concern' });
          changes.push({ op: 'set', name: 'x-seen', value: 'concern' });
        }
        next();
      },
    };
    const set = (key: string, value: string) => ({ header: { key, value }, append: false });
    const headerManipulation = {
      requestHeadersToAdd: [set('x-set', 'route'), set('x-copy', '%REQ(x-seen)%')],
      requestHeadersToRemove: ['x-gone'],
      responseHeadersToAdd: [set('x-set', 'route')],
    };
    const options = { record: {}, headerManipulation } as Route['options'];
    const port = await serve(snapshotOf([hostOf([routeOf({ options })])], [up]), [record as Concern]);
    const { headers, body } = await get(port, '/');
    const seen = JSON.parse(body).headers as Record<string, unknown>;
    expect(seen).to.include({ 'x-set': 'route', 'x-seen': 'concern', 'x-copy': 'concern' });
    expect(seen).not.to.have.property('x-gone');
    expect(headers).to.include({ 'x-set': 'concern', 'x-seen': 'concern' });
  });

  it('removes spellings with underscores of headers that concerns set or remove (forged headers)', async () => {
    const record: Concern<object> = {
      name: 'record',
      option: 'record',
      stage: 'rbac',
      compile: () => (req, _res, next) => {
        factsOf(req).requestChanges.push({ op: 'set', name: 'x-user-id', value: 'concern' });
        factsOf(req).requestChanges.push({ op: 'remove', name: 'x-user-role' });
        next();
      },
    };
    const options = { record: {} } as Route['options'];
    const port = await serve(snapshotOf([hostOf([routeOf({ options })])], [up]), [record as Concern]);
    const forged = { x_user_id: 'forged', 'x-user_role': 'forged', x_other: 'kept' };
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: forged });
    const { headers } = (await response.json()) as { headers: Record<string, string> };
    expect(headers).to.include({ 'x-user-id': 'concern', x_other: 'kept' });
    expect(headers).not.to.have.any.keys('x_user_id', 'x-user_role');
  });

  it('stripAnyHostPort: compares and sends the host without its port', async () => {
    const host = hostOf([routeOf()], { domains: ['a.example'] });
    const settings = { httpConnectionManagerSettings: { stripAnyHostPort: true } };
    const port = await serve(snapshotOf([host], [up], { httpOptions: settings }));
    expect(JSON.parse((await get(port, '/', 'a.example:8080')).body).headers.host).to.equal('a.example');
    router.apply(snapshotOf([host], [up]));
    expect((await get(port, '/', 'a.example:8080')).status).to.equal(404);
  });

  it('ignorePortInHostMatching: compares the host without its port, and sends it with the port', async () => {
    const host = hostOf([routeOf()], { domains: ['a.example', '*.b.example'] });
    const port = await serve(snapshotOf([host], [up], { routeOptions: { ignorePortInHostMatching: true } }));
    for (const name of ['a.example:8080', 'a.example', 'x.b.example:1'])
      expect(JSON.parse((await get(port, '/', name)).body).headers.host).to.equal(name);
    expect((await get(port, '/', 'other.example:8080')).status).to.equal(404);
    router.apply(snapshotOf([host], [up]));
    expect((await get(port, '/', 'a.example:8080')).status).to.equal(404);
  });

  it('server: is overwritten, added if absent, or passed through', async () => {
    const { port: target } = await start((req, res) => {
      if (req.url === '/named') res.setHeader('server', 'theirs');
      res.end();
    });
    const upstreams = [upstreamOf([endpointOf(target)])];
    const port = await serve(
      withHttp({ httpConnectionManagerSettings: { serverName: 'edge' } }, [routeOf()], upstreams),
    );
    const servers = async (): Promise<unknown[]> => [
      (await get(port, '/named')).headers['server'],
      (await get(port, '/')).headers['server'],
    ];
    expect(await servers()).to.deep.equal(['edge', 'edge']);
    for (const [transformation, expected] of [
      ['APPEND_IF_ABSENT', ['theirs', 'envoy']],
      ['PASS_THROUGH', ['theirs', undefined]],
    ] as const) {
      const settings = { httpConnectionManagerSettings: { serverHeaderTransformation: transformation } };
      router.apply(withHttp(settings, [routeOf()], upstreams));
      expect(await servers(), transformation).to.deep.equal(expected);
    }
  });

  it('suppressEnvoyHeaders: neither side sees x-envoy headers', async () => {
    const routes = [routeOf({ options: { prefixRewrite: '/b' } })];
    const port = await serve(withHttp({ router: { suppressEnvoyHeaders: true } }, routes));
    const { headers, body } = await get(port, '/a');
    const names = [...Object.keys(headers), ...Object.keys(JSON.parse(body).headers)];
    expect(names.filter((name) => name.startsWith('x-envoy'))).to.deep.equal([]);
  });

  it('earlyHeaderManipulation: changes headers before a route is looked for', async () => {
    const routes = [directOf('early', { matchers: [{ prefix: '/', headers: [{ name: 'x-early', value: '1' }] }] })];
    const early = { headersToAdd: [{ header: { key: 'x-early', value: '1' } }] };
    const port = await serve(withHttp({ httpConnectionManagerSettings: { earlyHeaderManipulation: early } }, routes));
    expect((await get(port, '/')).body).to.equal('early');
  });

  it('a listener whose settings cannot be used responds with 500, and serves again when they can', async () => {
    const early = { headersToAdd: [{ header: { key: 'x-early', value: '%NOPE%' } }] };
    const routes = [directOf('a')];
    const port = await serve(withHttp({ httpConnectionManagerSettings: { earlyHeaderManipulation: early } }, routes));
    expect((await get(port, '/')).status).to.equal(500);
    router.apply(withHttp({}, routes));
    expect((await get(port, '/')).status).to.equal(200);
  });

  it('access log: writes one line per request, also for rejected ones', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'router-log-'));
    const path = join(directory, 'log');
    const stringFormat =
      '%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %RESPONSE_CODE% %RESPONSE_FLAGS% %ROUTE_NAME% %UPSTREAM_CLUSTER% %BYTES_SENT%\n';
    const options = { accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat } }] } };
    const routes = [
      routeOf({ matchers: [{ prefix: '/up' }], to: 'none_gw-system' }),
      directOf('hello', { matchers: [{ exact: '/d' }] }),
    ];
    const port = await serve(snapshotOf([hostOf(routes)], [], { options }));
    for (const target of ['/d?x=1', '/up', '/none', '/a\\b']) await get(port, target);
    await router.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines.slice(0, 3)).to.deep.equal([
      'GET /d?x=1 200 - gw-system.host-route-0-matcher-0 - 5',
      'GET /up 503 NC gw-system.host-route-0-matcher-0 none_gw-system 0',
      'GET /none 404 NR - - 0',
    ]);
    expect(lines[3]).to.match(/^GET \/a\\b 400 - - - \d{3}$/);
    expect(lines).to.have.length(5);
    await rm(directory, { recursive: true });
  });

  it('access log: follows a changed format', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'router-log-'));
    const path = join(directory, 'log');
    const hosts = [hostOf([directOf('hello')])];
    const snapshotWith = (stringFormat: string): Snapshot =>
      snapshotOf(hosts, [], {
        options: { accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat } }] } },
      });
    const port = await serve(snapshotWith('before\n'));
    await get(port, '/');
    router.apply(snapshotWith('after\n'));
    await get(port, '/');
    await router.close();
    expect(await readFile(path, 'utf8')).to.equal('before\nafter\n');
    await rm(directory, { recursive: true });
  });

  it('access log: writes the source of a response as Envoy does', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'router-log-'));
    const path = join(directory, 'log');
    const stringFormat = '%REQ(:PATH)% %RESPONSE_CODE_DETAILS%\n';
    const options = { accessLoggingService: { accessLog: [{ fileSink: { path, stringFormat } }] } };
    const gone = upstreamOf([endpointOf(1)], 'gone');
    const routes = [
      directOf('hello', { matchers: [{ exact: '/direct' }] }),
      routeOf({ matchers: [{ exact: '/redirect' }], action: { type: 'redirect', redirect: {} } }),
      routeOf({ matchers: [{ exact: '/nowhere' }], to: 'none_gw-system' }),
      routeOf({ matchers: [{ exact: '/gone' }], to: 'gone_gw-system' }),
      routeOf({ matchers: [{ exact: '/up' }] }),
    ];
    const port = await serve(snapshotOf([hostOf(routes)], [up, gone], { options }));
    for (const target of ['/up', '/direct', '/redirect', '/nowhere', '/none', '/gone']) await get(port, target);
    await router.close();
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines.slice(0, 5)).to.deep.equal([
      '/up via_upstream',
      '/direct direct_response',
      '/redirect direct_response',
      '/nowhere cluster_not_found',
      '/none route_not_found',
    ]);
    expect(lines[5]).to.match(/^\/gone (?!via_upstream)./);
    await rm(directory, { recursive: true });
  });

  it('statistics: adds up the time of the requests of a route', async () => {
    const port = await serve(snapshotOf([hostOf([directOf('a', { name: 'timed' })])]));
    const time = (): number => {
      const path = 'vhost.gw-system_host.route.timed.downstream_rq_time_us';
      const found = context.metrics.list().find(({ name }) => name.path === path);
      return found?.type === 'counter' ? found.stat.value : 0;
    };
    await get(port, '/');
    const first = time();
    expect(first).to.be.greaterThan(0);
    await get(port, '/');
    expect(time()).to.be.greaterThan(first);
  });

  it('statistics: counts requests by class of status, redirects and misses', async () => {
    const value = (name: string): number => {
      const found = context.metrics.list().find((stat) => stat.name.path === `http.http.${name}`);
      return found && found.type !== 'histogram' ? found.stat.value : (found?.stat.count ?? 0);
    };
    const names = [
      'downstream_rq_total',
      'downstream_rq_completed',
      'downstream_rq_2xx',
      'downstream_rq_3xx',
      'downstream_rq_4xx',
    ];
    const more = ['no_route', 'rq_redirect', 'rq_total', 'no_cluster', 'downstream_rq_time'];
    const before = new Map([...names, ...more].map((name) => [name, value(name)]));
    const routes = [
      directOf('a', { matchers: [{ exact: '/a' }] }),
      routeOf({ matchers: [{ exact: '/r' }], action: { type: 'redirect', redirect: {} } }),
      routeOf({ matchers: [{ exact: '/n' }], to: 'none' }),
    ];
    const port = await serve(snapshotOf([hostOf(routes)]));
    for (const path of ['/a', '/r', '/n', '/x', '/a']) await get(port, path);
    const added = Object.fromEntries([...before].map(([name, old]) => [name, value(name) - old]));
    expect(added).to.deep.equal({
      downstream_rq_total: 5,
      downstream_rq_completed: 5,
      downstream_rq_2xx: 2,
      downstream_rq_3xx: 1,
      downstream_rq_4xx: 1,
      no_route: 1,
      rq_redirect: 1,
      rq_total: 4,
      no_cluster: 1,
      downstream_rq_time: 5,
    });
    expect(value('downstream_rq_active')).to.equal(0);
  });
});
