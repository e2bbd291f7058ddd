import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { MAX_WAITING, Overflow } from '../../src/listen/overflow.ts';
import { serve, type Serving } from './serving.ts';

describe('connections above the limit', () => {
  let serving: Serving;
  const sockets: Socket[] = [];

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await serving.close();
  });

  const context = createContext();
  const start = async (delayBeforeClose?: string): Promise<void> => {
    const httpOptions = { connectionLimit: { maxActiveConnections: 1, delayBeforeClose } };
    serving = await serve((_req, res) => void res.end('served'), { listener: { httpOptions }, context });
  };

  async function open(): Promise<Socket> {
    const socket = connect(serving.port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket.on('error', () => {});
  }

  it('are closed after delayBeforeClose, without a response', async () => {
    await start('0.3s');
    const first = await open();
    const second = await open();
    const begun = performance.now();
    second.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    let text = '';
    second.on('data', (chunk) => (text += String(chunk)));
    await once(second, 'close');
    expect(performance.now() - begun).to.be.greaterThan(250);
    expect(text).to.equal('');
    first.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(String((await once(first, 'data'))[0])).to.contain('200 OK');
  });

  it('are closed immediately without a delay', async () => {
    await start();
    await open();
    await once((await open()).resume(), 'close');
  });

  it('do not count: a client is accepted when another one has disconnected', async () => {
    await start('10s');
    const first = await open();
    await open();
    first.end();
    await once(first.resume(), 'close');
    for (;;) {
      const next = await open();
      next.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      const [chunk] = await Promise.race([once(next, 'data'), once(next, 'close')]);
      if (Buffer.isBuffer(chunk)) return expect(String(chunk)).to.contain('200 OK');
    }
  });
});

describe('connections that wait to be closed', () => {
  it('are limited, and leave room and no timer when they close', async () => {
    const overflow = new Overflow({ maxConnections: () => 1, overflowDelayMs: () => 600_000 });
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const before = timers();
    const waiting = Array.from({ length: MAX_WAITING }, () => new Socket());
    for (const socket of waiting) overflow.closeLater(socket);
    const surplus = new Socket();
    overflow.closeLater(surplus);
    expect([waiting.some(({ destroyed }) => destroyed), surplus.destroyed]).to.deep.equal([false, true]);
    await Promise.all(waiting.map((socket) => once(socket.destroy(), 'close')));
    const next = new Socket();
    overflow.closeLater(next);
    expect(next.destroyed).to.equal(false);
    await once(next.destroy(), 'close');
    // One of each of them would keep the process alive.
    expect(timers()).to.be.below(before + MAX_WAITING);
  });
});
