import { expect } from 'chai';
import { isChosen, shareOf } from '../../../src/route/options/fraction.ts';

describe('a fraction of requests', () => {
  it('has a denominator of 100 by default', () => {
    expect(shareOf({ defaultValue: { numerator: 25 } })).to.equal(0.25);
    expect(shareOf({ defaultValue: { numerator: 25, denominator: 'HUNDRED' } })).to.equal(0.25);
    expect(shareOf({ defaultValue: { numerator: 25, denominator: 'TEN_THOUSAND' } })).to.equal(0.0025);
    expect(shareOf({ defaultValue: { numerator: 25, denominator: 'MILLION' } })).to.equal(0.000_025);
  });

  it('is none if it is not set', () => {
    expect([shareOf(undefined), shareOf({}), shareOf({ defaultValue: {} })]).to.deep.equal([0, 0, 0]);
  });

  it('chooses none, all, or about its share', () => {
    const chosen = (share: number): number =>
      Array.from({ length: 10_000 }, () => isChosen(share)).filter(Boolean).length;
    expect([chosen(0), chosen(1), chosen(1.5)]).to.deep.equal([0, 10_000, 10_000]);
    // Six standard deviations.
    expect(chosen(0.25)).to.be.closeTo(2500, 260);
  });
});
