import { expect } from 'chai';
import { addressProblem } from '../../../src/upstream/dynamic/address-policy.ts';

const NOTHING = { allowed: [], ownPorts: new Set<number>() };

const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'];

const NOT_PUBLIC = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:a00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::a83f:8110',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:c0a8:101::1',
  '2001:0:1::1',
  '2001:db8::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

describe('addresses that a client may have the gateway connect to', () => {
  for (const address of PUBLIC) {
    it(`include ${address}`, () => {
      expect(addressProblem(address, 80, NOTHING)).to.equal(undefined);
    });
  }
  for (const address of NOT_PUBLIC) {
    it(`do not include ${address}`, () => {
      expect(addressProblem(address, 80, NOTHING)).to.be.a('string');
    });
  }

  it('include IPv6 addresses that reach a public IPv4 address', () => {
    expect(addressProblem('64:ff9b::8.8.8.8', 80, NOTHING)).to.equal(undefined);
    expect(addressProblem('2002:808:808::1', 80, NOTHING)).to.equal(undefined);
  });

  it('include ranges that the resource allows, and nothing beside them', () => {
    const policy = { allowed: ['10.0.0.0/8', '127.0.0.1', 'fd00::/8'], ownPorts: new Set<number>() };
    for (const address of ['10.9.8.7', '::ffff:10.9.8.7', '127.0.0.1', 'fd12::1'])
      expect(addressProblem(address, 80, policy)).to.equal(undefined);
    for (const address of ['11.0.0.1', '127.0.0.2', 'fe80::1', '192.168.0.1'])
      expect(addressProblem(address, 80, policy) === undefined).to.equal(address === '11.0.0.1');
  });

  it('never include the own listeners, even in an allowed range', () => {
    const policy = { allowed: ['0.0.0.0/0', '::/0'], ownPorts: new Set([8080]) };
    for (const address of ['127.0.0.1', '127.1.2.3', '::1', '0.0.0.0', '::ffff:127.0.0.1'])
      expect(addressProblem(address, 8080, policy)).to.contain('is the gateway itself');
    expect(addressProblem('127.0.0.1', 9090, policy)).to.equal(undefined);
  });
});
