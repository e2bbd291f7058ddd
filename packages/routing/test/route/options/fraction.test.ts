import { expect } from 'chai';
import { isChosen } from '../../../src/route/options/fraction.ts';

describe('a fraction of requests', () => {
  it('chooses none, all, or about its share', () => {
    const chosen = (share: number): number =>
      Array.from({ length: 10_000 }, () => isChosen(share)).filter(Boolean).length;
    expect([chosen(0), chosen(1), chosen(1.5)]).to.deep.equal([0, 10_000, 10_000]);
    // Six standard deviations.
    expect(chosen(0.25)).to.be.closeTo(2500, 260);
  });
});
