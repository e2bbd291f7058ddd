import { expect } from 'chai';
import type { Endpoint, SnapshotUpstream } from '@edge-gateway/core';
import type { Cluster } from '../../../src/upstream/cluster.ts';
import { closeAll, gateway, get, httpUpstream, snapshotOf, until } from '../../forward/harness.ts';

async function servers(count: number): Promise<Endpoint[]> {
  const ports = await Promise.all(
    Array.from({ length: count }, (_, i) => httpUpstream((_req, res) => void res.end(`host ${i}`))),
  );
  return ports.map((port) => ({ address: '127.0.0.1', port, weight: 1 }));
}

async function clusterOf(endpoints: readonly Endpoint[], spec: SnapshotUpstream['spec']) {
  const gw = await gateway({ upstream: snapshotOf(0, { endpoints, spec }) });
  const cluster = gw.upstreams.get('echo_gw-system') as Cluster;
  return { gw, cluster, hosts: cluster.hosts };
}

describe('an upstream', () => {
  afterEach(closeAll);

  it('sends requests to failover endpoints when its own are not healthy', async () => {
    const [own, other] = await servers(2);
    const { gw, hosts } = await clusterOf([own!, { ...other!, priority: 1 }], {});
    expect((await get(gw.url)).body).to.equal('host 0');
    hosts.all[0]!.setFlag('failedActiveHc', true);
    expect((await get(gw.url)).body).to.equal('host 1');
    hosts.all[0]!.setFlag('failedActiveHc', false);
    expect((await get(gw.url)).body).to.equal('host 0');
  });

  it('responds with 503 if no host is healthy and there is no panic', async () => {
    const { gw, hosts } = await clusterOf(await servers(1), { loadBalancerConfig: { healthyPanicThreshold: 0 } });
    hosts.all[0]!.setFlag('failedActiveHc', true);
    expect((await get(gw.url)).status).to.equal(503);
    expect(gw.outcomes[0]).to.include({ flags: 'UH' });
  });

  it('closes all connections when its hosts change, with closeConnectionsOnHostSetChange', async () => {
    const endpoints = await servers(2);
    for (const closes of [true, false]) {
      const spec = { loadBalancerConfig: { closeConnectionsOnHostSetChange: closes } };
      const { gw, hosts } = await clusterOf(endpoints.slice(0, 1), spec);
      await get(gw.url);
      const [first] = hosts.all;
      expect(first!.cxActive).to.equal(1);
      hosts.update(endpoints);
      if (closes) await until(() => first!.cxActive === 0);
      for (let i = 0; i < 2; i++) expect((await get(gw.url)).status).to.equal(200);
      expect(first!.cxTotal).to.equal(closes ? 2 : 1);
      await gw.upstreams.close();
    }
  });

  it('keeps a removed host that is healthy, unless ignoreHealthOnHostRemoval is set', async () => {
    const endpoints = await servers(2);
    const check = { timeout: '1s', interval: '3600s', healthyThreshold: 1, unhealthyThreshold: 1, tcpHealthCheck: {} };
    const kept = await clusterOf(endpoints, { healthChecks: [check] });
    const removed = await clusterOf(endpoints, { healthChecks: [check], ignoreHealthOnHostRemoval: true });
    const unchecked = await clusterOf(endpoints, {});
    for (const { hosts } of [kept, removed, unchecked]) {
      for (const host of hosts.all) host.setFlag('failedActiveHc', false);
      hosts.update(endpoints.slice(0, 1));
    }
    expect(kept.hosts.all).to.have.length(2);
    expect(removed.hosts.all).to.have.length(1);
    expect(unchecked.hosts.all).to.have.length(1);
    kept.hosts.all[1]!.setFlag('failedActiveHc', true);
    expect(kept.hosts.all).to.have.length(1);
  });
});
