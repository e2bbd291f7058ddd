import { expect } from 'chai';
import { acquireSlot, fillSlot, releaseSlot, SLOT_BYTES } from '../../src/http1/text-slots.ts';

describe('slots for short messages', () => {
  it('are used again, up to a limit', () => {
    const released = new Set(Array.from({ length: 100 }, acquireSlot));
    expect(released.size).to.equal(100);
    for (const slot of released) releaseSlot(slot);
    const next = new Set(Array.from({ length: 100 }, acquireSlot));
    expect(next.size).to.equal(100);
    expect([...next].filter((slot) => released.has(slot))).to.have.length(32);
  });

  it('contain a head and its body, one byte for each character', () => {
    const bytes = Buffer.from('-caf\u00e9-', 'latin1');
    for (const body of ['caf\u00e9', { buffer: bytes, start: 1, end: 5 }]) {
      const slot = acquireSlot().fill(0);
      fillSlot(slot, '\u00e9:', body);
      expect(slot.toString('latin1', 0, 7)).to.equal('\u00e9:caf\u00e9\0');
      expect(slot.length).to.equal(SLOT_BYTES);
    }
  });
});
