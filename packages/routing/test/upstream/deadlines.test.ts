import { expect } from 'chai';
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises';
import { Deadline } from '../../src/upstream/deadlines.ts';

/** Notes who expired, in order. */
function limits() {
  const expired: string[] = [];
  const start = (name: string, limitMs: number, then?: () => void): Deadline => {
    const limited = { expire: () => (expired.push(name), then?.()) };
    return new Deadline(limited, limitMs, performance.now());
  };
  return { expired, start };
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

  it('do not come when they are cancelled, wherever they stand, once or twice', async () => {
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

  it('begin anew behind those that have begun since', async () => {
    const { expired, start } = limits();
    const [a] = [start('a', 30), start('b', 30)];
    await wait(5);
    a.restart();
    await new Promise<void>((resolve) => start('c', 30, resolve));
    expect(expired).to.deep.equal(['b', 'a', 'c']);
  });

  it('may be cancelled and begun while others come', async () => {
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

  it('come after what arrived during a standstill', async () => {
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

  it('are rounded up to whole milliseconds', async () => {
    const { expired, start } = limits();
    const began = performance.now();
    await new Promise<void>((resolve) => start('a', 9.2, resolve));
    expect(performance.now() - began).to.be.at.least(10);
    expect(expired).to.deep.equal(['a']);
  });
});
