import { expect } from 'chai';
import type { SnapshotUpstream } from '@edge-gateway/core';
import { hostOf } from '../../../src/http1/authority.ts';
import { xxHash64 } from '../../../src/upstream/balance/xx-hash.ts';
import { balancerOf, countPicks, equalHosts, hostsOf, tolerance } from './hosts.ts';

type UpstreamSpec = SnapshotUpstream['spec'];

const REQUESTS = 20_000;

const byHash = (i: number) => ({ hash: xxHash64(`user-${i}`) });
const using = (loadBalancerConfig: UpstreamSpec['loadBalancerConfig']): UpstreamSpec => ({ loadBalancerConfig });

describe('load balancing', () => {
  it('uses hosts in turn by their weights by default', () => {
    const hosts = hostsOf([{ weight: 3 }, { weight: 1 }]);
    expect(countPicks(balancerOf(hosts), hosts, 8)).to.deep.equal([6, 2]);
    expect(countPicks(balancerOf(hosts, using({ roundRobin: {} })), hosts, 400)).to.deep.equal([300, 100]);
  });

  it('uses random hosts, whatever their weights', () => {
    const hosts = hostsOf([{ weight: 9 }, { weight: 1 }, {}, {}]);
    for (const count of countPicks(balancerOf(hosts, using({ random: {} })), hosts, REQUESTS)) {
      expect(count).to.be.closeTo(REQUESTS / 4, tolerance(REQUESTS, 1 / 4));
    }
  });

  it('prefers the host with fewer active requests', () => {
    const hosts = equalHosts(2);
    hosts[0]!.active = 5;
    const [busy, idle] = countPicks(balancerOf(hosts, using({ leastRequest: {} })), hosts, REQUESTS);
    // The busy one only if it is drawn twice.
    expect(busy).to.be.closeTo(REQUESTS / 4, tolerance(REQUESTS, 1 / 4));
    expect(idle! + busy!).to.equal(REQUESTS);
  });

  it('compares choiceCount hosts', () => {
    const hosts = equalHosts(2);
    hosts[0]!.active = 1;
    const [busy] = countPicks(balancerOf(hosts, using({ leastRequest: { choiceCount: 10 } })), hosts, REQUESTS);
    expect(busy).to.be.closeTo(REQUESTS / 1024, tolerance(REQUESTS, 1 / 1024));
  });

  it('divides different weights by the active requests', () => {
    const hosts = hostsOf([{ weight: 4 }, { weight: 1 }]);
    const pick = balancerOf(hosts, using({ leastRequest: {} }));
    expect(countPicks(pick, hosts, 500)).to.deep.equal([400, 100]);
    hosts[0]!.active = 3;
    expect(countPicks(pick, hosts, 500)).to.deep.equal([250, 250]);
  });

  for (const name of ['ringHash', 'maglev'] as const) {
    describe(name, () => {
      const spec = using({ [name]: {} });

      it('sends equal hashes to the same host, in whatever order the hosts are', () => {
        const hosts = equalHosts(5);
        const pick = balancerOf(hosts, spec);
        const reversed = balancerOf(hosts.toReversed(), spec);
        for (let i = 0; i < 200; i++) {
          expect(pick(byHash(i))).to.equal(pick(byHash(i)));
          expect(reversed(byHash(i))).to.equal(pick(byHash(i)));
        }
      });

      it('moves at most the expected share of the requests when a host is removed', () => {
        const hosts = equalHosts(10);
        const before = balancerOf(hosts, spec);
        const after = balancerOf(hosts.slice(0, 9), spec);
        let lost = 0;
        let moved = 0;
        for (let i = 0; i < REQUESTS; i++) {
          const host = before(byHash(i))!;
          if (host === hosts[9]) lost++;
          else if (after(byHash(i)) !== host) moved++;
        }
        // About 100 points of a host on the ring have a standard deviation of 10 %.
        expect(lost / REQUESTS).to.be.closeTo(1 / 10, name === 'ringHash' ? 0.06 : 0.01);
        // The ring of 9 hosts has 114 points for each instead of 103: at most a tenth of the requests meet a new point first. The
        // table of Maglev moves about 4 %.
        expect(moved / REQUESTS).to.be.at.most(name === 'ringHash' ? 0.1 : 0.05);
      });

      it('distributes hashes by weight', () => {
        const hosts = hostsOf([{ weight: 1 }, { weight: 3 }]);
        const [light] = countPicks(balancerOf(hosts, spec), hosts, REQUESTS, byHash);
        expect(light! / REQUESTS).to.be.closeTo(1 / 4, 0.06);
      });

      it('uses a random host without a hash, and another one for each retry', () => {
        const hosts = equalHosts(4);
        const pick = balancerOf(hosts, spec);
        for (const count of countPicks(pick, hosts, REQUESTS)) expect(count / REQUESTS).to.be.closeTo(1 / 4, 0.15);
        for (let i = 0; i < 100; i++) {
          const first = pick(byHash(i))!;
          const second = pick({ ...byHash(i), attempt: 2, excluded: new Set([first]) });
          expect(second).not.to.equal(first);
        }
      });

      it('returns no host if there is none', () => {
        expect(balancerOf([], spec)(byHash(1))).to.equal(undefined);
        expect(balancerOf(hostsOf([{ weight: 0 }]), spec)(byHash(1))).to.equal(undefined);
      });
    });
  }

  it('limits the ring to its maximum size', () => {
    const hosts = equalHosts(3);
    const pick = balancerOf(hosts, using({ ringHash: { ringHashConfig: { minimumRingSize: 1, maximumRingSize: 1 } } }));
    const used = new Set(Array.from({ length: 300 }, (_, i) => pick(byHash(i))));
    expect(used.size).to.equal(1);
  });

  it('chooses the first point of the ring at or after a hash', () => {
    const hosts = equalHosts(5);
    const pick = balancerOf(hosts, using({ ringHash: {} }));
    for (const host of hosts) {
      for (let i = 0; i < 20; i++) expect(pick({ hash: xxHash64(`${hostOf(host)}_${i}`) })).to.equal(host);
    }
  });

  it('continues with the first point of the ring after the last one', () => {
    for (let count = 2; count < 10; count++) {
      const pick = balancerOf(equalHosts(count), using({ ringHash: {} }));
      expect(pick({ hash: 0xffff_ffff_ffff_ffffn })).to.equal(pick({ hash: 0n }));
    }
  });

  it('uses another entry of the Maglev table for a retry', () => {
    const pick = balancerOf(equalHosts(4), using({ maglev: {} }));
    const others = Array.from({ length: 100 }, (_, i) => pick({ ...byHash(i), attempt: 2 }) !== pick(byHash(i)));
    expect(others.filter(Boolean).length).to.be.above(50);
  });

  it('hashes DNS names with useHostnameForHashing, so that new addresses change nothing', () => {
    const names = ['a.example', 'b.example', 'c.example'];
    const before = hostsOf(names.map((hostname) => ({ hostname })));
    const after = hostsOf(names.map((hostname, i) => ({ hostname, address: `10.9.0.${i}` })));
    const spec = using({ maglev: {}, useHostnameForHashing: true });
    const pickBefore = balancerOf(before, spec);
    const pickAfter = balancerOf(after, spec);
    for (let i = 0; i < 200; i++) {
      expect(pickAfter(byHash(i))!.hostname).to.equal(pickBefore(byHash(i))!.hostname);
    }
  });

  it('chooses a host that was not tried, with every algorithm', () => {
    const hosts = equalHosts(3);
    for (const name of ['roundRobin', 'leastRequest', 'random', 'ringHash', 'maglev'] as const) {
      const pick = balancerOf(hosts, using({ [name]: {} }));
      for (let i = 0; i < 50; i++) {
        expect(pick({ ...byHash(i), attempt: 3, excluded: new Set(hosts.slice(0, 2)) })).to.equal(hosts[2]);
        expect(pick({ ...byHash(i), attempt: 4, excluded: new Set(hosts) })).to.be.oneOf(hosts);
      }
    }
  });

  it('chooses no host without a weight instead of one that was tried', () => {
    const hosts = hostsOf([{ weight: 1 }, { weight: 0 }]);
    const pick = balancerOf(hosts);
    expect(pick({ attempt: 2, excluded: new Set([hosts[0]!]) })).to.equal(hosts[0]);
  });

  describe('slow start', () => {
    const slowStartConfig = { slowStartWindow: '60s' };

    it('weights a new host by its age', () => {
      const hosts = equalHosts(2);
      const spec = using({ roundRobin: { slowStartConfig } });
      hosts[0]!.healthySince = performance.now() - 120_000;
      hosts[1]!.healthySince = performance.now() - 30_000;
      const counts = countPicks(balancerOf(hosts, spec), hosts, 300);
      expect(counts[1]).to.be.closeTo(100, 1);
    });

    it('begins with minWeightPercent', () => {
      const hosts = equalHosts(2);
      hosts[0]!.healthySince = performance.now() - 120_000;
      for (const algorithm of ['roundRobin', 'leastRequest'] as const) {
        const spec = using({ [algorithm]: { slowStartConfig: { ...slowStartConfig, minWeightPercent: 25 } } });
        expect(countPicks(balancerOf(hosts, spec), hosts, 500)[1]).to.be.closeTo(100, 1);
      }
    });

    it('begins with a tenth of the weight by default', () => {
      const hosts = equalHosts(2);
      hosts[0]!.healthySince = performance.now() - 120_000;
      const spec = using({ roundRobin: { slowStartConfig } });
      expect(countPicks(balancerOf(hosts, spec), hosts, 550)[1]).to.be.closeTo(50, 1);
    });

    it('follows the aggression, and ends with the window', () => {
      const hosts = equalHosts(2);
      hosts[0]!.healthySince = performance.now() - 120_000;
      hosts[1]!.healthySince = performance.now() - 15_000;
      const spec = using({ roundRobin: { slowStartConfig: { ...slowStartConfig, aggression: 2 } } });
      // The square root of a quarter of the window.
      expect(countPicks(balancerOf(hosts, spec), hosts, 300)[1]).to.be.closeTo(100, 1);
      hosts[1]!.healthySince = performance.now() - 60_000;
      expect(countPicks(balancerOf(hosts, spec), hosts, 300)).to.deep.equal([150, 150]);
    });

    it('starts again when a host passes its health checks, not when its ejection ends', () => {
      const [host] = equalHosts(1);
      host!.healthySince = -1;
      host!.setFlag('failedOutlierCheck', true);
      host!.setFlag('failedOutlierCheck', false);
      expect(host!.healthySince).to.equal(-1);
      host!.setFlag('failedActiveHc', true);
      host!.setFlag('failedActiveHc', false);
      expect(host!.healthySince).to.be.above(0);
    });
  });
});
