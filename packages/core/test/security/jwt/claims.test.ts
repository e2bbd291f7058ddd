import { expect } from 'chai';
import { claimAt } from '../../../src/security/jwt/claims.ts';

describe('a claim', () => {
  it('is found by its name or by a path, and by its name first', () => {
    const claims = { a: { b: 1 }, 'a.b': 2, c: { d: { e: 3 } } };
    expect(claimAt(claims, 'a.b', '.')).to.equal(2);
    expect(claimAt(claims, 'c.d.e', '.')).to.equal(3);
    expect(claimAt(claims, 'c.d.e', '')).to.equal(undefined);
  });

  it('is never a member that every object has', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'a.constructor', 'a.length', 'list.length.x'])
      expect(claimAt({ a: 'text', list: [1] }, name, '.'), name).to.equal(undefined);
  });
});
