import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { skip } from '../../../../../test/parts/skip.ts';
import { RequestHeadError } from '../../../src/http1/errors.ts';
import { ReadBuffer } from '../../../src/http1/read-buffer.ts';
import type { StreamObserver } from '../../../src/upstream/http2/client-connection.ts';
import { FrameConnection } from '../../../src/upstream/http2/frame-connection.ts';
import { ConnectionError } from '../../../src/http2/protocol-errors.ts';
import { closeAll, until, whenDone } from '../../forward/harness.ts';
import { FLAG, FRAME, uint32 } from '../../listen/http2/frames.ts';
import {
  data,
  fields,
  frame,
  frameUpstream,
  goaway,
  head,
  lastData,
  lastHead,
  reset,
  type FrameUpstream,
} from './frames.ts';

const OK = [':status', '200'] as const;
const GET: readonly string[] = [':method', 'GET', ':scheme', 'http', ':authority', 'a', ':path', '/'];
const POST = GET.with(1, 'POST');
const NO_BODY = { endStream: true };
const WITH_BODY = { endStream: false };
const CALM = 11;
/** Between two frames of data, so that they are not joined. */
const PONG = frame(FRAME.ping, FLAG.ack, 0, '87654321');

const settings = (...pairs: readonly (readonly [id: number, value: number])[]): Buffer =>
  frame(FRAME.settings, 0, 0, Buffer.concat(pairs.flatMap(([id, value]) => [Buffer.of(0, id), uint32(value)])));
const windowUpdate = (id: number, bytes: number): Buffer => frame(FRAME.windowUpdate, 0, id, uint32(bytes));

/** Records the response of a stream. */
class Recorder implements StreamObserver {
  readonly events: string[] = [];
  body = '';
  parts = 0;
  accepts = true;

  onInterim(raw: readonly string[]): void {
    this.events.push(`interim ${raw.join(' ')}`);
  }

  onHead(raw: readonly string[]): void {
    this.events.push(`head ${raw.join(' ')}`);
  }

  onTrailers(raw: readonly string[]): void {
    this.events.push(`trailers ${raw.join(' ')}`);
  }

  onData(chunk: Buffer): boolean {
    this.body += chunk.toString('latin1');
    this.parts++;
    return this.accepts;
  }

  onLast(): void {}

  onEnd(): void {
    this.events.push('end');
  }

  onError(): void {}

  onClose(): void {
    this.events.push('close');
  }
}

interface Opened {
  readonly connection: FrameConnection;
  readonly buffer: ReadBuffer;
  readonly socket: Socket;
  readonly closed: Promise<Error | undefined>;
  readonly goaways: (readonly [code: number, lastId: number])[];
}

const STREAM_WINDOW = 65_535;

/** Opens a connection, and waits for the settings of the server. */
async function open(upstream: FrameUpstream, firstId?: number, maxHeaderFields?: number): Promise<Opened> {
  const buffer = new ReadBuffer();
  let connection: FrameConnection | undefined;
  const callback = (bytes: number, into: Uint8Array): true => {
    connection!.read(into as Buffer, bytes);
    return true;
  };
  const onread = { buffer: () => buffer.current, callback };
  const socket = connect({ port: upstream.port, host: '127.0.0.1', onread });
  await once(socket, 'connect');
  const goaways: (readonly [number, number])[] = [];
  let close: (error: Error | undefined) => void = () => {};
  const closed = new Promise<Error | undefined>((resolve) => (close = resolve));
  const ready = new Promise<void>((resolve) => {
    const observer = {
      onSettings: () => resolve(),
      onGoaway: (code: number, lastId: number) => void goaways.push([code, lastId]),
      onPong: () => {},
      onClose: (error: Error | undefined) => close(error),
    };
    const options = {
      streamWindow: STREAM_WINDOW,
      connectionWindow: 2 ** 20,
      maxHeaderListBytes: 64 * 1024,
      ...(maxHeaderFields !== undefined && { maxHeaderFields }),
      firstId,
    };
    connection = new FrameConnection(socket, buffer, observer, options);
  });
  whenDone(() => void socket.destroy());
  await ready;
  return { connection: connection!, buffer, socket, closed, goaways };
}

/** Sends a request to a server that responds with these frames; returns what the stream received. */
async function exchange(respond: (id: number) => readonly Buffer[], accepts = true) {
  const upstream = await frameUpstream((socket, id) => socket.write(Buffer.concat(respond(id))));
  const opened = await open(upstream);
  const recorder = new Recorder();
  recorder.accepts = accepts;
  const stream = opened.connection.request(recorder, GET, NO_BODY);
  return { ...opened, upstream, recorder, stream };
}

