import { expect } from 'chai';
import { acquireBuffer, fillBuffer, releaseBuffer, BUFFER_BYTES } from '../../src/http1/message-buffers.ts';

describe('slots for short messages', () => {
  it('are used again, up to a limit', () => {
    const released = new Set(Array.from({ length: 100 }, acquireBuffer));
    expect(released.size).to.equal(100);
    for (const slot of released) releaseBuffer(slot);
    const next = new Set(Array.from({ length: 100 }, acquireBuffer));
    expect(next.size).to.equal(100);
    expect([...next].filter((slot) => released.has(slot))).to.have.length(32);
  });

  it('contain a head and its body, one byte for each character', () => {
    const bytes = Buffer.from('-caf\u00e9-', 'latin1');
    for (const body of ['caf\u00e9', { buffer: bytes, start: 1, end: 5 }]) {
      const slot = acquireBuffer().fill(0);
      fillBuffer(slot, '\u00e9:', body);
      expect(slot.toString('latin1', 0, 7)).to.equal('\u00e9:caf\u00e9\0');
      expect(slot.length).to.equal(BUFFER_BYTES);
    }
  });
});
