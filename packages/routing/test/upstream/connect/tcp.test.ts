import { expect } from 'chai';
import { connect, Socket } from 'node:net';
import type { Cluster } from '../../../src/upstream/cluster.ts';
import { compileKeepAlive, tuneSocket } from '../../../src/upstream/connect/keep-alive.ts';
import type { Host } from '../../../src/upstream/hosts/host.ts';
import {
  closeAll,
  gateway,
  get,
  httpUpstream,
  rawUpstream,
  snapshotOf,
  until,
  whenDone,
} from '../../forward/harness.ts';

describe('TCP keep-alive to upstreams', () => {
  it('rounds times up to seconds, and has defaults', () => {
    expect(compileKeepAlive(undefined)).to.deep.equal({ idleMs: 60_000, intervalMs: 1000, probes: 10 });
    const written = { keepaliveTime: '1.2s', keepaliveInterval: '0.1s', keepaliveProbes: 3 };
    expect(compileKeepAlive(written)).to.deep.equal({ idleMs: 2000, intervalMs: 1000, probes: 3 });
    const zero = { keepaliveTime: '0s', keepaliveInterval: '0s', keepaliveProbes: 0 };
    expect(compileKeepAlive(zero)).to.deep.equal(compileKeepAlive(undefined));
  });

  it('is passed to the socket', () => {
    const socket = new Socket();
    let passed: unknown[] = [];
    socket.setKeepAlive = (...values: unknown[]) => {
      passed = values;
      return socket;
    };
    tuneSocket(socket, { idleMs: 2000, intervalMs: 3000, probes: 4 });
    expect(passed).to.deep.equal([true, 2000, 3000, 4]);
  });
});

describe('preconnectPolicy', () => {
  afterEach(closeAll);

  it('opens connections ahead of requests, within the limit, and uses them', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const preconnectPolicy = { perUpstreamPreconnectRatio: 3 };
    const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec: { preconnectPolicy } }) });
    expect((await get(gw.url)).body).to.equal('ok');
    await until(() => gw.stat('upstream_cx_active') === 3, 'two more connections');
    expect((await get(gw.url)).body).to.equal('ok');
    expect([upstream.connections, gw.stat('upstream_cx_total')]).to.deep.equal([3, 3]);
  });

  it('opens no more than maxConnections', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const spec = { preconnectPolicy: { predictivePreconnectRatio: 3 }, circuitBreakers: { maxConnections: 2 } };
    const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec }) });
    for (let i = 0; i < 5; i++) expect((await get(gw.url)).body).to.equal('ok');
    await until(() => gw.stat('upstream_cx_active') === 2, 'both connections');
    expect(upstream.connections).to.equal(2);
  });

  it('opens none to a host that was removed', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const snapshot = snapshotOf(upstream.port, { spec: { preconnectPolicy: { perUpstreamPreconnectRatio: 3 } } });
    let endpoint: Host | undefined;
    const gw = await gateway({ upstream: snapshot, head: () => ({ endpoint: endpoint! }) });
    const cluster = gw.upstreams.get(snapshot.name) as Cluster;
    endpoint = cluster.pick()!;
    cluster.hosts.remove(endpoint);
    expect((await get(gw.url)).body).to.equal('ok');
    // Others would be open before the response, and closed at once.
    expect(gw.stat('upstream_cx_total')).to.equal(1);
  });

  it('does not repeat connections that fail', async () => {
    const preconnectPolicy = { perUpstreamPreconnectRatio: 2 };
    const gw = await gateway({ upstream: snapshotOf(1, { spec: { preconnectPolicy } }) });
    expect((await get(gw.url)).status).to.equal(503);
    await until(() => gw.stat('upstream_cx_connect_fail') === 2, 'both attempts failed');
    expect((await get(gw.url)).status).to.equal(503);
    await until(() => gw.stat('upstream_cx_connect_fail') === 4, 'two more');
  });
});

describe('perConnectionBufferLimitBytes', () => {
  afterEach(closeAll);

  it('lets that much of a response wait for a slow client', async () => {
    const SIZE = 32 * 1024 * 1024;
    const sent: Record<string, number> = {};
    const port = await httpUpstream((req, res) => {
      res.setHeader('content-length', SIZE);
      const chunk = Buffer.alloc(65_536);
      const write = (): void => {
        while ((sent[req.url!] ?? 0) < SIZE) {
          sent[req.url!] = (sent[req.url!] ?? 0) + chunk.length;
          if (!res.write(chunk)) return void res.once('drain', write);
        }
        res.end();
      };
      write();
    });
    const limited = async (path: string, perConnectionBufferLimitBytes?: number): Promise<void> => {
      const spec = { connectionConfig: { perConnectionBufferLimitBytes } };
      const gw = await gateway({ upstream: snapshotOf(port, { spec }) });
      const client = connect(gw.port, '127.0.0.1').pause();
      whenDone(() => client.destroy());
      client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    };
    await limited('/large', SIZE * 2);
    await until(() => sent['/large'] === SIZE, 'the whole response is buffered');
    await limited('/default');
    await until(() => (sent['/default'] ?? 0) > 0);
    let before = -1;
    await until(() => {
      const same = sent['/default'] === before;
      before = sent['/default']!;
      return same;
    }, 'the upstream is paused');
    expect(sent['/default']).to.be.lessThan(SIZE);
  });
});
