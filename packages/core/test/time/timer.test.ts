import { mock } from 'node:test';
import { expect } from 'chai';
import { MAX_DELAY_MS, nodeDelay, startInterval, startTimer, timeoutSignal, wait } from '../../src/time/timer.ts';

const MONTH_MS = 30 * 24 * 3_600_000;

/** Passes time in steps that a timer of Node can wait. */
function pass(ms: number): void {
  for (let left = ms; left > 0; left -= MAX_DELAY_MS / 2) mock.timers.tick(Math.min(left, MAX_DELAY_MS / 2));
}

describe('timers', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }));
  afterEach(() => mock.timers.reset());

  it('expires after a short delay, with its argument', () => {
    const seen: string[] = [];
    startTimer((text) => seen.push(text), 20, 'now');
    pass(19);
    expect(seen).to.deep.equal([]);
    pass(1);
    expect(seen).to.deep.equal(['now']);
  });

  it('of Node and of libraries are cut, with the second that Node adds to the idle time of servers', () => {
    expect([nodeDelay(0), nodeDelay(5000)]).to.deep.equal([0, 5000]);
    expect([nodeDelay(MONTH_MS), nodeDelay(Infinity)]).to.deep.equal([MAX_DELAY_MS - 1000, MAX_DELAY_MS - 1000]);
  });

  it('repeats at short intervals until it is cleared', () => {
    let runs = 0;
    const timer = startInterval(() => runs++, 20);
    pass(65);
    clearInterval(timer);
    pass(100);
    expect(runs).to.equal(3);
  });

  it('repeats at intervals of a month', () => {
    let runs = 0;
    const timer = startInterval(() => runs++, MONTH_MS);
    pass(MONTH_MS - 10);
    expect(runs).to.equal(0);
    pass(20);
    expect(runs).to.equal(1);
    pass(MONTH_MS);
    expect(runs).to.equal(2);
    clearInterval(timer);
    pass(2 * MONTH_MS);
    expect(runs).to.equal(2);
  });

  it('resolves after a short wait, with its value', async () => {
    mock.timers.reset();
    expect(await wait(1, 'done')).to.equal('done');
  });
});

describe('long timers', () => {
  /** Real timers whose longest delay takes about a millisecond: `setTimeout` is called with a fraction of it. */
  let delays: number[];
  const { setTimeout: real } = globalThis;
  beforeEach(() => {
    delays = [];
    const fast = (run: (arg?: unknown) => void, ms: number, arg?: unknown) => (
      delays.push(ms),
      real(run, ms / MAX_DELAY_MS, arg)
    );
    globalThis.setTimeout = fast as unknown as typeof setTimeout;
  });
  afterEach(() => void (globalThis.setTimeout = real));

  it('divides a delay of a month into equal parts that one timer waits', async () => {
    const seen = await new Promise((resolve) => startTimer(resolve, MONTH_MS, 'over'));
    expect(seen).to.equal('over');
    expect(delays).to.deep.equal([MONTH_MS / 2]);
  });

  it('can be cleared in its second part', async () => {
    let runs = 0;
    const timer = startTimer(() => runs++, MONTH_MS);
    const { refresh } = timer;
    const second = Promise.withResolvers<void>();
    timer.refresh = () => {
      refresh.call(timer);
      clearTimeout(timer);
      second.resolve();
      return timer;
    };
    await second.promise;
    await new Promise((resolve) => real(resolve, 5));
    expect(runs).to.equal(0);
  });

  it('never divides an endless delay into parts without end', () => {
    clearTimeout(startTimer(() => {}, Infinity));
    expect(delays).to.have.length(1);
    expect(delays[0]).to.be.within(MAX_DELAY_MS / 2, MAX_DELAY_MS);
  });

  it('aborts a signal after a month, with the error of a timeout', async () => {
    const signal = timeoutSignal(MONTH_MS);
    expect(signal.aborted).to.equal(false);
    const keepsAlive = setInterval(() => {}, 1000);
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    clearInterval(keepsAlive);
    expect(signal.reason).to.be.instanceOf(DOMException).with.property('name', 'TimeoutError');
  });
});

describe('wait', () => {
  it('waits a month until it is aborted', async () => {
    const controller = new AbortController();
    const waiting = wait(MONTH_MS, undefined, { signal: controller.signal });
    const first = await Promise.race([
      waiting.then(() => 'over'),
      new Promise((resolve) => setTimeout(resolve, 10, 'still waiting')),
    ]);
    expect(first).to.equal('still waiting');
    controller.abort();
    const error = await waiting.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('name', 'AbortError');
  });
});
