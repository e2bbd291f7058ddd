import { expect } from 'chai';
import { remember } from '../../src/transform/remember.ts';

describe('the cache of long values', () => {
  const value = (i: number, length = 100): string => `${i}`.padEnd(length, '.');

  function counting(capacity?: number) {
    const asked: string[] = [];
    const read = remember((each) => (asked.push(each), each.slice(0, 3)), capacity);
    return { asked, read };
  }

  it('returns cached results, empty ones too', () => {
    const { asked, read } = counting();
    for (let i = 0; i < 3; i++) expect([read(value(123)), read(value(456))]).to.deep.equal(['123', '456']);
    expect(asked).to.deep.equal([value(123), value(456)]);
    let reads = 0;
    const none = remember(() => (reads++, ''));
    expect([none(value(1)), none(value(1)), reads]).to.deep.equal(['', '', 1]);
  });

  it('skips short values, and values that would evict many others', () => {
    const { asked, read } = counting(4000);
    for (let i = 0; i < 2; i++) {
      read('short');
      read(value(1, 1001));
      read(value(2, 1000));
    }
    expect(asked.map((each) => each.length)).to.deep.equal([5, 1001, 1000, 5, 1001]);
  });

  it('is bounded: evicts the oldest first', () => {
    const { asked, read } = counting(1000);
    for (let i = 0; i < 12; i++) read(value(i));
    expect(asked.length).to.equal(12);
    for (let i = 2; i < 12; i++) read(value(i));
    expect(asked.length).to.equal(12);
    read(value(0));
    read(value(1));
    expect(asked.length).to.equal(14);
  });
});
