import { mock } from 'node:test';
import { expect } from 'chai';
import { PingCheck } from '../../../src/upstream/http2/ping-check.ts';

describe('the check of a connection by PING', () => {
  let steps: string[];
  let connection: ConstructorParameters<typeof PingCheck>[0] & { receivedBytes: number };
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    steps = [];
    const note = (step: string) => (): void => void steps.push(step);
    connection = {
      receivedBytes: 0,
      ping: note('ping'),
      onResponsive: note('responsive'),
      onDoubt: note('doubt'),
      onSilent: ({ message }) => void steps.push(message),
    };
  });
  afterEach(() => mock.timers.reset());
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await new Promise(setImmediate);
  }

  it('doubts a silent peer after a second, and gives it up after its time', async () => {
    const check = new PingCheck(connection, { intervalMs: 0, timeoutMs: 3000 });
    check.start();
    check.start();
    await pass(999);
    expect(steps).to.deep.equal(['ping']);
    await pass(1);
    expect(steps).to.deep.equal(['ping', 'doubt']);
    await pass(1999);
    expect(steps).to.have.length(2);
    await pass(1);
    expect(steps.at(-1)).to.equal('no response to a PING in 3000 ms');
  });

  it('ends with a confirmation, also one that is read after its time', async () => {
    const check = new PingCheck(connection, { intervalMs: 0, timeoutMs: 3000 });
    check.start();
    await pass(500);
    check.confirmed();
    await pass(10_000);
    check.start();
    mock.timers.tick(1000);
    check.confirmed();
    await pass(10_000);
    expect(steps).to.deep.equal(['ping', 'responsive', 'ping', 'responsive']);
  });

  it('takes anything that is received for a sign of life', async () => {
    const check = new PingCheck(connection, { intervalMs: 0, timeoutMs: 3000 });
    check.start();
    connection.receivedBytes++;
    await pass(1000);
    await pass(10_000);
    expect(steps).to.deep.equal(['ping', 'responsive']);
    check.start();
    expect(steps.at(-1)).to.equal('ping');
  });

  it('is repeated at its interval until it is stopped', async () => {
    const check = new PingCheck(connection, { intervalMs: 5000, timeoutMs: 3000 });
    await pass(5000);
    check.confirmed();
    await pass(5000);
    expect(steps).to.deep.equal(['ping', 'responsive', 'ping']);
    check.stop();
    await pass(60_000);
    expect(steps).to.have.length(3);
  });
});
