import { expect } from 'chai';
import { createClientSlots } from '../../src/request/client-slots.ts';

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
