import { expect } from 'chai';
import { request, type ClientRequest, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createMetrics, type GatewayError } from '@edge-gateway/core';
import type { UpgradeOutcome } from '../../src/forward/forward.ts';
import { forwardUpgrade } from '../../src/forward/upgrade/forward-upgrade.ts';
import { createUpstreamCaller } from '../../src/upstream/call.ts';
import type { Cluster } from '../../src/upstream/cluster.ts';
import { ConnectionLimit, type LimitedPool } from '../../src/upstream/connection-limit.ts';
import {
  closeAll,
  gateway,
  httpUpstream,
  rawUpstream,
  snapshotOf,
  until,
  whenDone,
  type Gateway,
  type RawUpstream,
} from '../forward/harness.ts';
import { http2Upstream, type StreamHandler } from './http2/servers.ts';

const ECHO = { name: 'echo', namespace: 'gw-system' };

const ok: StreamHandler = (stream) => stream.respond({ ':status': 200 }, { endStream: true });

interface Backend {
  readonly port: number;
  /** Responses that are not sent yet. */
  readonly held: ServerResponse[];
  readonly connections: Set<unknown>;
}

async function holding(): Promise<Backend> {
  const held: ServerResponse[] = [];
  const connections = new Set<unknown>();
  const port = await httpUpstream((req, res) => {
    connections.add(req.socket);
    held.push(res);
  });
  return { port, held, connections };
}

function send(gw: Gateway): ClientRequest & { readonly status: Promise<number> } {
  const req = request(gw.url, { agent: false });
  const status = new Promise<number>((resolve) => {
    req.on('response', (res) => res.resume().on('end', () => resolve(res.statusCode!))).on('error', () => resolve(0));
  });
  return Object.assign(req.end(), { status });
}

