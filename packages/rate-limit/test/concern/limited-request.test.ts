import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { DEFAULT_SNAPSHOT_SETTINGS, factsOf, type SnapshotSettings } from '@edge-gateway/core';
import { expect } from 'chai';
import { LimitedRequest, requestPlace } from '../../src/concern/limited-request.ts';

describe('a request as descriptors see it', () => {
  const limited = (clientAddress: string, settings?: SnapshotSettings): LimitedRequest => {
    const req = new IncomingMessage(new Socket());
    const facts = factsOf(req);
    facts.connection = { ...facts.connection, clientAddress };
    return new LimitedRequest(req, facts, requestPlace({}, settings));
  };

  it('has the network of the client, also if its address has a port', () => {
    for (const [address, network] of [
      ['192.0.2.1', '192.0.2.1'],
      ['192.0.2.1:40001', '192.0.2.1'],
      ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
      ['2001:DB8:1:2:3::1', '2001:db8:1:2::/64'],
    ] as const)
      expect(limited(address).clientAddress).to.equal(network);
  });

  it('has one network for all addresses that cannot be read', () => {
    for (const address of ['', 'unknown', 'example.com']) expect(limited(address).clientAddress).to.equal('unknown');
  });

  it('counts as many bits of an IPv6 address as the Settings say', () => {
    const settings = { ...DEFAULT_SNAPSHOT_SETTINGS, ratelimitServer: { ipv6PrefixLength: 128 } };
    expect(limited('2001:DB8:1:2::1', settings).clientAddress).to.equal('2001:db8:1:2::1');
  });
});
