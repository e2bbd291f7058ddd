import { expect } from 'chai';
import { createRoundRobin } from '../../src/upstream/round-robin.ts';

const endpoint = (address: string, weight = 1) => ({ address, port: 80, weight });
const take = (next: () => { address: string } | undefined, n: number): string =>
  Array.from({ length: n }, () => next()?.address).join('');

describe('createRoundRobin', () => {
  it('returns endpoints of equal weight in turn', () => {
    expect(take(createRoundRobin([endpoint('a'), endpoint('b'), endpoint('c')]), 7)).to.equal('abcabca');
  });

  it('returns each by its weight, spread evenly', () => {
    expect(take(createRoundRobin([endpoint('a', 3), endpoint('b', 1)]), 8)).to.equal('aabaaaba');
    const many = take(createRoundRobin([endpoint('a', 5), endpoint('b', 2), endpoint('c', 3)]), 1000);
    expect([...'abc'].map((name) => many.split(name).length - 1)).to.deep.equal([500, 200, 300]);
  });

  it('never returns one without weight', () => {
    expect(take(createRoundRobin([endpoint('a', 0), endpoint('b', 2)]), 4)).to.equal('bbbb');
  });

  it('returns none without endpoints', () => {
    expect(createRoundRobin([])()).to.equal(undefined);
    expect(createRoundRobin([endpoint('a', 0)])()).to.equal(undefined);
  });
});