describe('the limit of connections of a cluster', () => {
  let one: Backend;
  let other: Backend;
  let gw: Gateway;
  afterEach(closeAll);

  /** Serves two hosts in turn. */
  async function serving(maxConnections: number): Promise<void> {
    one = await holding();
    other = await holding();
    const endpoints = [one, other].map(({ port }) => ({ address: '127.0.0.1', port, weight: 1 }));
    gw = await gateway({
      upstream: snapshotOf(one.port, { endpoints, spec: { circuitBreakers: { maxConnections } } }),
    });
  }

  const isHeld = (count: number): boolean => one.held.length + other.held.length === count;

  it('applies to all hosts together', async () => {
    await serving(3);
    const sent = Array.from({ length: 8 }, () => send(gw));
    await until(() => isHeld(3) && gw.stat('upstream_rq_pending_active') === 5);
    expect([one.connections.size, other.connections.size].toSorted()).to.deep.equal([1, 2]);
    expect(gw.stat('upstream_cx_active')).to.equal(3);
    expect(gw.stat('upstream_cx_overflow')).to.equal(5);
    const timer = setInterval(() => [one, other].forEach(({ held }) => held.splice(0).forEach((res) => res.end())), 5);
    const statuses = await Promise.all(sent.map(({ status }) => status));
    clearInterval(timer);
    expect(statuses).to.deep.equal(Array.from({ length: 8 }, () => 200));
    expect(gw.stat('upstream_cx_total')).to.equal(3);
    expect(gw.stat('upstream_rq_pending_active')).to.equal(0);
  });

  it('allows one connection to each host', async () => {
    await serving(1);
    const sent = Array.from({ length: 4 }, () => send(gw));
    await until(() => isHeld(2) && gw.stat('upstream_rq_pending_active') === 2);
    expect([one.connections.size, other.connections.size]).to.deep.equal([1, 1]);
    expect(gw.stat('circuit_breakers.default.cx_open')).to.equal(1);
    for (const { held } of [one, other]) held.shift()!.end();
    await until(() => isHeld(2) && gw.stat('upstream_rq_pending_active') === 0);
    for (const { held } of [one, other]) held.shift()!.end();
    expect(await Promise.all(sent.map(({ status }) => status))).to.deep.equal([200, 200, 200, 200]);
    expect(gw.stat('upstream_cx_total')).to.equal(2);
  });

  it('takes the place of an idle connection to another host', async () => {
    await serving(2);
    for (let i = 0; i < 2; i++) {
      const sent = send(gw);
      await until(() => isHeld(1));
      for (const { held } of [one, other]) held.splice(0).forEach((res) => res.end());
      expect(await sent.status).to.equal(200);
    }
    expect([one.connections.size, other.connections.size]).to.deep.equal([1, 1]);
    // Health checks found that one host has failed: its connection is idle and would stay for an hour.
    const { hosts } = gw.upstreams.get('echo_gw-system') as Cluster;
    hosts.all[0]!.setFlag('failedOutlierCheck', true);
    const sent = [send(gw), send(gw)];
    await until(() => other.held.length === 2);
    expect(gw.stat('upstream_cx_active')).to.equal(2);
    expect(gw.stat('upstream_cx_overflow')).to.equal(0);
    for (const res of other.held) res.end();
    expect(await Promise.all(sent.map(({ status }) => status))).to.deep.equal([200, 200]);
  });

  it('closes the idle connections to a host that fails its health checks', async () => {
    await serving(10);
    const sent = [send(gw), send(gw)];
    await until(() => isHeld(2));
    for (const { held } of [one, other]) held.splice(0).forEach((res) => res.end());
    await Promise.all(sent.map(({ status }) => status));
    expect(gw.stat('upstream_cx_active')).to.equal(2);
    const { hosts } = gw.upstreams.get('echo_gw-system') as Cluster;
    hosts.all[0]!.setFlag('failedActiveHc', true);
    expect(gw.stat('upstream_cx_active')).to.equal(1);
    expect(hosts.all.map(({ cxActive }) => cxActive)).to.deep.equal([0, 1]);
  });

  it('lets requests over HTTP/2 take the place of an idle connection to another host', async () => {
    const servers = [await http2Upstream(ok), await http2Upstream(ok)];
    const endpoints = servers.map(({ port }) => ({ address: '127.0.0.1', port, weight: 1 }));
    const spec = { useHttp2: true, maxConcurrentStreams: 1, circuitBreakers: { maxConnections: 2 } };
    gw = await gateway({ upstream: snapshotOf(endpoints[0]!.port, { endpoints, spec }) });
    for (let i = 0; i < 2; i++) expect(await send(gw).status).to.equal(200);
    expect(servers.map(({ sessions }) => sessions.size)).to.deep.equal([1, 1]);
    const { hosts } = gw.upstreams.get('echo_gw-system') as Cluster;
    hosts.all[0]!.setFlag('failedOutlierCheck', true);
    const sent = [send(gw), send(gw)];
    expect(await Promise.all(sent.map(({ status }) => status))).to.deep.equal([200, 200]);
    await until(() => servers[0]!.sessions.size === 0);
  });

  it('lets requests to another host open a connection when one is closed', async () => {
    await serving(3);
    const sent = Array.from({ length: 4 }, () => send(gw));
    await until(() => isHeld(3) && gw.stat('upstream_rq_pending_active') === 1);
    const [full, waiting] = one.held.length === 2 ? [one, other] : [other, one];
    full.held[0]!.socket!.destroy();
    await until(() => waiting.held.length === 2);
    expect(waiting.connections.size).to.equal(2);
    expect(gw.stat('upstream_cx_active')).to.equal(3);
    for (const res of [full.held[1]!, ...waiting.held]) res.end();
    const statuses = await Promise.all(sent.map(({ status }) => status));
    expect(statuses.toSorted()).to.deep.equal([200, 200, 200, 503]);
  });

  it('counts no connection for a request that was served when an idle one to another host was closed', async () => {
    await serving(1);
    const first = [send(gw), send(gw)];
    await until(() => isHeld(2));
    const { hosts } = gw.upstreams.get('echo_gw-system') as Cluster;
    hosts.all[1]!.setFlag('failedOutlierCheck', true);
    const waiting = send(gw);
    await until(() => gw.stat('upstream_rq_pending_active') === 1);
    other.held[0]!.end();
    await until(() => gw.outcomes.length === 1);
    // Its place is free, and the one of the idle connection as well.
    one.held[0]!.socket!.destroy();
    await until(() => one.held.length === 2);
    const { socket } = one.held[1]!;
    one.held[1]!.end();
    const statuses = await Promise.all([...first, waiting].map(({ status }) => status));
    expect(statuses.toSorted()).to.deep.equal([200, 200, 503]);
    socket!.destroy();
    await until(() => gw.stat('upstream_cx_active') === 0);
    expect(gw.stat('circuit_breakers.default.cx_open')).to.equal(0);
  });

  describe('counts upgrades', () => {
    const HANDSHAKE = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n';
    const ACCEPTED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n';
    let upstream: RawUpstream;
    let outcomes: UpgradeOutcome[];

    /** Serves one host that accepts upgrades, and does not respond to other requests. */
    async function upgrading(circuitBreakers: object, port?: number): Promise<void> {
      upstream = await rawUpstream((socket, request) => {
        if (request.includes('websocket')) socket.write(ACCEPTED);
      });
      gw = await gateway({ upstream: snapshotOf(port ?? upstream.port, { spec: { circuitBreakers } }) });
      outcomes = [];
      gw.server.on('upgrade', (req, socket, head) =>
        forwardUpgrade(req, socket, head, {
          upstream: gw.upstreams.get('echo_gw-system')!,
          path: '/',
          headers: ['host', 'a'],
          onDone: (outcome) => void outcomes.push(outcome),
        }),
      );
    }

    /** Sends a handshake; `text` is what was received. */
    function upgrade(): { readonly socket: Socket; text: string } {
      const socket = connect(gw.port, '127.0.0.1');
      const client = { socket, text: '' };
      socket.on('error', () => {}).on('data', (chunk) => (client.text += chunk.toString('latin1')));
      socket.write(HANDSHAKE);
      whenDone(() => socket.destroy());
      return client;
    }

    const isUpgraded = ({ text }: { readonly text: string }): boolean => text.startsWith('HTTP/1.1 101 ');
    const isOpen = (): number => gw.stat('circuit_breakers.default.cx_open');

    it('so that further upgrades wait for the end of one', async () => {
      await upgrading({ maxConnections: 1, trackRemaining: true });
      expect([isOpen(), gw.stat('circuit_breakers.default.remaining_cx')]).to.deep.equal([0, 1]);
      const first = upgrade();
      await until(() => isUpgraded(first));
      expect(gw.stat('upstream_cx_active')).to.equal(1);
      expect([isOpen(), gw.stat('circuit_breakers.default.remaining_cx')]).to.deep.equal([1, 0]);
      const second = upgrade();
      await until(() => gw.stat('upstream_rq_pending_active') === 1);
      expect([upstream.connections, gw.stat('upstream_cx_overflow')]).to.deep.equal([1, 1]);
      first.socket.destroy();
      await until(() => isUpgraded(second));
      expect([upstream.connections, gw.stat('upstream_rq_pending_active')]).to.deep.equal([2, 0]);
      second.socket.destroy();
      await until(() => isOpen() === 0 && gw.stat('upstream_cx_active') === 0);
    });

    it('so that requests wait for the end of one, and the other way round', async () => {
      await upgrading({ maxConnections: 1 });
      const first = upgrade();
      await until(() => isUpgraded(first));
      const request = send(gw);
      await until(() => gw.stat('upstream_rq_pending_active') === 1);
      const second = upgrade();
      await until(() => gw.stat('upstream_rq_pending_active') === 2);
      first.socket.destroy();
      await until(() => upstream.requests.length === 2);
      expect([upstream.connections, isUpgraded(second)]).to.deep.equal([2, false]);
      [...upstream.sockets].at(-1)!.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      expect(await request.status).to.equal(200);
      await until(() => isUpgraded(second));
      expect(upstream.connections).to.equal(3);
    });

    it('and closes an idle connection for one', async () => {
      await upgrading({ maxConnections: 1 });
      const request = send(gw);
      await until(() => upstream.requests.length === 1);
      [...upstream.sockets][0]!.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      expect(await request.status).to.equal(200);
      const first = upgrade();
      await until(() => isUpgraded(first) && upstream.sockets.size === 1);
      expect(gw.stat('upstream_cx_active')).to.equal(1);
    });

    it('and rejects those that would wait behind too many', async () => {
      await upgrading({ maxConnections: 1, maxPendingRequests: 1 });
      const first = upgrade();
      await until(() => isUpgraded(first));
      upgrade();
      await until(() => gw.stat('upstream_rq_pending_active') === 1);
      const third = upgrade();
      await until(() => third.text.includes('reset reason: overflow'));
      expect(third.text).to.match(/^HTTP\/1\.1 503 /);
      expect(gw.stat('upstream_rq_pending_overflow')).to.equal(1);
      third.socket.destroy();
      await until(() => outcomes.length === 1);
      expect(outcomes[0]).to.include({ status: 503, flags: 'UO' });
    });

    it('and forgets those whose client leaves while they wait', async () => {
      await upgrading({ maxConnections: 1 });
      const first = upgrade();
      await until(() => isUpgraded(first));
      const second = upgrade();
      await until(() => gw.stat('upstream_rq_pending_active') === 1);
      second.socket.destroy();
      await until(() => gw.stat('upstream_rq_pending_active') === 0 && outcomes.length === 1);
      expect(outcomes[0]).to.include({ status: 0, flags: 'DC' });
      first.socket.destroy();
      await until(() => isOpen() === 0);
      expect(upstream.connections).to.equal(1);
    });

    it('and frees the place of one that could not connect', async () => {
      await upgrading({ maxConnections: 1 }, 1);
      for (let i = 0; i < 2; i++) {
        const client = upgrade();
        await until(() => client.text.startsWith('HTTP/1.1 503 '));
        expect([isOpen(), gw.stat('upstream_cx_connect_fail')]).to.deep.equal([0, i + 1]);
      }
    });

    it('and single connections of other protocols, which do not wait', async () => {
      await upgrading({ maxConnections: 1 });
      const { connect: open } = createUpstreamCaller(gw.upstreams);
      const { socket } = await open!(ECHO);
      expect([isOpen(), gw.stat('upstream_cx_active')]).to.deep.equal([1, 1]);
      const error = await open!(ECHO).then(
        () => undefined,
        (reason: GatewayError) => reason,
      );
      expect(error).to.include({ status: 503, code: 'ERR_ROUTING_UPSTREAM_OVERFLOW' });
      socket.destroy();
      await until(() => isOpen() === 0);
      (await open!(ECHO)).socket.destroy();
    });
  });
});

