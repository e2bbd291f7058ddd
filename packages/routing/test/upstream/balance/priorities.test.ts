import { expect } from 'chai';
import { loadSettings } from '../../../src/upstream/balance/load-settings.ts';
import { byPriority, priorityLoads } from '../../../src/upstream/balance/priority-load.ts';
import type { Host } from '../../../src/upstream/hosts/host.ts';
import { balancerOf, countPicks, hostsOf, tolerance } from './hosts.ts';

const REQUESTS = 20_000;

/** Ten hosts of each priority, of which these are healthy. */
function tens(...healthy: readonly number[]): readonly Host[] {
  const hosts = hostsOf(healthy.flatMap((_, priority) => Array.from({ length: 10 }, () => ({ priority }))));
  hosts.forEach((host, i) => {
    if (i % 10 >= healthy[host.priority]!) host.setFlag('failedActiveHc', true);
  });
  return hosts;
}

function loadsOf(hosts: readonly Host[], spec = {}, without?: ReadonlySet<number>): number[] {
  return priorityLoads(byPriority(hosts), loadSettings({ spec }), without).map(({ healthy }) => healthy);
}

describe('priorities', () => {
  it('receive the shares of the Envoy documentation for the overprovisioning factor 140', () => {
    const table: readonly (readonly [readonly number[], readonly number[]])[] = [
      [
        [10, 10, 10],
        [100, 0, 0],
      ],
      [
        [8, 10, 10],
        [100, 0, 0],
      ],
      [
        [7, 10, 10],
        [98, 2, 0],
      ],
      [
        [5, 10, 10],
        [70, 30, 0],
      ],
      [
        [1, 10, 10],
        [14, 86, 0],
      ],
      [
        [0, 10, 10],
        [0, 100, 0],
      ],
      [
        [5, 5, 10],
        [70, 30, 0],
      ],
      [
        [2, 2, 10],
        [28, 28, 44],
      ],
      [
        [0, 0, 1],
        [0, 0, 100],
      ],
      [
        [1, 1, 1],
        [34, 33, 33],
      ],
    ];
    for (const [healthy, loads] of table) {
      const share = loadsOf(tens(...healthy), { loadBalancerConfig: { healthyPanicThreshold: 0 } });
      expect(share, healthy.join()).to.deep.equal(loads);
    }
  });

  it('follow the overprovisioning factor', () => {
    const failover = { policy: { overprovisioningFactor: 100 } };
    expect(loadsOf(tens(8, 10), { failover })).to.deep.equal([80, 20]);
  });

  it('are skipped if they were tried, unless all were', () => {
    const hosts = tens(10, 10);
    expect(loadsOf(hosts, {}, new Set([0]))).to.deep.equal([0, 100]);
    expect(loadsOf(hosts, {}, new Set([0, 1]))).to.deep.equal([100, 0]);
    const pick = balancerOf(hosts);
    expect(pick({ excludedPriorities: new Set([0]) })?.priority).to.equal(1);
    expect(pick({ excludedPriorities: new Set([0, 1]) })?.priority).to.equal(0);
  });

  it('share the requests when the first one is not healthy enough', () => {
    const hosts = tens(5, 10);
    const counts = countPicks(balancerOf(hosts), hosts, REQUESTS);
    const first = counts.slice(0, 5).reduce((sum, count) => sum + count, 0);
    expect(first).to.be.closeTo(REQUESTS * 0.7, tolerance(REQUESTS, 0.7));
    expect(counts.slice(5, 10)).to.deep.equal([0, 0, 0, 0, 0]);
  });

  it('use degraded hosts for what the healthy ones cannot take', () => {
    const hosts = hostsOf([{}, {}, { priority: 1 }]);
    hosts[0]!.setFlag('degraded', true);
    hosts[2]!.setFlag('failedActiveHc', true);
    const [degraded, healthy] = countPicks(balancerOf(hosts), hosts, REQUESTS);
    expect(healthy).to.be.closeTo(REQUESTS * 0.7, tolerance(REQUESTS, 0.7));
    expect(degraded).to.equal(REQUESTS - healthy!);
  });

  it('use healthy hosts for the first shares of the hashes, and degraded ones for the last', () => {
    const hosts = hostsOf([{}, {}]);
    hosts[0]!.setFlag('degraded', true);
    const pick = balancerOf(hosts);
    expect([0n, 69n, 70n, 99n].map((hash) => pick({ hash }))).to.deep.equal([hosts[1], hosts[1], hosts[0], hosts[0]]);
  });

  describe('panic', () => {
    it('uses all hosts below the threshold', () => {
      const hosts = hostsOf([{}, {}, {}, {}]);
      for (const host of hosts.slice(1)) host.setFlag('failedActiveHc', true);
      expect(countPicks(balancerOf(hosts), hosts, 40)).to.deep.equal([10, 10, 10, 10]);
      const spec = { loadBalancerConfig: { healthyPanicThreshold: 25 } };
      expect(countPicks(balancerOf(hosts, spec), hosts, 40)).to.deep.equal([40, 0, 0, 0]);
    });

    it('does not begin while other priorities can take the requests', () => {
      const hosts = tens(1, 10);
      const counts = countPicks(balancerOf(hosts), hosts, 1000);
      expect(counts.slice(1, 10).every((count) => count === 0)).to.equal(true);
    });

    it('distributes by size if every priority is in panic', () => {
      const hosts = hostsOf([{}, {}, {}, { priority: 1 }]);
      for (const host of hosts) host.setFlag('failedActiveHc', true);
      const counts = countPicks(balancerOf(hosts), hosts, REQUESTS);
      expect(counts[3]).to.be.closeTo(REQUESTS / 4, tolerance(REQUESTS, 1 / 4));
    });

    it('is disabled by a threshold of 0: without a healthy host there is none', () => {
      const hosts = hostsOf([{}, {}]);
      for (const host of hosts) host.setFlag('failedOutlierCheck', true);
      expect(balancerOf(hosts, { loadBalancerConfig: { healthyPanicThreshold: 0 } })()).to.equal(undefined);
    });

    it('does not count hosts that wait for their first check', () => {
      const hosts = hostsOf([{}, {}, {}, {}]);
      for (const host of hosts.slice(1)) host.setFlag('pendingActiveHc', true);
      expect(countPicks(balancerOf(hosts), hosts, 8)).to.deep.equal([8, 0, 0, 0]);
      hosts[0]!.setFlag('pendingActiveHc', true);
      expect(countPicks(balancerOf(hosts), hosts, 8)).to.deep.equal([2, 2, 2, 2]);
    });
  });

  describe('with localityWeightedLbConfig', () => {
    const spec = { loadBalancerConfig: { localityWeightedLbConfig: {} } };
    const inZone = (zone: string, localityWeight?: number) => ({
      locality: { zone },
      ...(localityWeight !== undefined && { localityWeight }),
    });

    it('share the requests by the weights of localities', () => {
      const hosts = hostsOf([inZone('a', 3), inZone('b', 1), inZone('b', 1)]);
      expect(countPicks(balancerOf(hosts, spec), hosts, 80)).to.deep.equal([60, 10, 10]);
      expect(countPicks(balancerOf(hosts), hosts, 90)).to.deep.equal([30, 30, 30]);
    });

    it('reduce the weight of a locality whose hosts are not healthy', () => {
      const hosts = hostsOf([inZone('a', 1), inZone('a', 1), inZone('b', 1), inZone('b', 1)]);
      hosts[0]!.setFlag('failedActiveHc', true);
      // 1.4 times one half, against 1.
      expect(countPicks(balancerOf(hosts, spec), hosts, 170)).to.deep.equal([0, 70, 50, 50]);
    });

    it('ignore localities without a weight, unless none has one', () => {
      const hosts = hostsOf([inZone('a', 1), inZone('b')]);
      expect(countPicks(balancerOf(hosts, spec), hosts, 10)).to.deep.equal([10, 0]);
      const none = hostsOf([inZone('a'), inZone('b')]);
      expect(countPicks(balancerOf(none, spec), none, 10)).to.deep.equal([5, 5]);
    });

    it('scale the weights of consistent hashing', () => {
      const hosts = hostsOf([inZone('a', 3), inZone('b', 1)]);
      const hashing = { loadBalancerConfig: { localityWeightedLbConfig: {}, maglev: {} } };
      const counts = countPicks(balancerOf(hosts, hashing), hosts, REQUESTS);
      expect(counts[0]).to.be.closeTo(REQUESTS * 0.75, tolerance(REQUESTS, 0.75) + REQUESTS * 0.01);
    });
  });
});
