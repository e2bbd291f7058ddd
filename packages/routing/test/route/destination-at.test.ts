import { expect } from 'chai';
import { destinationAt } from '../../src/route/destination-at.ts';

describe('the destination at a point', () => {
  const destinations = [
    { name: 'none', weight: 0 },
    { name: 'a', weight: 1 },
    { name: 'also none', weight: 0 },
    { name: 'b', weight: 3 },
  ];
  for (const [point, name] of [
    [0, 'a'],
    [0.999, 'a'],
    [1, 'b'],
    [3.999, 'b'],
    [4, undefined],
  ] as const)
    it(`${point} of 4 is ${name}`, () => expect(destinationAt(destinations, point)?.name).to.equal(name));

  it('is none without destinations', () => expect(destinationAt([], 0)).to.equal(undefined));
});
