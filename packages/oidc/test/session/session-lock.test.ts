import { expect } from 'chai';
import { createLocalLock } from '../../src/session/session-lock.ts';

describe('the lock of a session in one process', () => {
  it('is acquired by one holder at a time, and by the next one when it is released', async () => {
    const lock = createLocalLock();
    const release = await lock.acquire('a', 0);
    expect(release).to.be.a('function');
    expect(await lock.acquire('a', 0)).to.equal(undefined);
    expect(await lock.acquire('b', 0)).to.be.a('function');
    const waiting = lock.acquire('a', 60_000);
    await release!();
    const next = await waiting;
    expect(next).to.be.a('function');
    await next!();
    expect(await lock.acquire('a', 0)).to.be.a('function');
  });

  it('is waited for as long as requested, also if the clock of the system is set back', async () => {
    const lock = createLocalLock();
    const release = await lock.acquire('a', 0);
    const { now } = Date;
    let time = now();
    Date.now = () => (time -= 60_000);
    try {
      expect(await lock.acquire('a', 20)).to.equal(undefined);
    } finally {
      Date.now = now;
      await release!();
    }
  });
});
