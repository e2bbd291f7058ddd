import { expect } from 'chai';
import { OpenedStreams } from '../../../src/listen/http2/opened-streams.ts';

describe('OpenedStreams', () => {
  it('allows increasing odd numbers', () => {
    const streams = new OpenedStreams();
    expect([0, 1, 2, 3].map((id) => streams.isNew(id))).to.deep.equal([false, true, false, true]);
    streams.open(3);
    expect([1, 3, 4, 5].map((id) => streams.isNew(id))).to.deep.equal([false, false, false, true]);
  });

  it('treats skipped numbers as idle, and others as closed', () => {
    const streams = new OpenedStreams();
    for (const id of [3, 5, 11]) streams.open(id);
    const ids = [0, 1, 2, 3, 5, 7, 9, 11, 13];
    expect(ids.filter((id) => streams.isIdle(id))).to.deep.equal([0, 1, 2, 7, 9, 13]);
  });

  it('remembers only some of the skipped numbers', () => {
    const streams = new OpenedStreams();
    for (let id = 3; id <= 203; id += 4) streams.open(id);
    const skipped = Array.from({ length: 51 }, (_, i) => 4 * i + 1);
    expect(skipped.filter((id) => streams.isIdle(id))).to.deep.equal(skipped.slice(0, 16));
  });

  it('remembers which streams were reset, and treats old ones as reset', () => {
    const streams = new OpenedStreams();
    streams.open(5_001);
    streams.reset(9);
    expect([7, 9].map((id) => streams.wasReset(id))).to.deep.equal([false, true]);
    for (let id = 1_001; id <= 3_001; id += 2) streams.reset(id);
    expect([7, 9, 3_001, 3_003].map((id) => streams.wasReset(id))).to.deep.equal([true, true, true, false]);
  });
});
