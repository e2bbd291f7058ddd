import { createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { HostSet } from '../../../src/upstream/hosts/host-set.ts';
import type { HealthFlag } from '../../../src/upstream/hosts/health-flags.ts';
import { Membership } from '../../../src/upstream/hosts/membership.ts';
import { createClusterStats } from '../../../src/upstream/stats.ts';

function counted(flags: readonly (HealthFlag | undefined)[], isUsable = true) {
  const hosts = new HostSet();
  hosts.update(flags.map((_, port) => ({ address: '10.0.0.1', port, weight: 1 })));
  for (const [i, flag] of flags.entries()) if (flag) hosts.all[i]!.setFlag(flag, true);
  const stats = createClusterStats(createMetrics(), 'a');
  const membership = new Membership(hosts, stats, () => isUsable);
  membership.count();
  const values = (): number[] => [
    stats.membershipTotal.value,
    stats.membershipHealthy.value,
    stats.membershipDegraded.value,
    stats.membershipExcluded.value,
  ];
  return { membership, hosts, values };
}

describe('the counts of hosts', () => {
  it('are by health, each host in one of them', () => {
    const flags = [undefined, 'degraded', 'failedActiveHc', 'failedOutlierCheck', 'pendingActiveHc', 'excludedByHost'];
    expect(counted(flags as (HealthFlag | undefined)[]).values()).to.deep.equal([6, 1, 1, 2]);
  });

  it('count no host as healthy in an upstream that cannot be used', () => {
    expect(counted([undefined, 'degraded', 'pendingActiveHc'], false).values()).to.deep.equal([3, 0, 0, 1]);
  });

  it('follow changes of health, once for all that happen together', async () => {
    const { membership, hosts, values } = counted([undefined, undefined]);
    for (const host of hosts.all) {
      host.setFlag('failedOutlierCheck', true);
      membership.healthChanged();
    }
    expect(values()).to.deep.equal([2, 2, 0, 0]);
    await Promise.resolve();
    expect(values()).to.deep.equal([2, 0, 0, 0]);
  });
});
