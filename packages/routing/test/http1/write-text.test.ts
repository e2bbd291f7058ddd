import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { until } from '../../../../test/parts/until.ts';
import { canWriteDirectly, writeText } from '../../src/http1/write-text.ts';

/** More than the buffers of both ends of a connection. */
const LARGE = 'x'.repeat(16 * 1024 * 1024);

describe('a text written to a socket', () => {
  const opened: { destroy(): void }[] = [];

  /** Returns both ends of a connection. */
  async function pair(): Promise<{ socket: Socket; peer: Socket }> {
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = (await accepted) as [Socket];
    server.close();
    opened.push(socket, peer);
    return { socket, peer };
  }

  async function textOf(peer: Socket): Promise<string> {
    let text = '';
    for await (const chunk of peer.setEncoding('latin1')) text += chunk as string;
    return text;
  }

  afterEach(() => opened.splice(0).forEach((each) => each.destroy()));

  it('is written without the queue of the stream', async () => {
    expect(canWriteDirectly).to.equal(true);
    const { socket, peer } = await pair();
    expect(writeText(socket, 'caf\u00e9', { onWritten: () => expect.fail() })).to.equal(true);
    expect([socket.bytesWritten, socket.writableLength]).to.deep.equal([4, 0]);
    socket.end();
    expect(await textOf(peer)).to.equal('caf\u00e9');
  });

  it('stays in order with other writes while the peer does not read', async () => {
    const { socket, peer } = await pair();
    const written: string[] = [];
    expect(writeText(socket, LARGE, { onWritten: () => written.push('first') })).to.equal(false);
    expect(writeText(socket, 'second', { onWritten: () => written.push('second') })).to.equal(false);
    socket.write('third');
    expect(writeText(socket, 'fourth', { onWritten: () => written.push('fourth') })).to.equal(false);
    expect(written).to.deep.equal([]);
    socket.end('fifth');
    const text = await textOf(peer);
    expect(text.length).to.equal(LARGE.length + 'secondthirdfourthfifth'.length);
    expect(text.slice(LARGE.length)).to.equal('secondthirdfourthfifth');
    expect(written).to.deep.equal(['first', 'second', 'fourth']);
  });

  it('keeps its connection from being idle while it makes progress', async () => {
    type Timed = Socket & { _handle: { writeQueueSize: number }; _unrefTimer(): void; _onTimeout(): void };
    const { socket, peer } = await pair();
    const timed = socket as Timed;
    const restart = timed._unrefTimer.bind(socket);
    let [restarts, timeouts] = [0, 0];
    timed._unrefTimer = () => void (restarts++, restart());
    socket.on('timeout', () => timeouts++);
    const written = Promise.withResolvers<unknown>();
    writeText(socket, LARGE, { onWritten: written.resolve });
    expect(restarts).to.equal(1);
    const before = timed._handle.writeQueueSize;
    const pause = (): void => {
      if (timed._handle.writeQueueSize < before) peer.pause();
    };
    peer.on('data', pause);
    await until(() => peer.isPaused());
    // What Node calls after the time of `socket.setTimeout`.
    timed._onTimeout();
    expect([restarts, timeouts]).to.deep.equal([2, 0]);
    await until(() => {
      timed._onTimeout();
      return timeouts > 0;
    });
    const unfinished = restarts;
    peer.off('data', pause).resume();
    expect(await written.promise).to.equal(undefined);
    // Its end is progress too.
    const ended = restarts;
    expect(ended).to.equal(unfinished + 1);
    timed._onTimeout();
    expect([restarts, timeouts]).to.deep.equal([ended, 2]);
  });

  it('follows what the stream has queued', async () => {
    const { socket, peer } = await pair();
    socket.cork();
    socket.write('a');
    writeText(socket, 'b');
    socket.uncork();
    writeText(socket, 'c');
    socket.write(LARGE);
    socket.write('d');
    writeText(socket, 'e');
    socket.end();
    expect((await textOf(peer)).replace(LARGE, '-')).to.equal('abc-de');
  });

  it('waits for the connection', async () => {
    const { socket: other } = await pair();
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push({ destroy: () => server.close() });
    const accepted = once(server, 'connection');
    const socket = connect({
      port: (server.address() as AddressInfo).port,
      host: 'upstream.test',
      autoSelectFamily: false,
      lookup: (_name, _options, found) => setImmediate(found, null, '127.0.0.1', 4),
    });
    opened.push(socket);
    expect([writeText(other, 'a'), writeText(socket, 'b')]).to.deep.equal([true, false]);
    const [peer] = (await accepted) as [Socket];
    socket.end();
    expect(await textOf(peer)).to.equal('b');
  });

  it('is rejected after the end of the stream, as by its own write', async () => {
    const { socket, peer } = await pair();
    const failed = Promise.withResolvers<unknown>();
    socket.on('error', () => {}).end('last');
    expect(writeText(socket, 'late', { onWritten: failed.resolve })).to.equal(false);
    expect(await failed.promise).to.include({ code: 'ERR_STREAM_WRITE_AFTER_END' });
    expect(await textOf(peer)).to.equal('last');
  });

  it('passes through a write function that was replaced', async () => {
    const { socket, peer } = await pair();
    const seen: unknown[] = [];
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (...args: unknown[]) => {
      seen.push(args[0]);
      return write(...args);
    };
    const done = Promise.withResolvers<unknown>();
    expect(writeText(socket, 'seen', { onWritten: done.resolve })).to.equal(false);
    await done.promise;
    socket.end();
    expect([await textOf(peer), seen[0]]).to.deep.equal(['seen', 'seen']);
  });

  it('destroys a socket whose peer has reset the connection', async () => {
    const { socket, peer } = await pair();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const failed = Promise.withResolvers<NodeJS.ErrnoException>();
    socket.on('error', failed.resolve);
    peer.resetAndDestroy();
    const reasons: unknown[] = [];
    while (!socket.destroyed) {
      writeText(socket, 'lost', { onWritten: (error) => reasons.push(error) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await closed;
    const { code, syscall } = await failed.promise;
    expect(code).to.be.oneOf(['EPIPE', 'ECONNRESET']);
    expect(syscall).to.be.oneOf(['write', 'read']);
    for (const reason of reasons) expect(reason).to.be.instanceOf(Error);
  });

  it('fails when the socket is destroyed before it is written', async () => {
    const { socket } = await pair();
    const failed = Promise.withResolvers<unknown>();
    expect(writeText(socket, LARGE, { onWritten: failed.resolve })).to.equal(false);
    socket.destroy();
    expect(await failed.promise).to.be.instanceOf(Error);
    const refused = Promise.withResolvers<unknown>();
    expect(writeText(socket, 'late', { onWritten: refused.resolve })).to.equal(false);
    expect(await refused.promise).to.be.instanceOf(Error);
  });
});
