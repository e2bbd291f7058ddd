import { expect } from 'chai';
import { networkOf } from '../../src/contract/client-network.ts';

describe('the network of a client', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['', 'unknown'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:0:0:0:1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['64:ff9b::192.0.2.7', '64:ff9b::c000:207'],
    ['0064:FF9B:0:0:0:0:c000:0208', '64:ff9b::c000:208'],
    ['64:ff9b:1:2::9', '64:ff9b:1:2::/64'],
    ['not:an:address', 'unknown'],
    ['192.0.2.5:40001', '192.0.2.5'],
    ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    ['[::ffff:192.0.2.7]', '192.0.2.7'],
    ['unknown', 'unknown'],
    ['192.0.2.5:x', 'unknown'],
  ] as const) {
    it(`of ${address === '' ? 'no address' : address} is ${network}`, () =>
      expect(networkOf(address)).to.equal(network));
  }

  it('has as many bits as asked', () => {
    expect(networkOf('2001:db8:1:2:3:4:5:6', 128)).to.equal('2001:db8:1:2:3:4:5:6');
    expect(networkOf('2001:0DB8:0:0:0:0:0:1', 128)).to.equal('2001:db8::1');
    expect(networkOf('2001:db8:1:23ff::6', 56)).to.equal('2001:db8:1:2300::/56');
    expect(networkOf('2001:db8:1:2::6', 1)).to.equal('::/1');
    expect(networkOf('::1.2.3.4', 112)).to.equal(networkOf('::102:0', 112));
    expect(networkOf('192.0.2.5', 1)).to.equal('192.0.2.5');
  });
});
