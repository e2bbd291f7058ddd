import type { Socket } from 'node:net';
import { expect } from 'chai';
import { FrameBudget } from '../../../src/listen/http2/frame-budget.ts';

const FREE = 65_536;

describe('the budget of frames', () => {
  /** The byte counts of a connection, which is all that the budget reads. */
  const counts = { bytesRead: 0, bytesWritten: 0 };
  let budget: FrameBudget;
  beforeEach(() => {
    counts.bytesRead = counts.bytesWritten = 0;
    budget = new FrameBudget(counts as Socket);
  });

  it('is exceeded by more than 64 KiB between two checks', () => {
    counts.bytesRead += FREE;
    expect(budget.check()).to.equal(false);
    counts.bytesRead += FREE + 1;
    expect(budget.check()).to.equal(true);
  });

  it('grows with requests and responses, until the next check', () => {
    budget.receive(10_000);
    counts.bytesRead += FREE + 10_320;
    expect(budget.check()).to.equal(false);
    counts.bytesWritten += 80_000;
    counts.bytesRead += FREE + 10_000;
    expect(budget.check()).to.equal(false);
    counts.bytesRead += FREE + 1;
    expect(budget.check()).to.equal(true);
  });
});
