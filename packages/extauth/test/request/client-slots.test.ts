import { expect } from 'chai';
import { createClientSlots, networkOf } from '../../src/request/client-slots.ts';

describe('slots that clients share', () => {
  const fill = (slots: ReturnType<typeof createClientSlots>, client: string): number => {
    let taken = 0;
    while (slots.acquire(client)) taken++;
    return taken;
  };

  it('leave as many for the others as one client takes', () => {
    const slots = createClientSlots(1000);
    expect(['a', 'b', 'c', 'd'].map((client) => fill(slots, client))).to.deep.equal([500, 250, 125, 63]);
    expect(slots.acquire('someone else')).to.equal(true);
  });

  it('are never more than the maximum', () => {
    const slots = createClientSlots(4);
    expect(Array.from({ length: 10 }, (_, i) => fill(slots, `client-${i}`)).reduce((a, b) => a + b)).to.equal(4);
  });

  it('can be taken again when they are released', () => {
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
  ] as const) {
    it(`of ${address === '' ? 'no address' : address} is ${network === '' ? 'empty' : network}`, () =>
      expect(networkOf(address)).to.equal(network));
  }
});
