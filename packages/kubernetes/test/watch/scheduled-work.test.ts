import { silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { fakeTime } from '../../../../test/parts/fake-time.ts';
import { createScheduledWork, type ScheduledWork } from '../../src/watch/scheduled-work.ts';

const log = silentLoggers.get('config');
const FAR_MS = 600_000;
const NEAR_MS = 200;
/** Timers may be early by less than this. */
const TOLERANCE_MS = 10;

/** Work that tells when it begins, and ends when the test says so. */
function controlledWork(collectMs = 1) {
  let begun = Promise.withResolvers<void>();
  let ended = Promise.withResolvers<void>();
  let runs = 0;
  let atOnce = 0;
  let mostAtOnce = 0;
  const scheduled: ScheduledWork = createScheduledWork({
    collectMs,
    retryMs: FAR_MS,
    log,
    async work() {
      runs += 1;
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      begun.resolve();
      await ended.promise;
      atOnce -= 1;
    },
  });
  return {
    scheduled,
    begin: async () => {
      await begun.promise;
      begun = Promise.withResolvers();
    },
    end() {
      const { resolve } = ended;
      ended = Promise.withResolvers();
      resolve();
    },
    get runs() {
      return runs;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
  };
}

describe('scheduled work', () => {
  it('runs once for several changes', async () => {
    const work = controlledWork();
    for (let i = 0; i < 3; i++) work.scheduled.schedule();
    await work.begin();
    work.end();
    await work.scheduled.close();
    expect(work.runs).to.equal(1);
  });

  it('runs again after a change during a run, never twice at a time', async () => {
    const work = controlledWork();
    work.scheduled.schedule();
    await work.begin();
    work.scheduled.schedule();
    work.scheduled.schedule();
    work.end();
    await work.begin();
    work.end();
    await work.scheduled.close();
    expect([work.runs, work.mostAtOnce]).to.deep.equal([2, 1]);
  });

  it('waits for the delay that a run asks for', async () => {
    const work = controlledWork();
    work.scheduled.schedule();
    await work.begin();
    work.scheduled.schedule(NEAR_MS);
    const endedAt = performance.now();
    work.end();
    await work.begin();
    expect(performance.now() - endedAt).to.be.at.least(NEAR_MS - TOLERANCE_MS);
    work.end();
    await work.scheduled.close();
  });

  it('runs earlier if a change comes before the delay has passed', async () => {
    const work = controlledWork();
    work.scheduled.schedule(FAR_MS);
    work.scheduled.schedule();
    await work.begin();
    work.scheduled.schedule();
    work.scheduled.schedule(FAR_MS);
    work.end();
    await work.begin();
    work.end();
    await work.scheduled.close();
    expect(work.runs).to.equal(2);
  });

  it('is not delayed by a later run', async () => {
    const work = controlledWork();
    work.scheduled.schedule();
    work.scheduled.schedule(FAR_MS);
    await work.begin();
    work.end();
    await work.scheduled.close();
  });

  it('closes when the current run has ended, and runs no more', async () => {
    const work = controlledWork();
    work.scheduled.schedule();
    await work.begin();
    work.scheduled.schedule();
    let isClosed = false;
    const closed = work.scheduled.close().then(() => (isClosed = true));
    await new Promise(setImmediate);
    expect(isClosed).to.equal(false);
    work.end();
    await closed;
    work.scheduled.schedule();
    // Timers of the same duration fire in order.
    const later = controlledWork();
    later.scheduled.schedule();
    await later.begin();
    expect(work.runs).to.equal(1);
    later.end();
    await later.scheduled.close();
  });

  it('runs again after work that failed', async () => {
    let runs = 0;
    const succeeded = Promise.withResolvers<void>();
    const scheduled = createScheduledWork({
      collectMs: 1,
      retryMs: 1,
      log,
      async work() {
        runs += 1;
        if (runs < 3) throw new Error('failed');
        succeeded.resolve();
      },
    });
    scheduled.schedule();
    await succeeded.promise;
    await scheduled.close();
    expect(runs).to.equal(3);
  });
});

describe('work that schedules itself once', () => {
  it('runs once more', async () => {
    const time = fakeTime();
    try {
      let runs = 0;
      const scheduled: ScheduledWork = createScheduledWork({
        collectMs: 50,
        retryMs: FAR_MS,
        log,
        async work() {
          await Promise.resolve();
          if (++runs === 1) scheduled.schedule(100);
        },
      });
      scheduled.schedule();
      await time.pass(5_000);
      expect(runs).to.equal(2);
      await scheduled.close();
    } finally {
      time.restore();
    }
  });
});

describe('work that schedules itself at once', () => {
  it('runs again after its end', async () => {
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    let runs = 0;
    let running = 0;
    const scheduled = createScheduledWork({
      collectMs: 0,
      retryMs: FAR_MS,
      log,
      async work() {
        runs++;
        running++;
        if (runs === 1) {
          scheduled.schedule(0);
          // Longer than the delay of the next run.
          await new Promise((resolve) => setTimeout(resolve, 20));
          first.resolve();
        } else {
          expect(running).to.equal(1);
          second.resolve();
        }
        running--;
      },
    });
    scheduled.schedule();
    await Promise.all([first.promise, second.promise]);
    await scheduled.close();
    expect(runs).to.equal(2);
  });

  it('runs once when it is scheduled for an earlier time', async () => {
    const time = fakeTime();
    let runs = 0;
    const work = async (): Promise<void> => void runs++;
    const scheduled = createScheduledWork({ collectMs: 1, retryMs: FAR_MS, log, work });
    try {
      scheduled.schedule(1000);
      scheduled.schedule(10);
      await time.pass(5000);
      expect(runs).to.equal(1);
    } finally {
      await scheduled.close();
      time.restore();
    }
  });
});
