import { expect } from 'chai';
import type { Endpoint } from '@edge-gateway/core';
import { HostSet } from '../../../src/upstream/hosts/host-set.ts';

const endpoint = (port: number, parts: Partial<Endpoint> = {}): Endpoint => ({
  address: '10.0.0.1',
  port,
  weight: 1,
  ...parts,
});

describe('HostSet', () => {
  it('keeps the hosts of endpoints that stay, with their state', () => {
    const hosts = new HostSet();
    hosts.update([endpoint(1), endpoint(2)]);
    const [first, second] = hosts.all;
    first!.setFlag('failedActiveHc', true);
    hosts.update([endpoint(3), endpoint(1, { weight: 5 })]);
    expect(hosts.all.map(({ port }) => port)).to.deep.equal([3, 1]);
    expect(hosts.all[1]).to.equal(first);
    expect(first).to.include({ weight: 5, isMember: true, isHealthy: false });
    expect(second!.isMember).to.equal(false);
  });

  it('reports added and removed hosts, and nothing without a change', () => {
    const hosts = new HostSet();
    const events: string[] = [];
    const ports = (list: readonly { readonly port: number }[]): string => list.map(({ port }) => port).join();
    const stop = hosts.watch({
      onMembers: (added, removed) => events.push(`+${ports(added)} -${ports(removed)}`),
      onHealth: ({ port, flags }) => events.push(`${port}:${flags}`),
    });
    hosts.update([endpoint(1), endpoint(2)]);
    hosts.update([endpoint(1), endpoint(2)]);
    hosts.update([endpoint(2), endpoint(3)]);
    hosts.update([endpoint(2, { weight: 2 }), endpoint(3)]);
    hosts.all[0]!.setFlag('failedOutlierCheck', true);
    hosts.all[0]!.setFlag('failedOutlierCheck', true);
    stop();
    hosts.update([]);
    expect(events).to.deep.equal(['+1,2 -', '+3 -1', '+ -', '2:2']);
  });

  it('treats an endpoint that is declared twice as two hosts', () => {
    const hosts = new HostSet();
    hosts.update([endpoint(1), endpoint(1)]);
    const before = hosts.all;
    expect(new Set(before).size).to.equal(2);
    hosts.update([endpoint(1), endpoint(1)]);
    expect(hosts.all).to.equal(before);
  });

  it('continues the slow starts of the hosts of a previous version', () => {
    const before = new HostSet();
    before.update([endpoint(1)]);
    before.all[0]!.healthySince = -5;
    const hosts = new HostSet();
    hosts.update([endpoint(1), endpoint(2)]);
    hosts.continueFrom(before);
    expect(hosts.all[0]!.healthySince).to.equal(-5);
    expect(hosts.all[1]!.healthySince).to.be.above(0);
  });

  it('keeps a removed host that is healthy until it fails, if health checks ask for it', () => {
    const hosts = new HostSet();
    hosts.keepsHealthy = true;
    hosts.update([endpoint(1), endpoint(2)]);
    const [first, second] = hosts.all;
    second!.setFlag('failedActiveHc', true);
    hosts.update([]);
    expect(hosts.all).to.deep.equal([first]);
    expect(first!.state.healthFlags).to.deep.equal(['pending_dynamic_removal']);
    first!.setFlag('failedActiveHc', true);
    expect(hosts.all).to.deep.equal([]);
  });
});
