import type { Socket } from 'node:net';
import { expect } from 'chai';
import { FrameBudget } from '../../../src/listen/http2/frame-budget.ts';

const FREE = 65_536;
const MAX_UNREAD = 800_000;

describe('the budget of frames', () => {
  /** The byte counts of a connection, which is all that the budget reads. */
  const counts = { bytesRead: 0, bytesWritten: 0 };
  let budget: FrameBudget;
  beforeEach(() => {
    counts.bytesRead = counts.bytesWritten = 0;
    budget = new FrameBudget(counts as Socket, MAX_UNREAD);
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

  it('grows with bodies that are not read further, until the second check', () => {
    budget.expectUnread(100_000);
    counts.bytesRead += FREE;
    expect(budget.check()).to.equal(false);
    counts.bytesRead += FREE + 100_000;
    expect(budget.check()).to.equal(false);
    counts.bytesRead += FREE + 1;
    expect(budget.check()).to.equal(true);
    budget.expectUnread(100_000);
    counts.bytesRead += FREE + 100_001;
    expect(budget.check()).to.equal(true);
  });

  it('grows with such bodies only up to a maximum, and by an eighth of it with each check', () => {
    const receive = (bytes: number): boolean => {
      budget.expectUnread(10 * MAX_UNREAD);
      counts.bytesRead += FREE + bytes;
      return budget.check();
    };
    expect(receive(MAX_UNREAD)).to.equal(false);
    expect(receive(100_000)).to.equal(false);
    expect(receive(50_000)).to.equal(false);
    expect(receive(150_000)).to.equal(false);
    expect(receive(100_001)).to.equal(true);
  });

  it('is not used up by bodies that are expected, but do not arrive', () => {
    for (let i = 0; i < 20; i++) {
      budget.expectUnread(MAX_UNREAD);
      expect(budget.check()).to.equal(false);
    }
    budget.expectUnread(MAX_UNREAD);
    counts.bytesRead += FREE + MAX_UNREAD;
    expect(budget.check()).to.equal(false);
  });
});
