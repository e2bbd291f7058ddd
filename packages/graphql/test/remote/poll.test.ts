import { expect } from 'chai';
import { createPoll } from '../../src/remote/poll.ts';

describe('a poll', () => {
  it('polls every key once, 32 at the same time', async () => {
    const keys = Array.from({ length: 300 }, (_, i) => i);
    const asked: number[] = [];
    let running = 0;
    let most = 0;
    const poll = createPoll(
      async (key: number) => {
        asked.push(key);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
      },
      () => [],
    );
    await poll.start(keys);
    poll.close();
    expect(asked.toSorted((a, b) => a - b)).to.deep.equal(keys);
    expect(most).to.equal(32);
  });

  it('polls a key again that becomes due while it is polled', async () => {
    const asked: string[] = [];
    const poll = createPoll(
      async (key: string) => {
        asked.push(key);
        if (asked.length === 1) void poll.start(['a']);
      },
      () => [],
    );
    await poll.start(['a']);
    poll.close();
    expect(asked).to.deep.equal(['a', 'a']);
  });

  it('polls all keys at the interval', async () => {
    const asked: string[] = [];
    const poll = createPoll(
      async (key: string) => void asked.push(key),
      () => ['a'],
      1,
    );
    while (asked.length < 3) await new Promise(setImmediate);
    poll.close();
  });
});
