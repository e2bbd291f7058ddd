import { expect } from 'chai';
import { difference, differingRange } from '../src/ranges.ts';

describe('differing range', () => {
  const items = Array.from({ length: 1000 }, (_, i) => ({ i }));

  it('is the part in which two lists may differ', () => {
    const now = items.with(500, { i: -1 });
    expect(differingRange(now, items)).to.deep.equal({ start: 500, end: 501, oldEnd: 501 });
    expect(differingRange(items.toSpliced(10, 2), items)).to.deep.equal({ start: 10, end: 10, oldEnd: 12 });
    expect(differingRange([...items], items)).to.deep.equal({ start: 1000, end: 1000, oldEnd: 1000 });
  });

  it('belongs to the pair of lists, whatever the list was compared with before', () => {
    const now = items.with(500, { i: -1 });
    const other = items.with(3, { i: -2 });
    expect(differingRange(now, items).start).to.equal(500);
    expect(differingRange(now, other)).to.deep.equal({ start: 3, end: 501, oldEnd: 501 });
    expect(differingRange(now, [])).to.deep.equal({ start: 0, end: 1000, oldEnd: 0 });
    expect(differingRange(now, items)).to.deep.equal({ start: 500, end: 501, oldEnd: 501 });
    expect(difference(now, items)).to.deep.equal({ added: [{ i: -1 }], removed: [items[500]] });
  });
});
