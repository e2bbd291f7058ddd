import { expect } from 'chai';
import { createRemembered, MAX_BYTES, MAX_ENTRY_BYTES } from '../../src/token/remembered.ts';

describe('the cache of token lookups', () => {
  let now: number;
  beforeEach(() => (now = 1_000_000));

  it('ends at its time', () => {
    const { get, set } = createRemembered<object>(() => now);
    set('t', { a: 1 }, now + 1000);
    now += 999;
    expect(get('t')).to.deep.equal({ a: 1 });
    now += 1;
    expect(get('t')).to.equal(undefined);
    set('t', { a: 2 }, now);
    expect(get('t')).to.equal(undefined);
  });

  it('does not exceed its maximum size in bytes', () => {
    const { get, set } = createRemembered<object>(() => now);
    const text = 'x'.repeat(MAX_ENTRY_BYTES - 200);
    const count = Math.ceil(MAX_BYTES / text.length) + 20;
    for (let i = 0; i < count; i++) set(`t${i}`, { text }, now + 1000);
    const kept = Array.from({ length: count }, (_, i) => get(`t${i}`)).filter((each) => each !== undefined);
    expect(kept.length * text.length).to.be.within(MAX_BYTES * 0.9, MAX_BYTES);
    expect(get('t0')).to.equal(undefined);
    expect(get(`t${count - 1}`)).to.deep.equal({ text });
  });

  it('rejects an entry that is too large', () => {
    const { get, set } = createRemembered<object>(() => now);
    set('t', { text: 'x'.repeat(MAX_ENTRY_BYTES) }, now + 1000);
    expect(get('t')).to.equal(undefined);
  });
});
