import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { connect, createServer, Socket, type AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { allowQueuedMessages, hasUnwrittenMessage, queueMessage } from '../../src/http1/queued-messages.ts';
import { BUFFER_BYTES } from '../../src/http1/message-buffers.ts';

/** More than the buffers of both ends of a connection. */
const LARGE = 'x'.repeat(16 * 1024 * 1024);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a queued text', () => {
  const opened: Socket[] = [];

  /** Returns both ends of a connection; texts for `socket` can be queued. */
  async function pair(): Promise<{ socket: Socket; peer: Socket }> {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = (await accepted) as [Socket];
    server.close();
    opened.push(socket, peer);
    allowQueuedMessages(socket);
    return { socket, peer };
  }

  async function textOf(peer: Socket): Promise<string> {
    let text = '';
    for await (const chunk of peer.setEncoding('latin1')) text += chunk as string;
    return text;
  }

  afterEach(() => opened.splice(0).forEach((each) => each.destroy()));

  it('is written at the end of the turn, with those of other sockets', async () => {
    const [a, b] = [await pair(), await pair()];
    const sent = (): number[] => [a.socket.bytesWritten, b.socket.bytesWritten];
    queueMessage(a.socket, 'caf\u00e9');
    queueMessage(b.socket, 'ab');
    expect(sent()).to.deep.equal([0, 0]);
    expect([hasUnwrittenMessage(a.socket), hasUnwrittenMessage(b.socket)]).to.deep.equal([true, true]);
    await turn();
    expect(sent()).to.deep.equal([4, 2]);
    expect([hasUnwrittenMessage(a.socket), hasUnwrittenMessage(b.socket)]).to.deep.equal([false, false]);
    a.socket.end();
    expect(await textOf(a.peer)).to.equal('caf\u00e9');
  });

  it('is followed by its body, as it was when it was queued', async () => {
    const { socket, peer } = await pair();
    const bytes = Buffer.from('-caf\u00e9-', 'latin1');
    queueMessage(socket, 'head ', { buffer: bytes, start: 1, end: 5 });
    bytes.fill('x');
    queueMessage(socket, ' next ', 'text');
    const long = Buffer.alloc(2 * BUFFER_BYTES, 'y');
    queueMessage(socket, ' long ', { buffer: long, start: 0, end: long.length });
    long.fill('x');
    socket.end();
    expect(await textOf(peer)).to.equal(`head caf\u00e9 next text long ${'y'.repeat(2 * BUFFER_BYTES)}`);
  });

  it('fills a slot exactly', async () => {
    for (const extra of [-1, 0, 1]) {
      const { socket, peer } = await pair();
      const text = 'z'.repeat(BUFFER_BYTES - 4 + extra);
      queueMessage(socket, 'head', text);
      socket.end();
      expect(await textOf(peer)).to.equal(`head${text}`);
    }
  });

  it('stays as it is while the peer does not read, whatever is queued for others', async () => {
    const slow = await pair();
    queueMessage(slow.socket, LARGE);
    await turn();
    queueMessage(slow.socket, 'first ');
    queueMessage(slow.socket, 'second ', 'body');
    await turn();
    expect(hasUnwrittenMessage(slow.socket)).to.equal(true);
    const others = await Promise.all(Array.from({ length: 40 }, pair));
    for (const { socket } of others) queueMessage(socket, 'other text', 'other body');
    await turn();
    slow.socket.end();
    expect((await textOf(slow.peer)).slice(LARGE.length)).to.equal('first second body');
    for (const { socket, peer } of others) {
      socket.end();
      expect(await textOf(peer)).to.equal('other textother body');
    }
  });

  it('stays in memory until the system has sent it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { socket, peer } = await pair();
    queueMessage(socket, LARGE);
    await turn();
    const texts = Array.from({ length: 64 }, (_, i) => `${i} `.padEnd(BUFFER_BYTES, 'a'));
    for (const text of texts) {
      queueMessage(socket, text);
      await turn();
    }
    collect();
    await turn();
    const others = Array.from({ length: 256 }, () => Buffer.allocUnsafeSlow(BUFFER_BYTES).fill('x'));
    socket.end();
    expect((await textOf(peer)).slice(LARGE.length)).to.equal(texts.join(''));
    expect(others).to.have.length(256);
  });

  it('is written earlier if there are many', async () => {
    const pairs = await Promise.all(Array.from({ length: 33 }, pair));
    const written = (): number => pairs.filter(({ socket }) => socket.bytesWritten === 1).length;
    for (const { socket } of pairs.slice(0, 31)) queueMessage(socket, 'a');
    expect(written()).to.equal(0);
    for (const { socket } of pairs.slice(31)) queueMessage(socket, 'a');
    expect(written()).to.equal(32);
    await turn();
    expect(written()).to.equal(33);
  });

  it('is written before what follows it', async () => {
    const { socket, peer } = await pair();
    queueMessage(socket, 'a');
    queueMessage(socket, 'b');
    socket.write('c');
    queueMessage(socket, 'd');
    socket.cork();
    socket.write('e');
    socket.write('f');
    queueMessage(socket, 'g');
    socket.uncork();
    queueMessage(socket, 'h');
    socket.end();
    expect(await textOf(peer)).to.equal('abcdefgh');
  });

  it('is written before parts that follow it together', async () => {
    const { socket, peer } = await pair();
    queueMessage(socket, 'a');
    socket.cork();
    socket.write('b');
    socket.write('c');
    socket.uncork();
    socket.end();
    expect(await textOf(peer)).to.equal('abc');
  });

  it('is written before the socket is destroyed', async () => {
    const { socket, peer } = await pair();
    const written = Promise.withResolvers<unknown>();
    queueMessage(socket, 'last', undefined, written.resolve);
    socket.destroy();
    expect(await textOf(peer)).to.equal('last');
    expect(await written.promise).to.equal(undefined);
  });

  it('is written when the socket is ended later in its turn', async () => {
    const { socket, peer } = await pair();
    queueMessage(socket, 'last');
    socket.destroySoon();
    expect(await textOf(peer)).to.equal('last');
  });

  it('follows a text that the peer has not read', async () => {
    const { socket, peer } = await pair();
    const written: string[] = [];
    queueMessage(socket, LARGE, undefined, () => written.push('first'));
    await turn();
    expect([written, hasUnwrittenMessage(socket)]).to.deep.equal([[], true]);
    queueMessage(socket, 'second', undefined, () => written.push('second'));
    await turn();
    socket.end('third');
    expect((await textOf(peer)).replace(LARGE, '-')).to.equal('-secondthird');
    expect([written, hasUnwrittenMessage(socket)]).to.deep.equal([['first', 'second'], false]);
  });

  it('stays unwritten when one before it is complete', async () => {
    const { socket, peer } = await pair();
    const first = Promise.withResolvers<boolean>();
    const second = Promise.withResolvers<boolean>();
    queueMessage(socket, LARGE, undefined, () => first.resolve(hasUnwrittenMessage(socket)));
    await turn();
    queueMessage(socket, LARGE, undefined, () => second.resolve(hasUnwrittenMessage(socket)));
    await turn();
    peer.resume();
    expect([await first.promise, await second.promise]).to.deep.equal([true, false]);
  });

  it('calls back after the end of the turn, each in its own asynchronous context', async () => {
    const store = new AsyncLocalStorage<string>();
    const [a, b, slow] = [await pair(), await pair(), await pair()];
    const seen: unknown[] = [];
    const record = (name: string) => (error?: Error | null) => void seen.push([name, store.getStore(), error]);
    store.run('of a', () => queueMessage(a.socket, 'a', undefined, record('a')));
    store.run('of b', () => queueMessage(b.socket, 'b', undefined, record('b')));
    const ended = new Promise<void>((resolve) => {
      store.run('of slow', () =>
        queueMessage(slow.socket, LARGE, undefined, (error) => resolve(record('slow')(error))),
      );
    });
    expect(seen).to.deep.equal([]);
    await turn();
    expect(seen).to.deep.equal([
      ['a', 'of a', undefined],
      ['b', 'of b', undefined],
    ]);
    slow.peer.resume();
    await ended;
    expect(seen[2]).to.deep.equal(['slow', 'of slow', undefined]);
  });

  it('calls back although another callback throws', async () => {
    const { socket } = await pair();
    const other = await pair();
    const listeners = process.rawListeners('uncaughtException') as NodeJS.UncaughtExceptionListener[];
    process.removeAllListeners('uncaughtException');
    const thrown = once(process, 'uncaughtException');
    const called = Promise.withResolvers<unknown>();
    try {
      queueMessage(socket, 'a', undefined, () => {
        throw new Error('of a listener');
      });
      queueMessage(other.socket, 'b', undefined, called.resolve);
      const [error, origin] = (await thrown) as [Error, string];
      expect([error.message, origin]).to.deep.equal(['of a listener', 'uncaughtException']);
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener);
    }
    expect(await called.promise).to.equal(undefined);
  });

  it('fails if the peer has reset the connection', async () => {
    const { socket, peer } = await pair();
    const closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
    peer.resetAndDestroy();
    const reasons: Promise<unknown>[] = [];
    while (!socket.destroyed) {
      reasons.push(new Promise((resolve) => queueMessage(socket, 'lost', undefined, resolve)));
      await turn();
    }
    await closed;
    reasons.push(new Promise((resolve) => queueMessage(socket, 'late', undefined, resolve)));
    expect((await Promise.all(reasons)).at(-1)).to.be.instanceOf(Error);
    expect(hasUnwrittenMessage(socket)).to.equal(false);
  });

  it('fails if the socket is destroyed before all of it is written', async () => {
    const { socket } = await pair();
    const failed = Promise.withResolvers<unknown>();
    queueMessage(socket, LARGE, undefined, failed.resolve);
    socket.destroy();
    expect(await failed.promise).to.be.instanceOf(Error);
    expect(hasUnwrittenMessage(socket)).to.equal(false);
  });

  it('is written immediately to sockets that do not allow it', async () => {
    const { peer } = await pair();
    if (peer.connecting) await once(peer, 'connect');
    const written = Promise.withResolvers<unknown>();
    queueMessage(peer, 'now', undefined, written.resolve);
    expect([peer.bytesWritten, hasUnwrittenMessage(peer)]).to.deep.equal([3, false]);
    expect(await written.promise).to.equal(undefined);
  });

  it('is written immediately to sockets of other classes', async () => {
    class Other extends Socket {}
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = new Other().connect((server.address() as AddressInfo).port, '127.0.0.1');
    opened.push(socket);
    await once(socket, 'connect');
    server.close();
    allowQueuedMessages(socket);
    const written = Promise.withResolvers<unknown>();
    queueMessage(socket, 'now', undefined, written.resolve);
    expect([Object.getPrototypeOf(socket), socket.bytesWritten]).to.deep.equal([Other.prototype, 3]);
    expect(await written.promise).to.be.oneOf([undefined, null]);
  });

  it('passes through a write function that was replaced', async () => {
    const { socket, peer } = await pair();
    const seen: unknown[] = [];
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (...args: unknown[]) => {
      seen.push(args[0]);
      return write(...args);
    };
    queueMessage(socket, 'seen');
    socket.end();
    expect([await textOf(peer), seen]).to.deep.equal(['seen', ['seen']]);
  });
});
