import { expect } from 'chai';
import { createClientSlots, networkOf } from '../../src/request/client-slots.ts';

describe('slots that clients share', () => {
  const fill = (slots: ReturnType<typeof createClientSlots>, client: string): number => {
    let taken = 0;
    while (slots.acquire(client)) taken++;
    return taken;
  };

  it('leave as many for the others as one client uses', () => {
    const slots = createClientSlots(1000);
    expect(['a', 'b', 'c', 'd'].map((client) => fill(slots, client))).to.deep.equal([500, 250, 125, 63]);
    expect(slots.acquire('someone else')).to.equal(true);
  });

  it('are never more than the maximum', () => {
    const slots = createClientSlots(4);
    expect(Array.from({ length: 10 }, (_, i) => fill(slots, `client-${i}`)).reduce((a, b) => a + b)).to.equal(4);
  });

  it('can be acquired again after they are released', () => {
    const slots = createClientSlots(4);
    for (let i = 0; i < 100; i++) {
      expect(slots.acquire('a')).to.equal(true);
      slots.release('a');
    }
    expect(fill(slots, 'a')).to.equal(2);
  });
});

describe('the network of a client', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['', ''],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::9', '2001:db8:1:2'],
    ['2001:0db8:0001:0002:0:0:0:1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['64:ff9b::192.0.2.7', '64:ff9b::c000:207'],
    ['0064:FF9B:0:0:0:0:c000:0208', '64:ff9b::c000:208'],
    ['64:ff9b:1:2::9', '64:ff9b:1:2'],
    ['not:an:address', 'not:an:address'],
  ] as const) {
    it(`of ${address === '' ? 'no address' : address} is ${network === '' ? 'empty' : network}`, () =>
      expect(networkOf(address)).to.equal(network));
  }
});
