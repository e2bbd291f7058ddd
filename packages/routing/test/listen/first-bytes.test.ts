import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { FirstBytes, type FirstBytesRules } from '../../src/listen/first-bytes.ts';
import { client, closeAll, tcpServer } from '../tcp/tcp-gateway.ts';

/** Consumes the bytes up to a line end. */
const LINE: Pick<FirstBytesRules, 'decide'> = {
  decide(bytes) {
    const end = bytes.indexOf('\n');
    return end < 0 ? undefined : { consumed: end + 1, proceed: () => {} };
  },
};

describe('the first bytes of a connection', () => {
  afterEach(closeAll);

  /** Opens a connection; returns both sides of it. */
  async function connection(): Promise<{ readonly sent: Socket; readonly received: Socket }> {
    const accepted = Promise.withResolvers<Socket>();
    const { port } = await tcpServer(accepted.resolve);
    const sent = await client(port);
    return { sent, received: await accepted.promise };
  }

  it('return to the socket unless they are consumed, also a single one', async () => {
    for (const rest of ['', 'x', 'xyz']) {
      const { sent, received } = await connection();
      const decided = Promise.withResolvers<void>();
      new FirstBytes().read(received, {
        timeoutMs: 10_000,
        decide: (bytes) => LINE.decide(bytes) && { consumed: bytes.indexOf('\n') + 1, proceed: decided.resolve },
        undecided: () => decided.reject(new Error('undecided')),
      });
      sent.write(`line\n${rest}`);
      await decided.promise;
      sent.end('!');
      let text = '';
      for await (const chunk of received) text += String(chunk);
      expect(text).to.equal(`${rest}!`);
    }
  });

  it('are read once more by the next reader, without further data', async () => {
    const { sent, received } = await connection();
    const lines: string[] = [];
    const read = (): Promise<void> =>
      new Promise((resolve) => {
        new FirstBytes().read(received, {
          timeoutMs: 3_600_000,
          decide(bytes) {
            const end = bytes.indexOf('\n') + 1;
            if (end === 0) return undefined;
            lines.push(bytes.toString('latin1', 0, end));
            return { consumed: end, proceed: resolve };
          },
          undecided: () => {},
        });
      });
    sent.write('first\nsecond\n');
    await read();
    await read();
    expect(lines).to.deep.equal(['first\n', 'second\n']);
  });

  it('leave a decided connection alone, after the timeout and at the end of the drain', async () => {
    const { sent, received } = await connection();
    const late = await connection();
    const firstBytes = new FirstBytes();
    const reasons: string[] = [];
    const rules: FirstBytesRules = { ...LINE, timeoutMs: 50, undecided: (_bytes, reason) => void reasons.push(reason) };
    firstBytes.read(received, rules);
    firstBytes.expire(20);
    sent.write('line\n');
    await once(received, 'readable');
    // Another connection, whose timeout is later than both.
    firstBytes.read(late.received, rules);
    await once(late.received, 'close');
    expect(reasons).to.deep.equal(['timeout']);
    expect(received.destroyed).to.equal(false);
    // Its client has stopped sending.
    sent.end();
    await once(received.resume(), 'end');
    await new Promise(setImmediate);
    expect(reasons).to.deep.equal(['timeout']);
  });

  it('are given up at the end of the drain', async () => {
    const { received } = await connection();
    const firstBytes = new FirstBytes();
    const reasons: string[] = [];
    firstBytes.read(received, { ...LINE, timeoutMs: 3_600_000, undecided: (_, reason) => void reasons.push(reason) });
    firstBytes.expire(1);
    await once(received, 'close');
    expect(reasons).to.deep.equal(['timeout']);
  });
});
