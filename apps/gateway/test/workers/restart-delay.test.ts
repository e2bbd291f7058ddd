import { expect } from 'chai';
import { restartAfter } from '../../src/workers/restart-delay.ts';

describe('the restart of a worker', () => {
  for (const [failuresBefore, ranMs, failures, delayMs] of [
    [0, 0, 1, 100],
    [1, 0, 2, 200],
    [4, 9_999, 5, 1600],
    [8, 0, 9, 25_600],
    [9, 0, 10, 30_000],
    [99, 0, 100, 30_000],
    [0, 10_000, 0, 0],
    [99, 10_000, 0, 0],
  ] as const)
    it(`takes ${delayMs} ms after ${failuresBefore} failures and a run of ${ranMs} ms`, () => {
      expect(restartAfter(failuresBefore, ranMs)).to.deep.equal({ failures, delayMs });
    });
});
