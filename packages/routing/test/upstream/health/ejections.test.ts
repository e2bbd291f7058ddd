import { createServer as createNetServer, type Socket } from 'node:net';
import { createServer as createHttpsServer } from 'node:https';
import type { Server } from 'node:net';
import { createContext, silentLoggers, type Endpoint, type SnapshotUpstream } from '@edge-gateway/core';
import { expect } from 'chai';
import type { OutlierDetection } from '../../../src/upstream/health/health-spec.ts';
import { closeAll, gateway, get, httpUpstream, listen, snapshotOf, until, whenDone } from '../../forward/harness.ts';
import { certificates, secretsOf } from '../certificates.ts';

const EJECT: OutlierDetection = {
  interval: '0.05s',
  baseEjectionTime: '1s',
  consecutive5xx: 3,
  maxEjectionPercent: 50,
};

function ejecting(ports: readonly number[], outlierDetection: OutlierDetection, parts: Partial<SnapshotUpstream> = {}) {
  const endpoints: Endpoint[] = ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
  return snapshotOf(0, { endpoints, spec: { outlierDetection, ...parts.spec }, tls: parts.tls ?? false });
}

describe('ejections of hosts', () => {
  afterEach(closeAll);

  it('stop requests to a host that fails, and return it to service', async () => {
    let status = 500;
    let served = 0;
    const bad = await httpUpstream((_req, res) => void (served++, res.writeHead(status).end('bad')));
    const good = await httpUpstream((_req, res) => void res.end('good'));
    const gw = await gateway({
      upstream: ejecting([bad, good], EJECT),
      context: createContext({ log: silentLoggers }),
    });
    const states = () => gw.upstreams.get('echo_gw-system')!.hostStates;
    for (let i = 0; i < 6; i++) await get(gw.url);
    expect(states()[0]!.healthFlags).to.deep.equal(['failed_outlier_check']);
    expect(gw.stat('outlier_detection.ejections_active')).to.equal(1);
    expect(gw.stat('outlier_detection.ejections_enforced_consecutive_5xx')).to.equal(1);
    expect(gw.stat('membership_healthy')).to.equal(1);
    served = 0;
    for (let i = 0; i < 6; i++) expect((await get(gw.url)).body).to.equal('good');
    expect(served).to.equal(0);
    status = 200;
    await until(() => states()[0]!.healthFlags.length === 0, 'returned');
    for (let i = 0; i < 4; i++) await get(gw.url);
    expect(served).to.be.above(0);
  });

  it('eject a black hole after N requests, each of which ends by the connect timeout', async () => {
    const silent = new Set<Socket>();
    const hole = createNetServer((socket) => void silent.add(socket.on('error', () => {})));
    const holePort = await listen(hole);
    const { ca, server } = certificates();
    const good = createHttpsServer(server, (_req, res) => void res.end('good'));
    const goodPort = await listen(good as unknown as Server);
    whenDone(() => {
      for (const socket of silent) socket.destroy();
      hole.close();
      good.closeAllConnections();
      good.close();
    });
    const secrets = secretsOf({});
    secrets.set('tls', { 'ca.crt': ca });
    const connectionConfig = { connectTimeout: '0.5s' };
    const spec = { sslConfig: { secretRef: { name: 'tls' }, sni: 'api.example.com' }, connectionConfig };
    const upstream = ejecting([holePort, goodPort], { ...EJECT, baseEjectionTime: '60s' }, { tls: true, spec });
    const gw = await gateway({ upstream, context: createContext({ log: silentLoggers, secrets }) });
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) statuses.push((await get(gw.url)).status);
    expect(statuses.filter((status) => status >= 503)).to.have.length(3);
    expect(statuses.filter((status) => status === 200)).to.have.length(17);
    expect(gw.upstreams.get(upstream.name)!.hostStates[0]!.counters).to.include({ rq_error: 3, rq_success: 0 });
    expect(statuses.slice(-12).every((status) => status === 200)).to.equal(true);
  });

  it('keep over a reload that leaves the host unchanged', async () => {
    const bad = await httpUpstream((_req, res) => void res.writeHead(500).end());
    const good = await httpUpstream((_req, res) => void res.end('good'));
    const upstream = ejecting([bad, good], { ...EJECT, baseEjectionTime: '60s' });
    const gw = await gateway({ upstream, context: createContext({ log: silentLoggers }) });
    for (let i = 0; i < 6; i++) await get(gw.url);
    gw.upstreams.apply([{ ...upstream, endpoints: [...upstream.endpoints] }]);
    expect(gw.upstreams.get(upstream.name)!.hostStates[0]!.healthFlags).to.deep.equal(['failed_outlier_check']);
    expect(gw.stat('outlier_detection.ejections_active')).to.equal(1);
  });

  it('end when an active health check passes', async () => {
    let status = 500;
    const port = await httpUpstream((req, res) => void res.writeHead(req.url === '/health' ? 200 : status).end());
    const upstream = ejecting(
      [port],
      { ...EJECT, baseEjectionTime: '60s', consecutive5xx: 1 },
      {
        spec: {
          healthChecks: [
            {
              timeout: '1s',
              interval: '0.5s',
              noTrafficInterval: '0.5s',
              healthyThreshold: 1,
              unhealthyThreshold: 1,
              httpHealthCheck: { path: '/health' },
            },
          ],
        },
      },
    );
    const gw = await gateway({ upstream, context: createContext({ log: silentLoggers }) });
    const flags = () => gw.upstreams.get(upstream.name)!.hostStates[0]!.healthFlags;
    await until(() => flags().length === 0);
    await get(gw.url);
    expect(flags()).to.deep.equal(['failed_outlier_check']);
    status = 200;
    await until(() => flags().length === 0, 'returned by a check');
    expect(gw.stat('outlier_detection.ejections_active')).to.equal(0);
  });

  it('are immediate if a response asks for it, until a check passes', async () => {
    let failing = true;
    const port = await httpUpstream((req, res) => {
      if (req.url !== '/health') res.setHeader('x-envoy-immediate-health-check-fail', 'true');
      res.writeHead(req.url === '/health' && failing ? 503 : 200).end();
    });
    const check = {
      timeout: '1s',
      interval: '0.05s',
      noTrafficInterval: '0.05s',
      healthyThreshold: 1,
      unhealthyThreshold: 1,
      httpHealthCheck: { path: '/health' },
    };
    const upstream = snapshotOf(port, { spec: { healthChecks: [check] } });
    const gw = await gateway({ upstream, context: createContext({ log: silentLoggers }) });
    const flags = () => gw.upstreams.get(upstream.name)!.hostStates[0]!.healthFlags;
    failing = false;
    await until(() => flags().length === 0, 'healthy');
    failing = true;
    await get(gw.url);
    expect(flags()).to.deep.equal(['failed_active_hc', 'excluded_via_immediate_hc_fail']);
    expect(gw.stat('health_check.passive_failure')).to.equal(1);
    failing = false;
    await until(() => flags().length === 0, 'healthy again');
  });
});