describe('the pool of a host that leaves its cluster', () => {
  afterEach(closeAll);

  for (const useHttp2 of [false, true])
    it(`is removed from the limit of connections over HTTP/${useHttp2 ? 2 : 1}`, async () => {
      const port = useHttp2 ? (await http2Upstream(ok)).port : await httpUpstream((_req, res) => void res.end());
      const gw = await gateway({ upstream: snapshotOf(port, { spec: { useHttp2 } }) });
      const { connections } = (gw.upstreams.get('echo_gw-system') as Cluster).breakers;
      const removed: LimitedPool[] = [];
      const remove = connections.remove.bind(connections);
      connections.remove = (pool) => {
        removed.push(pool);
        remove(pool);
      };
      expect(await send(gw).status).to.equal(200);
      gw.upstreams.apply([]);
      await until(() => removed.length > 0);
    });
});

describe('a limit of connections', () => {
  /** A pool with `idle` connections that counts how often it is served. */
  function poolOf(limit: ConnectionLimit, idle = 0) {
    const pool = {
      idle,
      served: 0,
      serveWaiting: () => void pool.served++,
      closeIdle() {
        if (pool.idle === 0) return false;
        pool.idle--;
        limit.free();
        return true;
      },
    } satisfies LimitedPool & { idle: number; served: number };
    limit.add(pool);
    return pool;
  }
  const limitOf = (max: number): ConnectionLimit =>
    new ConnectionLimit(max, createMetrics().counter({ path: 'overflow', metric: 'overflow' }));

  it('serves a pool once for each time that it waits', () => {
    const limit = limitOf(2);
    const [one, other] = [poolOf(limit), poolOf(limit)];
    limit.wait(one);
    limit.wait(other);
    limit.wake();
    limit.wake();
    expect([one.served, other.served]).to.deep.equal([1, 1]);
    limit.wait(one);
    limit.wake();
    expect([one.served, other.served]).to.deep.equal([2, 1]);
  });

  it('closes one idle connection for a further one', () => {
    const limit = limitOf(3);
    for (let i = 0; i < 3; i++) limit.reserve(false);
    const pools = [poolOf(limit), poolOf(limit, 2), poolOf(limit, 1)];
    expect(limit.reserve(false)).to.equal(true);
    expect(pools.map(({ idle }) => idle)).to.deep.equal([0, 1, 1]);
    expect(limit.open).to.equal(3);
  });

  it('closes no connection of a pool that is removed', () => {
    const limit = limitOf(1);
    limit.reserve(true);
    const pool = poolOf(limit, 1);
    limit.remove(pool);
    expect(limit.reserve(false)).to.equal(false);
    expect(pool.idle).to.equal(1);
  });
});
