import { expect } from 'chai';
import { didYouMean } from '../../src/command-line/command-help.ts';

describe('didYouMean', () => {
  it('names the most similar word', () => {
    expect(didYouMean('Chekc', ['check'])).to.equal(' (did you mean "check"?)');
    expect(didYouMean('wholly-different', ['upstream'])).to.equal('');
  });

  it('does not compare a word of a million letters', () => {
    expect(didYouMean('x'.repeat(1_000_000), ['check'])).to.equal('');
  });
});
