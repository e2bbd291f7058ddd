import { expect } from 'chai';
import { shareOf } from '../../src/syntax/fraction.ts';

describe('shareOf', () => {
  it('has a denominator of 100 by default', () => {
    expect(shareOf({ numerator: 25 })).to.equal(0.25);
    expect(shareOf({ numerator: 25, denominator: 'HUNDRED' })).to.equal(0.25);
    expect(shareOf({ numerator: 25, denominator: 'TEN_THOUSAND' })).to.equal(0.0025);
    expect(shareOf({ numerator: 25, denominator: 'MILLION' })).to.equal(0.000_025);
  });

  it('is none if it is not set', () => {
    expect([shareOf(), shareOf({}), shareOf({ denominator: 'MILLION' })]).to.deep.equal([0, 0, 0]);
  });
});
