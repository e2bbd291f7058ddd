import { expect } from 'chai';
import { didYouMean, editDistance, nearest } from '../../src/command-line/suggest.ts';

describe('suggest', () => {
  it('counts a changed, added, dropped or swapped letter as one', () => {
    for (const word of ['check', 'chek', 'cheek', 'chekc', 'chick']) {
      expect(editDistance('check', word)).to.equal(word === 'check' ? 0 : 1);
    }
    expect(editDistance('', 'abc')).to.equal(3);
  });

  it('gives the nearest known word, and none when all are far', () => {
    expect(nearest('upstraem', ['upstream', 'upstreamgroup'])).to.equal('upstream');
    expect(nearest('wholly-different', ['upstream'])).to.equal(undefined);
    expect(didYouMean('Chekc', ['check'])).to.equal(' (did you mean "check"?)');
  });

  it('refuses to compare a word of a million letters', () => {
    expect(nearest('x'.repeat(1_000_000), ['check'])).to.equal(undefined);
  });
});
