import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { hasServers, routable } from '../../../src/upstream/dns/machine.ts';

const address = (family: 'IPv4' | 'IPv6', text: string, internal = false): NetworkInterfaceInfo =>
  ({ family, address: text, internal, netmask: '', mac: '', cidr: null, scopeid: 0 }) as NetworkInterfaceInfo;

const ADDRESSES = { v4: ['192.0.2.1', '127.0.0.1'], v6: ['2001:db8::1', '::1'], ttlMs: 1000 };

describe('the network of the machine', () => {
  it('has DNS servers if its resolver file names one', () => {
    const directory = mkdtempSync(join(tmpdir(), 'resolver-'));
    const file = join(directory, 'resolv.conf');
    try {
      writeFileSync(file, '# nameserver 192.0.2.1\nsearch example.com\n');
      expect(hasServers(file)).to.equal(false);
      writeFileSync(file, 'search example.com\nnameserver 192.0.2.1\n');
      expect(hasServers(file)).to.equal(true);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('reaches the families of its interfaces, besides loopback and link-local addresses', () => {
    const found = (...own: NetworkInterfaceInfo[]) => {
      const { v4, v6 } = routable(ADDRESSES, { eth0: own });
      return [...v4, ...v6];
    };
    expect(found(address('IPv4', '192.0.2.9'))).to.deep.equal(['192.0.2.1', '127.0.0.1', '::1']);
    expect(found(address('IPv6', '2001:db8::9'))).to.deep.equal(['127.0.0.1', '2001:db8::1', '::1']);
    expect(found(address('IPv6', '::1', true), address('IPv4', '127.0.0.1', true))).to.deep.equal(['127.0.0.1', '::1']);
    expect(found(address('IPv6', 'fe80::1'), address('IPv4', '169.254.0.1'))).to.deep.equal(['127.0.0.1', '::1']);
  });
});