const received = ({ received: frames }: FrameUpstream, type: number) => frames.filter((each) => each.type === type);
/** The data that a server received on a stream, by frame. */
const sizes = (upstream: FrameUpstream, id: number): number[] =>
  received(upstream, FRAME.data)
    .filter((each) => each.id === id)
    .map(({ payload }) => payload.length);
const total = (upstream: FrameUpstream, id: number): number => sizes(upstream, id).reduce((sum, each) => sum + each, 0);

describe('FrameConnection', () => {
  afterEach(closeAll);

  it('passes on interim heads, the head, data and trailers', async () => {
    const { recorder } = await exchange((id) => [
      head(id, ':status', '103', 'link', 'a'),
      head(id, ...OK, 'x-a', '1'),
      data(id, 'ab'),
      data(id, ''),
      data(id, 'c'),
      lastHead(id, 'x-t', '2'),
    ]);
    await until(() => recorder.events.includes('end'));
    expect(recorder.body).to.equal('abc');
    expect(recorder.events).to.deep.equal([
      'interim :status 103 link a',
      'head :status 200 x-a 1',
      'trailers x-t 2',
      'end',
    ]);
  });

  it('acknowledges settings and pings, and ignores priorities and unknown frames', async () => {
    const { upstream, recorder } = await exchange((id) => [
      frame(FRAME.ping, 0, 0, '12345678'),
      frame(FRAME.ping, FLAG.ack, 0, '87654321'),
      frame(FRAME.priority, 0, id, Buffer.alloc(5)),
      frame(0xee, 0xff, id, 'unknown'),
      settings([0xf0, 5], [3, 100]),
      lastHead(id, ...OK),
    ]);
    await until(() => recorder.events.includes('end'));
    await until(() => received(upstream, FRAME.ping).length === 1);
    const [ping] = received(upstream, FRAME.ping);
    expect([ping!.flags, ping!.payload.toString()]).to.deep.equal([FLAG.ack, '12345678']);
    await until(() => received(upstream, FRAME.settings).filter(({ flags }) => flags === FLAG.ack).length === 2);
  });

  it('reads heads with padding and priority, and those in several frames', async () => {
    const block = fields([...OK, 'x-a', '1']);
    const { recorder } = await exchange((id) => [
      frame(
        FRAME.headers,
        FLAG.padded | FLAG.priority,
        id,
        Buffer.concat([Buffer.of(2), Buffer.alloc(5), block.subarray(0, 3), Buffer.alloc(2)]),
      ),
      frame(FRAME.continuation, 0, id, block.subarray(3, 4)),
      frame(FRAME.continuation, FLAG.endHeaders, id, block.subarray(4)),
      lastData(id, ''),
    ]);
    await until(() => recorder.events.includes('end'));
    expect(recorder.events[0]).to.equal('head :status 200 x-a 1');
  });

  it('sends long header lists in several frames', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection } = await open(upstream);
    connection.request(new Recorder(), [...GET, 'x-long', 'v'.repeat(40_000)], NO_BODY);
    await until(() => received(upstream, FRAME.continuation).some(({ flags }) => (flags & FLAG.endHeaders) !== 0));
    const frames = upstream.received.filter(({ id }) => id === 1);
    expect(frames.map(({ type, flags }) => [type, flags])).to.deep.equal([
      [FRAME.headers, FLAG.endStream],
      [FRAME.continuation, 0],
      [FRAME.continuation, FLAG.endHeaders],
    ]);
    expect(frames.map(({ payload }) => payload.length).slice(0, 2)).to.deep.equal([16_384, 16_384]);
  });

  it('never sends more than the windows allow, also when they shrink', async () => {
    const upstream = await frameUpstream(() => {}, settings([4, 10]));
    const { connection } = await open(upstream);
    const [socket] = upstream.sockets;
    const stream = connection.request(new Recorder(), POST, WITH_BODY);
    stream.end(Buffer.alloc(70_000, 'x'));
    await until(() => total(upstream, 1) === 10);
    // 5 less for the stream, which has used 10: nothing until it has more than those.
    socket!.write(Buffer.concat([settings([4, 5]), windowUpdate(1, 5), windowUpdate(1, 1)]));
    await until(() => total(upstream, 1) === 11);
    socket!.write(settings([4, 2 ** 20]));
    await until(() => total(upstream, 1) === 65_535);
    expect(Math.max(...sizes(upstream, 1))).to.equal(16_384);
    socket!.write(windowUpdate(0, 100_000));
    await until(() => total(upstream, 1) === 70_000);
    const last = received(upstream, FRAME.data).at(-1)!;
    expect(last.flags).to.equal(FLAG.endStream);
  });

  it('shares the window of the connection between streams', async () => {
    const upstream = await frameUpstream(() => {}, settings([4, 2 ** 20]));
    const { connection } = await open(upstream);
    for (let i = 0; i < 3; i++) connection.request(new Recorder(), POST, WITH_BODY).end(Buffer.alloc(100_000));
    await until(() => total(upstream, 1) + total(upstream, 3) + total(upstream, 5) === 65_535);
    for (const id of [1, 3, 5]) expect(total(upstream, id), String(id)).to.be.at.least(16_383);
    const [socket] = upstream.sockets;
    socket!.write(windowUpdate(0, 1_000_000));
    await until(() => total(upstream, 1) + total(upstream, 3) + total(upstream, 5) === 300_000);
  });

  it('lets streams send in turns, also when they have more than is written at once', async () => {
    const upstream = await frameUpstream(() => {}, Buffer.concat([settings([4, 2 ** 20]), windowUpdate(0, 2 ** 24)]));
    const { connection } = await open(upstream);
    const count = 40;
    for (let i = 0; i < count; i++) connection.request(new Recorder(), POST, WITH_BODY).end(Buffer.alloc(30_000));
    await until(() => received(upstream, FRAME.data).length === 2 * count);
    const first = received(upstream, FRAME.data).slice(0, count);
    expect(new Set(first.map(({ id }) => id)).size).to.equal(count);
  });

  it('asks its source to wait, and to go on', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection } = await open(upstream);
    const stream = connection.request(new Recorder(), POST, WITH_BODY);
    let drains = 0;
    stream.on('drain', () => drains++);
    expect(stream.write(Buffer.alloc(1000))).to.equal(true);
    expect(stream.write(Buffer.alloc(100_000))).to.equal(false);
    await until(() => total(upstream, 1) === 65_535);
    expect(drains).to.equal(1);
    const [socket] = upstream.sockets;
    socket!.write(Buffer.concat([windowUpdate(0, 100_000), windowUpdate(1, 100_000)]));
    await until(() => total(upstream, 1) === 101_000);
  });

  it('calls back when this part of the body is sent, not one before it', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection } = await open(upstream);
    const stream = connection.request(new Recorder(), POST, WITH_BODY);
    const sent: string[] = [];
    stream.write(Buffer.alloc(30_000));
    stream.write(Buffer.alloc(30_000), () => sent.push('second'));
    stream.write(Buffer.alloc(30_000));
    stream.write(Buffer.alloc(30_000), () => sent.push('fourth'));
    await until(() => total(upstream, 1) === STREAM_WINDOW);
    expect(sent).to.deep.equal(['second']);
    const [socket] = upstream.sockets;
    for (const id of [0, 1]) socket!.write(windowUpdate(id, 40_000));
    await until(() => total(upstream, 1) === STREAM_WINDOW + 40_000);
    expect(sent).to.deep.equal(['second']);
    for (const id of [0, 1]) socket!.write(windowUpdate(id, 40_000));
    await until(() => sent.length === 2);
    expect(sent).to.deep.equal(['second', 'fourth']);
  });

  it('sends trailers after the body, and an empty frame without any', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection } = await open(upstream);
    for (const trailers of [{ 'x-t': ['1', '2'] }, {}]) {
      const stream = connection.request(new Recorder(), POST, { endStream: false, waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers(trailers));
      stream.write(Buffer.from('body'));
      stream.end();
    }
    const flagsOf = (id: number) =>
      upstream.received.filter((each) => each.id === id).map(({ type, flags }) => [type, flags]);
    await until(() => flagsOf(3).length === 2);
    expect(flagsOf(1)).to.deep.equal([
      [FRAME.headers, FLAG.endHeaders],
      [FRAME.data, 0],
      [FRAME.headers, FLAG.endHeaders | FLAG.endStream],
    ]);
    expect(flagsOf(3).at(-1)).to.deep.equal([FRAME.data, FLAG.endStream]);
  });

  it('sends no trailers with characters that are not allowed', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection } = await open(upstream);
    for (const trailers of [
      { 'x-t': '1\n2' },
      { 'x-t': '\u010d\u010ax-forged: 1' },
      { 'x t': '1' },
      { ':path': '/' },
    ]) {
      const stream = connection.request(new Recorder(), POST, { endStream: false, waitForTrailers: true });
      expect(() => stream.sendTrailers(trailers), JSON.stringify(trailers)).to.throw(RequestHeadError);
    }
  });

  const padding = (id: number): Buffer =>
    frame(FRAME.data, FLAG.padded, id, Buffer.concat([Buffer.of(255), Buffer.alloc(255)]));

  it('grants a window again as it is read, and not while the stream is paused', async () => {
    const updates = (upstream: FrameUpstream) => received(upstream, FRAME.windowUpdate).filter(({ id }) => id === 1);
    const { upstream, recorder, stream } = await exchange(
      (id) => [
        head(id, ...OK),
        data(id, 'a'.repeat(16_384)),
        PONG,
        data(id, 'b'.repeat(16_384)),
        PONG,
        padding(id),
        data(id, 'c'.repeat(16_384)),
      ],
      false,
    );
    await until(() => recorder.body.length >= 16_384);
    const [socket] = upstream.sockets;
    socket!.write(frame(FRAME.ping, 0, 0, '12345678'));
    await until(() => received(upstream, FRAME.ping).length === 1);
    expect(updates(upstream)).to.deep.equal([]);
    stream._read();
    expect(recorder.body.length).to.equal(32_768);
    recorder.accepts = true;
    stream._read();
    expect(recorder.body).to.equal('a'.repeat(16_384) + 'b'.repeat(16_384) + 'c'.repeat(16_384));
    await until(() => updates(upstream).length === 1);
    expect(updates(upstream)[0]!.payload.readUInt32BE(0)).to.equal(3 * 16_384 + 256);
  });

  it('grants a window again for padding', async () => {
    const frames = Math.ceil(STREAM_WINDOW / 2 / 256);
    const { upstream } = await exchange((id) => [
      head(id, ...OK),
      ...Array.from({ length: frames }, () => padding(id)),
    ]);
    await until(() => received(upstream, FRAME.windowUpdate).some(({ id }) => id === 1));
    const update = received(upstream, FRAME.windowUpdate).find(({ id }) => id === 1)!;
    expect(update.payload.readUInt32BE(0)).to.equal(frames * 256);
  });

  it('grants the window of the connection for a stream that it has reset', async () => {
    const { upstream, stream } = await exchange((id) => [head(id, ...OK)]);
    await until(() => upstream.sockets.size === 1);
    stream.close(8);
    const [socket] = upstream.sockets;
    const half = Array.from({ length: 2 ** 5 }, () => data(stream.id, 'a'.repeat(2 ** 14)));
    socket!.write(Buffer.concat(half));
    const grants = () => received(upstream, FRAME.windowUpdate).filter(({ id }) => id === 0);
    await until(() => grants().length === 2);
    expect(grants()[1]!.payload.readUInt32BE(0)).to.equal(2 ** 19);
  });

  it('sends nothing more for a stream that is reset while it reads what waited', async () => {
    const { upstream, recorder, stream } = await exchange(
      (id) => [head(id, ...OK), ...Array.from({ length: 3 }, () => [data(id, 'a'.repeat(16_384)), PONG]).flat()],
      false,
    );
    await until(() => recorder.parts > 0);
    const [socket] = upstream.sockets;
    socket!.write(frame(FRAME.ping, 0, 0, '12345678'));
    await until(() => received(upstream, FRAME.ping).length === 1);
    recorder.onData = () => {
      stream.close(8);
      return true;
    };
    stream._read();
    socket!.write(frame(FRAME.ping, 0, 0, '12345678'));
    await until(() => received(upstream, FRAME.ping).length === 2);
    expect(upstream.received.filter(({ id }) => id === 1).map(({ type }) => type)).to.deep.equal([
      FRAME.headers,
      FRAME.rstStream,
    ]);
  });

  it('joins large parts of the data of a stream that arrive together', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection } = await open(upstream);
    const [first, second] = [new Recorder(), new Recorder()];
    for (const recorder of [first, second]) connection.request(recorder, GET, NO_BODY);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(5000)) as [string, string, string, string];
    const bytes = Buffer.concat([
      head(1, ...OK),
      head(3, ...OK),
      data(1, a),
      data(1, b),
      data(1, 'short'),
      data(3, c),
      data(1, a),
      PONG,
      data(1, d),
      lastData(1, b),
      data(3, 'y'),
      data(3, 'z'),
      lastHead(3, 'x-t', '1'),
    ]);
    connection.read(bytes, bytes.length);
    expect(first.body).to.equal(`${a}${b}short${a}${d}${b}`);
    expect(second.body).to.equal(`${c}yz`);
    expect([first.parts, second.parts]).to.deep.equal([3, 3]);
    expect(first.events).to.deep.equal(['head :status 200', 'end']);
    expect(second.events).to.deep.equal(['head :status 200', 'trailers x-t 1', 'end']);
  });

  it('does not give its buffer to others while it may still be read into, after a stream is reset', async function () {
    if (process.platform === 'win32') skip(this, 'connections share no buffer on Windows');
    const shared = new ReadBuffer().current;
    const { upstream, connection, buffer, recorder, stream } = await exchange((id) => [
      head(id, ...OK),
      ...Array.from({ length: 3 }, () => data(id, 'a'.repeat(16_000))),
    ]);
    const [socket] = upstream.sockets;
    await until(() => recorder.body.length === 48_000);
    // Until enough arrives at once: then it has a buffer of its own.
    while (buffer.current === shared) {
      const before = recorder.body.length;
      socket!.write(Buffer.concat(Array.from({ length: 3 }, () => data(1, 'a'.repeat(16_000)))));
      await until(() => recorder.body.length === before + 48_000);
    }
    stream.close(8);
    const other = new ReadBuffer();
    other.detachBuffer();
    const kept = other.current.fill('k');
    socket!.write(Buffer.concat([data(1, 'late'.repeat(4000)), frame(FRAME.ping, 0, 0, '12345678')]));
    await until(() => received(upstream, FRAME.ping).length === 1);
    expect(kept.equals(Buffer.alloc(kept.length, 'k'))).to.equal(true);
    // The next read releases it.
    expect(buffer.current).to.equal(shared);
    expect(connection.destroyed).to.equal(false);
  });

  it('joins many short parts that wait for a stream that is paused', async () => {
    const { upstream, recorder, stream } = await exchange(
      (id) => [head(id, ...OK), ...Array.from({ length: 5000 }, () => [data(id, 'x'), PONG]).flat()],
      false,
    );
    const [socket] = upstream.sockets;
    socket!.write(frame(FRAME.ping, 0, 0, '12345678'));
    await until(() => received(upstream, FRAME.ping).length === 1);
    recorder.accepts = true;
    stream._read();
    expect(recorder.body).to.equal('x'.repeat(5000));
    expect(recorder.parts).to.be.lessThan(1200);
  });

  it('resets a stream whose response is complete before its request is sent', async () => {
    const upstream = await frameUpstream((socket, id) => socket.write(lastHead(id, ...OK)));
    const { connection } = await open(upstream);
    const recorder = new Recorder();
    const stream = connection.request(recorder, POST, WITH_BODY);
    stream.end(Buffer.alloc(100_000));
    await until(() => received(upstream, FRAME.rstStream).length === 1);
    expect(recorder.events).to.deep.equal(['head :status 200', 'end']);
    expect(stream.closed).to.equal(true);
  });

  it('keeps the rest of a response for a stream that is paused, also when the connection ends', async () => {
    const { upstream, recorder, stream, closed } = await exchange(
      (id) => [head(id, ...OK), data(id, 'a'), PONG, data(id, 'b'), lastHead(id, 'x-t', '1')],
      false,
    );
    await until(() => recorder.body === 'a');
    for (const socket of upstream.sockets) socket.destroy();
    await closed;
    expect(recorder.events).to.deep.equal(['head :status 200']);
    expect(stream.destroyed).to.equal(false);
    recorder.accepts = true;
    stream._read();
    expect(recorder.body).to.equal('ab');
    expect(recorder.events.slice(1)).to.deep.equal(['trailers x-t 1', 'end']);
    expect(stream.destroyed).to.equal(true);
  });

  it('ends its streams after the turn in which the server ends the connection', async () => {
    const { recorder, socket, closed } = await exchange((id) => [head(id, ...OK), data(id, 'part')]);
    await until(() => recorder.body === 'part');
    socket.emit('end');
    await new Promise((resolve) => process.nextTick(resolve));
    expect(recorder.events).to.deep.equal(['head :status 200']);
    expect(await closed).to.equal(undefined);
    expect(recorder.events).to.deep.equal(['head :status 200', 'close']);
  });

  it('ignores what arrives for a stream that it has reset, except what later heads depend on', async () => {
    const added = Buffer.concat([Buffer.of(0x88, 0x40, 1), Buffer.from('n'), Buffer.of(1), Buffer.from('v')]);
    const upstream = await frameUpstream((socket, id) => {
      if (id === 1) return;
      socket.write(frame(FRAME.headers, FLAG.endHeaders, 1, added));
      socket.write(Buffer.concat([data(1, 'late'), lastData(1, ''), reset(1, 8), windowUpdate(1, 5)]));
      socket.write(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, Buffer.of(0x88, 0xbe)));
    });
    const { connection } = await open(upstream);
    const [first, second] = [new Recorder(), new Recorder()];
    connection.request(first, GET, NO_BODY).close(8);
    connection.request(second, GET, NO_BODY);
    await until(() => second.events.includes('end'));
    expect(first.events).to.deep.equal([]);
    expect(second.events[0]).to.equal('head :status 200 n v');
  });

  it('reads the response of a server that closes the connection during an upload', async () => {
    const upstream = await frameUpstream(
      (socket, id) => {
        // What it has not read makes the system reset the connection.
        socket.pause();
        socket.write(Buffer.concat([head(id, ':status', '413'), lastData(id, 'too large')]), () => socket.destroy());
      },
      Buffer.concat([settings([4, 2 ** 30]), windowUpdate(0, 2 ** 30)]),
    );
    const { connection, closed } = await open(upstream);
    const recorder = new Recorder();
    const stream = connection.request(recorder, POST, WITH_BODY);
    const chunk = Buffer.alloc(1_000_000);
    const fill = (): void => {
      while (!stream.closed && stream.write(chunk));
    };
    stream.on('drain', fill);
    fill();
    await closed;
    expect(recorder.body).to.equal('too large');
    expect(recorder.events).to.deep.equal(['head :status 413', 'end']);
  });

  it('ends the streams that GOAWAY leaves out, and closes the connection after the last', async () => {
    const upstream = await frameUpstream((socket, id) => {
      if (id === 5) socket.write(goaway(3));
    });
    const { connection, goaways, closed } = await open(upstream);
    const recorders = [new Recorder(), new Recorder(), new Recorder()];
    for (const recorder of recorders) connection.request(recorder, GET, NO_BODY);
    await until(() => goaways.length === 1);
    expect(goaways).to.deep.equal([[0, 3]]);
    expect(recorders.map(({ events }) => events)).to.deep.equal([[], [], ['close']]);
    const [socket] = upstream.sockets;
    socket!.write(Buffer.concat([lastHead(1, ...OK), lastHead(3, ...OK)]));
    await until(() => recorders[1]!.events.includes('end'));
    // Many of them change nothing.
    socket!.write(Buffer.concat(Array.from({ length: 100 }, () => goaway(3))));
    expect(await closed).to.equal(undefined);
    expect(received(upstream, FRAME.goaway)[0]!.payload.readUInt32BE(4)).to.equal(0);
  });

  it('completes the streams that GOAWAY with an error includes', async () => {
    const upstream = await frameUpstream((socket, id) => {
      if (id === 3) socket.write(Buffer.concat([goaway(1, 2), lastHead(1, ...OK)]));
    });
    const { connection, goaways } = await open(upstream);
    const recorders = [new Recorder(), new Recorder()];
    for (const recorder of recorders) connection.request(recorder, GET, NO_BODY);
    await until(() => recorders[0]!.events.includes('end'));
    expect(goaways).to.deep.equal([[2, 1]]);
    expect(recorders.map(({ events }) => events)).to.deep.equal([['head :status 200', 'end'], ['close']]);
  });

  it('opens no stream after the last number, and none while it is being closed', async () => {
    const upstream = await frameUpstream((socket, id) => socket.write(lastHead(id, ...OK)));
    const { connection } = await open(upstream, 2 ** 31 - 3);
    const recorders = [new Recorder(), new Recorder()];
    for (const recorder of recorders) {
      expect(connection.isExhausted).to.equal(false);
      connection.request(recorder, GET, NO_BODY);
    }
    expect(connection.isExhausted).to.equal(true);
    expect(() => connection.request(new Recorder(), GET, NO_BODY)).to.throw('all streams of the connection are used');
    await until(() => recorders.every(({ events }) => events.includes('end')));
    expect(received(upstream, FRAME.headers).map(({ id }) => id)).to.deep.equal([2 ** 31 - 3, 2 ** 31 - 1]);
    const other = await open(upstream);
    other.connection.close();
    expect(() => other.connection.request(new Recorder(), GET, NO_BODY)).to.throw('the connection is closed');
  });

  it('accepts pings for any time while nothing else happens, but not many at once', async () => {
    const upstream = await frameUpstream((socket, id) => socket.write(head(id, ...OK)));
    const { connection, closed } = await open(upstream);
    const recorder = new Recorder();
    connection.request(recorder, GET, NO_BODY);
    await until(() => recorder.events.length === 1);
    const [socket] = upstream.sockets;
    const pings = Buffer.concat(Array.from({ length: 900 }, () => frame(FRAME.ping, 0, 0, '12345678')));
    const { now } = performance;
    try {
      for (let round = 1; round <= 4; round++) {
        socket!.write(pings);
        await until(() => received(upstream, FRAME.ping).length === round * 900);
        performance.now = () => now.call(performance) + round * 11_000;
      }
      expect(connection.destroyed).to.equal(false);
      // All in one of the periods, which is not the first one.
      socket!.write(pings);
      await until(() => received(upstream, FRAME.ping).length === 5 * 900);
      socket!.write(pings);
      expect((await closed)!.message).to.equal('too many frames besides requests and responses');
    } finally {
      performance.now = now;
    }
  });

  it('closes a connection whose server does not read', async () => {
    const upstream = await frameUpstream(() => {});
    const { connection, closed } = await open(upstream);
    const [socket] = upstream.sockets;
    socket!.pause();
    const recorder = new Recorder();
    const headers = [...GET, 'x-long', 'v'.repeat(60_000)];
    const ask = (): void => {
      for (let i = 0; i < 20 && !connection.destroyed; i++)
        connection.request(new Recorder(), headers, NO_BODY).close(8);
      if (!connection.destroyed) setImmediate(ask);
    };
    connection.request(recorder, GET, NO_BODY);
    ask();
    expect((await closed)!.message).to.equal('the peer has stopped reading; 16 MiB wait');
    expect(recorder.events).to.deep.equal(['close']);
  });

  it('resets a stream whose response is not valid, and keeps the connection', async () => {
    const length = (value: string) => ['content-length', value];
    const cases: Readonly<Record<string, (id: number) => readonly Buffer[]>> = {
      'a name in upper case': (id) => [lastHead(id, ...OK, 'X-A', '1')],
      'trailers with a status': (id) => [head(id, ...OK), lastHead(id, ...OK)],
      'trailers that end nothing': (id) => [head(id, ...OK), head(id, 'x-t', '1')],
      'an interim head that ends the stream': (id) => [lastHead(id, ':status', '103')],
      'data before the head': (id) => [lastData(id, 'x')],
      'data after an interim head': (id) => [head(id, ':status', '103'), lastData(id, 'x')],
      'more data than its length': (id) => [head(id, ...OK, ...length('1')), data(id, 'xx')],
      'less data than its length': (id) => [head(id, ...OK, ...length('3')), lastData(id, 'xx')],
      'less data than its length, then trailers': (id) => [
        head(id, ...OK, ...length('3')),
        data(id, 'xx'),
        lastHead(id, 'x-t', '1'),
      ],
      'a length without a body': (id) => [lastHead(id, ...OK, ...length('3'))],
      'data of 304': (id) => [head(id, ':status', '304', ...length('1')), data(id, 'x')],
      'te in a head': (id) => [lastHead(id, ...OK, 'te', 'gzip')],
      'an empty window update': (id) => [windowUpdate(id, 0)],
      'a window that is too large': (id) => [windowUpdate(id, 2 ** 31 - 1)],
    };
    for (const [name, make] of Object.entries(cases)) {
      const { upstream, recorder, connection } = await exchange(make);
      await until(() => received(upstream, FRAME.rstStream).length === 1, name);
      const code = received(upstream, FRAME.rstStream)[0]!.payload.readUInt32BE(0);
      expect(code, name).to.equal(name === 'a window that is too large' ? 3 : 1);
      expect(recorder.events, name).not.to.include('end');
      expect(recorder.events.at(-1), name).to.equal('close');
      expect(connection.destroyed, name).to.equal(false);
    }
  });

  it('resets a stream whose head or trailers have more fields than are counted', async () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, i) => [`x-${i}`, '1']).flat();
    for (const [respond, last] of [
      [(id: number) => [lastHead(id, ...OK, ...many(9))], 'end'],
      [(id: number) => [lastHead(id, ...OK, ...many(10))], 'close'],
      [(id: number) => [head(id, ...OK), lastHead(id, ...many(11))], 'close'],
    ] as const) {
      const upstream = await frameUpstream((socket, id) => socket.write(Buffer.concat(respond(id))));
      const { connection } = await open(upstream, undefined, 10);
      const recorder = new Recorder();
      connection.request(recorder, GET, NO_BODY);
      await until(() => recorder.events.includes(last));
      if (last === 'close') await until(() => received(upstream, FRAME.rstStream).length === 1);
      expect(recorder.events).not.to.include(last === 'end' ? 'close' : 'end');
    }
  });

  it('closes the connection for violations of the protocol', async () => {
    const block = fields(OK);
    const cases: Readonly<Record<string, readonly [code: number, make: (id: number) => readonly Buffer[]]>> = {
      'a frame is too large': [6, (id) => [frame(FRAME.data, 0, id, Buffer.alloc(16_385))]],
      'stream 0 is not open': [1, () => [lastData(0, 'x')]],
      'stream 2 is not open': [1, () => [lastHead(2, ...OK)]],
      'stream 3 is not open': [1, () => [reset(3, 0)]],
      'stream 5 is not open': [1, () => [windowUpdate(5, 1)]],
      'a stream sends more than its window': [
        3,
        (id) => [head(id, ...OK), ...Array.from({ length: 5 }, () => data(id, 'x'.repeat(16_000)))],
      ],
      'data follows the end of a stream': [5, (id) => [lastHead(id, ...OK), data(id, 'x')]],
      'a head follows the end of a stream': [5, (id) => [lastHead(id, ...OK), lastHead(id, ...OK)]],
      'PUSH_PROMISE is not accepted': [1, (id) => [frame(FRAME.pushPromise, FLAG.endHeaders, id, Buffer.alloc(4))]],
      'a header block is not complete': [
        1,
        (id) => [frame(FRAME.headers, 0, id, block), frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
      ],
      'a frame continues no header block': [1, (id) => [frame(FRAME.continuation, FLAG.endHeaders, id, block)]],
      'a header block is too long': [
        CALM,
        (id) => [
          frame(FRAME.headers, 0, id, block),
          ...Array.from({ length: 20 }, () => frame(FRAME.continuation, 0, id)),
        ],
      ],
      'no field has the index 0': [9, (id) => [frame(FRAME.headers, FLAG.endHeaders, id, Buffer.of(0x80))]],
      'a padded frame is empty': [6, (id) => [frame(FRAME.headers, FLAG.endHeaders | FLAG.padded, id)]],
      'the padding is longer than its frame': [
        1,
        (id) => [frame(FRAME.headers, FLAG.endHeaders | FLAG.padded, id, Buffer.of(9, 0x88))],
      ],
      'a stream depends on itself': [
        1,
        (id) => [
          frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, id, Buffer.concat([uint32(id), Buffer.of(0, 0x88)])),
        ],
      ],
      'settings have the wrong size': [6, () => [frame(FRAME.settings, 0, 0, 'xxxxx')]],
      'settings belong to a stream': [1, (id) => [frame(FRAME.settings, 0, id)]],
      'a server enables push': [1, () => [settings([2, 1])]],
      'the initial window is too large': [3, () => [settings([4, 2 ** 31])]],
      'a window is too large': [3, (id) => [windowUpdate(id, 2 ** 31 - 1 - 65_535), settings([4, 65_536])]],
      'the frame size 16383 is not allowed': [1, () => [settings([5, 16_383])]],
      'the setting of extended CONNECT is invalid': [1, () => [settings([8, 1]), settings([8, 0])]],
      'a ping belongs to a stream': [1, (id) => [frame(FRAME.ping, 0, id, '12345678')]],
      'a frame has the wrong size': [6, () => [frame(FRAME.ping, 0, 0, '1234567')]],
      'GOAWAY belongs to a stream': [1, (id) => [frame(FRAME.goaway, 0, id, Buffer.alloc(8))]],
      'GOAWAY is too short': [6, () => [frame(FRAME.goaway, 0, 0, Buffer.alloc(7))]],
      'a window update is empty': [1, () => [windowUpdate(0, 0)]],
      'the window is too large': [3, () => [windowUpdate(0, 2 ** 31 - 1)]],
      'a priority has no stream': [1, () => [frame(FRAME.priority, 0, 0, Buffer.alloc(5))]],
      'too many frames besides requests and responses': [
        CALM,
        (id) => Array.from({ length: 1500 }, (_, i) => [data(id, ''), frame(0xee, 0, 0), windowUpdate(0, 1)][i % 3]!),
      ],
    };
    for (const [message, [code, make]] of Object.entries(cases)) {
      // Paused after its first data; a request that is not complete keeps a stream open after its response.
      const upstream = await frameUpstream((socket, id) => {
        const frames = make(id);
        const needsHead =
          frames[0]![3] === FRAME.data && frames[0]!.readUInt32BE(5) === id && message.startsWith('too many');
        socket.write(Buffer.concat([...(needsHead ? [head(id, ...OK)] : []), ...frames]));
      });
      const { connection, closed } = await open(upstream);
      const recorder = new Recorder();
      recorder.accepts = false;
      connection.request(recorder, POST, WITH_BODY);
      const error = await closed;
      expect(error, message).to.be.instanceOf(ConnectionError);
      expect(error!.message).to.equal(message);
      await until(() => received(upstream, FRAME.goaway).length === 1, message);
      expect(received(upstream, FRAME.goaway)[0]!.payload.readUInt32BE(4), message).to.equal(code);
    }
  });

  it('does not collect acknowledgements, also between parts of a response', async () => {
    const { closed } = await exchange((id) => [
      head(id, ...OK),
      ...Array.from({ length: 1500 }, () => [frame(FRAME.ping, 0, 0, '12345678'), data(id, 'x')]).flat(),
    ]);
    const error = await closed;
    expect(error).to.be.instanceOf(ConnectionError);
    expect(error!.message).to.equal('too many acknowledgements wait');
  });

  it('rejects a connection that does not begin with settings', async () => {
    for (const first of [frame(FRAME.ping, 0, 0, '12345678'), frame(FRAME.settings, FLAG.ack, 0), data(1, 'x')]) {
      const upstream = await frameUpstream(() => {}, first);
      const opened = open(upstream);
      await until(() => received(upstream, FRAME.goaway).length === 1);
      expect(received(upstream, FRAME.goaway)[0]!.payload.readUInt32BE(4)).to.equal(1);
      void opened;
    }
  });
});
