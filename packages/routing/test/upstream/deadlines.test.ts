import { expect } from 'chai';
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { Deadlines, type Deadline } from '../../src/upstream/deadlines.ts';

/** Notes who expired, in order. */
function limits() {
  const expired: string[] = [];
  const deadlines = new Deadlines();
  const start = (name: string, limitMs: number, then?: () => void): Deadline => {
    const limited = { expire: () => (expired.push(name), then?.()) };
    return deadlines.start(limited, limitMs, performance.now());
  };
  return { expired, start };
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A clock that stands still but when it is told to go on. */
function fakeClock() {
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  let immediates: (() => void)[] = [];
  const clock = {
    now: 1000.25,
    get waiting() {
      return timers.length + immediates.length;
    },
    pass(ms: number) {
      clock.now += ms;
      const due = timers.filter(({ at }) => at <= clock.now);
      timers = timers.filter(({ at }) => at > clock.now);
      for (const { run } of due) run();
      for (const run of immediates.splice(0)) run();
    },
  };
  const { setTimeout: timeout, setImmediate: immediately } = globalThis;
  const { now } = performance;
  performance.now = () => clock.now;
  const later = (run: () => void, ms: number) => {
    // As Node does: whole milliseconds, counted from one that has begun already.
    const timer = { at: Math.floor(clock.now) + Math.max(Math.trunc(ms), 1), run, unref: () => timer };
    timers.push(timer);
    return timer;
  };
  Object.assign(globalThis, { setTimeout: later, setImmediate: (run: () => void) => immediates.push(run) });
  const restore = (): void => {
    performance.now = now;
    Object.assign(globalThis, { setTimeout: timeout, setImmediate: immediately });
  };
  return { clock, restore };
}

describe('the deadlines', () => {
  it('come in their order, and not before their time', async () => {
    const { expired, start } = limits();
    const began = performance.now();
    const ends: number[] = [];
    await new Promise<void>((resolve) => {
      start('c', 60, resolve);
      start('a', 20, () => ends.push(performance.now()));
      start('b', 20, () => ends.push(performance.now()));
    });
    expect(expired).to.deep.equal(['a', 'b', 'c']);
    for (const end of ends) expect(end - began).to.be.at.least(20);
  });

  it('do not expire after they are cancelled, at any position, once or twice', async () => {
    const { expired, start } = limits();
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => start(name, 10));
    for (const index of [0, 2, 4, 2]) all[index]!.cancel();
    await new Promise<void>((resolve) => start('z', 10, resolve));
    expect(expired).to.deep.equal(['b', 'd', 'z']);
    all[1]!.cancel();
    all[1]!.restart();
    await new Promise<void>((resolve) => start('y', 10, resolve));
    expect(expired).to.deep.equal(['b', 'd', 'z', 'y']);
  });

  it('restart after those that started later', async () => {
    const { expired, start } = limits();
    const [a] = [start('a', 30), start('b', 30)];
    await wait(5);
    a.restart();
    await new Promise<void>((resolve) => start('c', 30, resolve));
    expect(expired).to.deep.equal(['b', 'a', 'c']);
  });

  it('may be cancelled and started while others expire', async () => {
    const { expired, start } = limits();
    let second!: Deadline;
    await new Promise<void>((resolve) => {
      start('a', 10, () => {
        second.cancel();
        start('d', 10, resolve);
      });
      second = start('b', 10);
      start('c', 10);
    });
    expect(expired).to.deep.equal(['a', 'c', 'd']);
  });

  it('come although one before threw', async () => {
    const { expired, start } = limits();
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const thrown = new Promise((resolve) => process.once('uncaughtException', resolve));
    start('a', 10, () => {
      throw new Error('broken');
    });
    const second = new Promise<void>((resolve) => start('b', 10, resolve));
    expect(await thrown).to.have.property('message', 'broken');
    for (const listener of listeners) process.on('uncaughtException', listener);
    await second;
    expect(expired).to.deep.equal(['a', 'b']);
  });

  it('fire after events that arrived during a pause', async () => {
    const { expired, start } = limits();
    const { port1, port2 } = new MessageChannel();
    const arrived = new Promise<void>((resolve) => port1.once('message', resolve));
    const deadline = start('a', 20);
    void arrived.then(() => deadline.cancel());
    port2.postMessage('answer');
    const until = performance.now() + 60;
    while (performance.now() < until);
    await arrived;
    await immediate();
    await wait(30);
    expect(expired).to.deep.equal([]);
    port1.close();
  });

  for (const limitMs of [2 ** 31, 2 ** 40, Infinity]) {
    it(`do not expire immediately above the maximum of a Node timer: ${limitMs} ms`, async () => {
      const warnings: string[] = [];
      const onWarning = ({ name }: Error): void => void warnings.push(name);
      process.on('warning', onWarning);
      let expired = 0;
      const deadline = new Deadlines().start({ expire: () => expired++ }, limitMs, performance.now());
      await new Promise((resolve) => setTimeout(resolve, 30));
      deadline.cancel();
      process.off('warning', onWarning);
      expect([expired, warnings]).to.deep.equal([0, []]);
    });
  }

  it('are rounded up to whole milliseconds', async () => {
    const { expired, start } = limits();
    const began = performance.now();
    await new Promise<void>((resolve) => start('a', 9.2, resolve));
    expect(performance.now() - began).to.be.at.least(10);
    expect(expired).to.deep.equal(['a']);
  });

  it('come in time, each once, however they are begun, begun again and cancelled', async () => {
    const deadlines = new Deadlines();
    const { clock, restore } = fakeClock();
    try {
      const random = createRandom(3);
      const live = new Map<Deadline, number>();
      const wrong: string[] = [];
      let expired = 0;
      const begin = (): void => {
        const limitMs = [1, 5, 5, 20, 20.5, 300][random(6)]!;
        const limited = {
          expire() {
            const due = live.get(deadline);
            if (due === undefined || clock.now < due || clock.now > due + 5) wrong.push(`${clock.now} for ${due}`);
            live.delete(deadline);
            expired++;
            for (let i = random(3); i > 0; i--) act();
          },
        };
        const deadline = deadlines.start(limited, limitMs, clock.now);
        live.set(deadline, clock.now + Math.ceil(limitMs));
        limits.set(deadline, Math.ceil(limitMs));
      };
      const limits = new WeakMap<Deadline, number>();
      const act = (): void => {
        const one = [...live.keys()][random(live.size)];
        if (!one || (random(2) === 0 && live.size < 60)) return begin();
        if (random(2) === 0) {
          one.restart();
          live.set(one, clock.now + limits.get(one)!);
        } else {
          one.cancel();
          live.delete(one);
          one.restart();
        }
      };
      for (let i = 0; i < 20_000; i++) {
        clock.pass(random(300) / 100);
        for (let j = random(3); j > 0; j--) act();
      }
      for (let i = 0; i < 20_000 && live.size > 0; i++) clock.pass(1);
      expect(wrong).to.deep.equal([]);
      expect([live.size, expired > 1000, clock.waiting]).to.deep.equal([0, true, 0]);
    } finally {
      restore();
    }
  });
});
