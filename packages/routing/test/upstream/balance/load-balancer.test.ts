import { expect } from 'chai';
import type { SnapshotUpstream } from '@edge-gateway/core';
import { LoadBalancer } from '../../../src/upstream/balance/load-balancer.ts';
import { loadSettings } from '../../../src/upstream/balance/load-settings.ts';
import { HostSet } from '../../../src/upstream/hosts/host-set.ts';

const ENDPOINTS = [1, 2].map((port) => ({ address: '10.0.0.1', port, weight: 1 }));

function created(loadBalancerConfig: SnapshotUpstream['spec']['loadBalancerConfig']) {
  const hosts = new HostSet();
  const balancer = new LoadBalancer(hosts, loadSettings({ spec: { loadBalancerConfig } }));
  hosts.update(ENDPOINTS);
  return { hosts, balancer };
}

describe('LoadBalancer', () => {
  it('applies changes of health at the next request', () => {
    const { hosts, balancer } = created({ updateMergeWindow: '3600s' });
    balancer.pick();
    hosts.all[0]!.setFlag('failedActiveHc', true);
    expect([balancer.pick(), balancer.pick()]).to.deep.equal([hosts.all[1], hosts.all[1]]);
  });

  it('merges them in updateMergeWindow for consistent hashing, but no new or removed hosts', () => {
    const { hosts, balancer } = created({ updateMergeWindow: '3600s', maglev: {} });
    const picked = balancer.pick({ hash: 7n })!;
    picked.setFlag('failedActiveHc', true);
    expect(balancer.pick({ hash: 7n })).to.equal(picked);
    hosts.update(ENDPOINTS.filter(({ port }) => port !== picked.port));
    expect(balancer.pick({ hash: 7n })).to.equal(hosts.all[0]);
  });

  it('merges them for a time by default', () => {
    const { balancer } = created({ maglev: {} });
    const picked = balancer.pick({ hash: 7n })!;
    picked.setFlag('failedActiveHc', true);
    expect(balancer.pick({ hash: 7n })).to.equal(picked);
  });

  it('applies them at once without a window', () => {
    const { balancer } = created({ updateMergeWindow: '0s', ringHash: {} });
    const picked = balancer.pick({ hash: 7n })!;
    picked.setFlag('failedActiveHc', true);
    expect(balancer.pick({ hash: 7n })).not.to.equal(picked);
  });

  it('does not favour the first host when the hosts change often', () => {
    const { hosts, balancer } = created({});
    const [first, second] = hosts.all;
    let picks = 0;
    for (let i = 0; i < 100; i++) {
      second!.setFlag('degraded', i % 2 === 0);
      second!.setFlag('degraded', false);
      if (balancer.pick() === first) picks++;
    }
    expect(picks).to.equal(50);
  });
});
