import { expect } from 'chai';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createContext } from '@edge-gateway/core';
import { skip } from '../../../../test/parts/skip.ts';
import type { Cluster } from '../../src/upstream/cluster.ts';
import type { HostSet } from '../../src/upstream/hosts/host-set.ts';
import type { Upstreams } from '../../src/upstream/upstream.ts';
import { createUpstreams } from '../../src/upstream/upstreams.ts';
import {
  closeAll,
  gateway,
  get,
  httpUpstream,
  listen,
  rawUpstream,
  snapshotOf,
  until,
  whenDone,
} from '../forward/harness.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

function hostsOf({ upstreams }: { readonly upstreams: Upstreams }): HostSet {
  return (upstreams.get('echo_gw-system') as Cluster).hosts;
}

describe('createUpstreams', () => {
  afterEach(closeAll);

  it('finds the upstreams that were applied last', () => {
    const upstreams = createUpstreams(createContext());
    expect(upstreams.get('a')).to.equal(undefined);
    upstreams.apply([snapshotOf(1, { name: 'a' }), snapshotOf(2, { name: 'b' })]);
    expect(upstreams.get('a')?.name).to.equal('a');
    upstreams.apply([snapshotOf(2, { name: 'b' })]);
    expect(upstreams.get('a')).to.equal(undefined);
    expect(upstreams.get('b')?.snapshot.endpoints[0]?.port).to.equal(2);
  });

  it('keeps an upstream, with its connections, as long as its snapshot is the same object', async () => {
    const upstream = await rawUpstream((socket) => socket.write(OK));
    const snapshot = snapshotOf(upstream.port);
    const gw = await gateway({ upstream: snapshot });
    const before = gw.upstreams.get(snapshot.name);
    await get(gw.url);
    gw.upstreams.apply([snapshot]);
    await get(gw.url);
    expect(gw.upstreams.get(snapshot.name)).to.equal(before);
    expect(upstream.connections).to.equal(1);
  });

  it('uses the new endpoints immediately, and completes requests on the old ones', async () => {
    let answer = (): void => {};
    const first = await httpUpstream((_req, res) => {
      res.write('old ');
      answer = () => void res.end('finished');
    });
    const second = await httpUpstream((_req, res) => void res.end('new'));
    const gw = await gateway({ upstream: snapshotOf(first) });
    const running = get(gw.url);
    await until(() => gw.stat('upstream_rq_200') === 1);
    gw.upstreams.apply([snapshotOf(second)]);
    expect((await get(gw.url)).body).to.equal('new');
    answer();
    expect(await running).to.include({ body: 'old finished', complete: true });
    expect(gw.stat('upstream_rq_total')).to.equal(2);
  });

  it('closes the idle connections of a removed upstream immediately, the busy ones after their requests', async () => {
    let answer = (): void => {};
    const upstream = await rawUpstream((socket, request) => {
      if (request.startsWith('GET /slow')) answer = () => void socket.write(OK);
      else socket.write(OK);
    });
    const snapshot = snapshotOf(upstream.port);
    const gw = await gateway({ upstream: snapshot });
    const slow = get(`${gw.url}/slow`);
    await until(() => upstream.requests.length === 1);
    await get(`${gw.url}/quick`);
    expect(upstream.sockets.size).to.equal(2);
    gw.upstreams.apply([]);
    await until(() => upstream.sockets.size === 1);
    answer();
    expect((await slow).body).to.equal('ok');
    await until(() => upstream.sockets.size === 0);
  });

  it('still serves a request that picked an upstream just before it was removed, and leaks nothing', async () => {
    const upstream = await rawUpstream((socket) => socket.write(OK));
    const snapshot = snapshotOf(upstream.port);
    const gw = await gateway({ upstream: snapshot });
    const kept = gw.upstreams.get(snapshot.name)!;
    gw.upstreams.apply([]);
    const late = await serveFrom(kept);
    expect((await get(late)).body).to.equal('ok');
    await until(() => upstream.sockets.size === 0);
  });

  it('resolves close when the last exchange is over', async () => {
    let answer = (): void => {};
    const upstream = await rawUpstream((socket) => (answer = () => void socket.write(OK)));
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    const running = get(gw.url);
    await until(() => upstream.requests.length === 1);
    let closed = false;
    const closing = gw.upstreams.close().then(() => (closed = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).to.equal(false);
    answer();
    await running;
    await closing;
    await until(() => upstream.sockets.size === 0);
  });

  it('loses no request and leaks no connection over 300 replacements under load', async () => {
    const upstream = await rawUpstream((socket) => socket.write(OK));
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    const running = new AbortController();
    let answers = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!running.signal.aborted) {
        expect(await get(gw.url)).to.include({ status: 200, body: 'ok' });
        answers++;
      }
    });
    for (let i = 0; i < 300; i++) {
      gw.upstreams.apply([snapshotOf(upstream.port)]);
      const before = answers;
      await until(() => answers > before);
    }
    running.abort();
    await Promise.all(load);
    await until(() => upstream.sockets.size <= 8);
    await gw.upstreams.close();
    await until(() => upstream.sockets.size === 0);
    expect(gw.stat('upstream_cx_active')).to.equal(0);
    expect(gw.stat('upstream_rq_active')).to.equal(0);
    expect(gw.outcomes.length).to.equal(answers);
  });

  it('responds with 503 for an address that cannot be tried, and can be closed', async () => {
    const endpoints = [{ address: 'a/\0b', port: 80, weight: 1 }];
    for (const tls of [false, true]) {
      const spec = { circuitBreakers: { maxConnections: 1 } };
      const gw = await gateway({ upstream: snapshotOf(80, { endpoints, spec, tls }) });
      const answers = await Promise.all([get(gw.url), get(gw.url)]);
      expect(answers.map(({ status }) => status)).to.deep.equal([503, 503]);
      expect(gw.stat('upstream_rq_active')).to.equal(0);
      await gw.upstreams.close();
    }
  });

  it('spreads requests over the endpoints by weight', async () => {
    const ports = await Promise.all(['a', 'b'].map((name) => httpUpstream((_req, res) => void res.end(name))));
    const endpoints = ports.map((port, i) => ({ address: '127.0.0.1', port, weight: i === 0 ? 3 : 1 }));
    const gw = await gateway({ upstream: snapshotOf(0, { endpoints }) });
    let names = '';
    for (let i = 0; i < 8; i++) names += (await get(gw.url)).body;
    expect(names).to.equal('aabaaaba');
  });

  it('uses the endpoint its caller picked', async () => {
    const ports = await Promise.all(['a', 'b'].map((name) => httpUpstream((_req, res) => void res.end(name))));
    const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    const gw = await gateway({ upstream: snapshotOf(0, { endpoints }), head: () => ({ endpoint: host }) });
    const host = hostsOf(gw).all[1];
    for (let i = 0; i < 3; i++) expect((await get(gw.url)).body).to.equal('b');
    expect(gw.outcomes[0]?.endpoint).to.equal(`127.0.0.1:${ports[1]}`);
  });

  it('uses no unhealthy host, unless less than half of the hosts are healthy', async () => {
    const ports = await Promise.all(['a', 'b', 'c'].map((name) => httpUpstream((_req, res) => void res.end(name))));
    const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    const gw = await gateway({ upstream: snapshotOf(0, { endpoints }) });
    const take = async (count: number): Promise<string> => {
      let names = '';
      for (let i = 0; i < count; i++) names += (await get(gw.url)).body;
      return [...names].sort().join('');
    };
    const hosts = hostsOf(gw).all;
    hosts[0]!.setFlag('failedActiveHc', true);
    expect(await take(4)).to.equal('bbcc');
    expect(gw.stat('membership_healthy')).to.equal(2);
    hosts[1]!.setFlag('failedOutlierCheck', true);
    expect(await take(3)).to.equal('abc');
    hosts[0]!.setFlag('failedActiveHc', false);
    expect(await take(4)).to.equal('aacc');
  });

  it('counts requests and connections of each host, and closes those of a removed one', async () => {
    const ports = await Promise.all(
      [200, 500].map((status) => httpUpstream((_, res) => void res.writeHead(status).end())),
    );
    const endpoints = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    const gw = await gateway({ upstream: snapshotOf(0, { endpoints }) });
    for (let i = 0; i < 4; i++) await get(gw.url);
    const counted = (index: number) => gw.upstreams.get('echo_gw-system')!.hostStates[index]!.counters;
    expect(counted(0)).to.include({ rq_total: 2, rq_success: 2, rq_error: 0, rq_active: 0, cx_total: 1, cx_active: 1 });
    expect(counted(1)).to.include({ rq_total: 2, rq_success: 0, rq_error: 2, cx_total: 1 });
    const hosts = hostsOf(gw);
    const [kept, removed] = hosts.all;
    hosts.update([endpoints[0]!]);
    await until(() => removed!.cxActive === 0);
    expect((await get(gw.url)).status).to.equal(200);
    expect(kept).to.include({ rqTotal: 3, cxTotal: 1 });
    expect(gw.stat('membership_total')).to.equal(1);
  });

  it('keeps the age of hosts when the upstream changes', () => {
    const upstreams = createUpstreams(createContext());
    const endpoints = [1, 2].map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    upstreams.apply([snapshotOf(0, { endpoints: endpoints.slice(0, 1) })]);
    hostsOf({ upstreams }).all[0]!.healthySince = -1000;
    upstreams.apply([snapshotOf(0, { endpoints })]);
    const [old, added] = hostsOf({ upstreams }).all;
    expect(old!.healthySince).to.equal(-1000);
    expect(added!.healthySince).to.be.above(0);
  });

  it('chooses a host that was not tried, if there is one', () => {
    const upstreams = createUpstreams(createContext());
    const endpoints = [1, 2].map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    upstreams.apply([snapshotOf(0, { endpoints })]);
    const upstream = upstreams.get('echo_gw-system')!;
    const first = upstream.pick()!;
    for (let i = 0; i < 4; i++) expect(upstream.pick({ excluded: new Set([first]) })).not.to.equal(first);
    expect(upstream.pick({ excluded: new Set([first, upstream.pick()!]) })).not.to.equal(undefined);
  });

  it('resolves names for each connection', async () => {
    const port = await httpUpstream((_req, res) => void res.end('by name'));
    const gw = await gateway({
      upstream: snapshotOf(port, { endpoints: [{ address: 'localhost', port, weight: 1 }] }),
    });
    expect((await get(gw.url)).body).to.equal('by name');
  });

  it('reaches an IPv6 endpoint', async function () {
    const server = createServer((_req, res) => void res.end('six'));
    const up = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(0, '::1', () => resolve(true));
    });
    if (!up) skip(this, 'this machine has no IPv6 loopback');
    whenDone(() => server.close());
    const { port } = server.address() as { port: number };
    const gw = await gateway({ upstream: snapshotOf(port, { endpoints: [{ address: '::1', port, weight: 1 }] }) });
    expect((await get(gw.url)).body).to.equal('six');
    expect(gw.outcomes[0]!.endpoint).to.equal(`[::1]:${port}`);
  });

  it('names an IPv6 endpoint in brackets when it cannot be reached', async () => {
    const gw = await gateway({ upstream: snapshotOf(1, { endpoints: [{ address: '::1', port: 1, weight: 1 }] }) });
    expect((await get(gw.url)).status).to.equal(503);
    expect(gw.outcomes[0]!.endpoint).to.equal('[::1]:1');
  });

  it('counts its members, and forgets the statistics of a removed upstream', () => {
    const context = createContext();
    const upstreams = createUpstreams(context);
    const endpoints = [1, 2].map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
    upstreams.apply([snapshotOf(1, { name: 'a', endpoints }), snapshotOf(3, { name: 'ab' })]);
    const value = (path: string): unknown => context.metrics.list().find((stat) => stat.name.path === path)?.stat;
    expect(value('cluster.a.membership_total')).to.deep.equal({ value: 2 });
    expect(value('cluster.a.membership_healthy')).to.deep.equal({ value: 2 });
    upstreams.apply([snapshotOf(3, { name: 'ab' })]);
    expect(value('cluster.a.membership_total')).to.equal(undefined);
    expect(value('cluster.ab.membership_total')).to.deep.equal({ value: 1 });
  });
});

async function serveFrom(
  upstream: NonNullable<ReturnType<ReturnType<typeof createUpstreams>['get']>>,
): Promise<string> {
  const { forward } = await import('../../src/forward/forward-request.ts');
  const server = createServer((req: IncomingMessage, res: ServerResponse) =>
    forward(req, res, upstream, {
      method: 'GET',
      path: '/',
      headers: ['host', 'a'],
      timeoutMs: 0,
      onResponseHead: (_status, headers) => headers,
      onDone: () => {},
    }),
  );
  const port = await listen(server);
  whenDone(() => server.close());
  return `http://127.0.0.1:${port}`;
}
