import { expect } from 'chai';
import { newRequestId } from '../src/request-id.ts';

describe('newRequestId', () => {
  const ids = Array.from({ length: 1_000 }, newRequestId);

  it('returns a random UUID, version 4', () => {
    for (const id of ids) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('returns another one each time', () => {
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('shares no random bytes between ids', () => {
    const ends = new Set(ids.map((id) => id.slice(24)));
    expect(ids.filter((id) => ends.has(id.slice(0, 13).replace('-', '')))).to.deep.equal([]);
  });

  it('uses all random bits', () => {
    const variants = new Set(ids.map((id) => id[19]));
    expect([...variants].toSorted()).to.deep.equal(['8', '9', 'a', 'b']);
    for (let at = 0; at < 36; at++) {
      const digits = new Set(ids.map((id) => id[at]));
      if (![8, 13, 14, 18, 19, 23].includes(at)) expect(digits.size).to.equal(16);
    }
  });
});
