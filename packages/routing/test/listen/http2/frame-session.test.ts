import { once } from 'node:events';
import { connect } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Handler } from '@edge-gateway/core';
import { closeAll, until, whenDone } from '../../forward/harness.ts';
import {
  CODE,
  fields,
  FLAG,
  FRAME,
  frame,
  FrameClient,
  PREFACE,
  requestFields,
  requestFrame,
  uint32,
} from './frames.ts';
import { serve } from '../serving.ts';
import { http2Client } from './client.ts';
import { echo, http2Gateway, settings, type Http2Gateway, type Http2GatewayParts } from './gateway.ts';

const END = FLAG.endHeaders | FLAG.endStream;
const STREAM_CLOSED = 5;
const FRAME_SIZE = 6;
const COMPRESSION = 9;
const LARGEST_ID = 2 ** 31 - 1;
const WINDOW = 65_535;
/** A part of a body: two of them are less than half a window. */
const PART = Buffer.alloc(16_000);
const TRAILERS = { spec: { connectionConfig: { http1ProtocolOptions: { enableTrailers: true } } } };

const setting = (id: number, value: number): Buffer =>
  frame(FRAME.settings, 0, 0, Buffer.concat([Buffer.of(0, id), uint32(value)]));

const postFields = (...more: readonly (readonly [string, string])[]): Buffer =>
  fields([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a'], ...more);

/** The head of an upload. */
const upload = (id: number, ...more: readonly (readonly [string, string])[]): Buffer =>
  frame(FRAME.headers, FLAG.endHeaders, id, postFields(...more));

const data = (id: number, body: string | Buffer, flags = 0): Buffer => frame(FRAME.data, flags, id, Buffer.from(body));
const ping = (text = '12345678'): Buffer => frame(FRAME.ping, 0, 0, Buffer.from(text));

async function start(parts: Http2GatewayParts = {}): Promise<Http2Gateway> {
  const gateway = await http2Gateway({ ...parts, limits: { ...parts.limits } });
  whenDone(() => gateway.close());
  return gateway;
}

/** The JSON that the echo of an upstream has sent on a stream. */
async function echoed(client: FrameClient, id: number): Promise<{ body: string; rawTrailers: string[] }> {
  await client.until(({ stream, flags, type }) => stream === id && type <= FRAME.headers && (flags & 1) !== 0);
  const parts = client.frames.filter(({ stream, type }) => stream === id && type === FRAME.data);
  return JSON.parse(Buffer.concat(parts.map(({ payload }) => payload)).toString('latin1')) as never;
}

describe('FrameSession', () => {
  afterEach(closeAll);

  it('reads a request that is split at any byte', async () => {
    const { port } = await start({ respond: echo, listener: settings({ enableTrailers: true }), upstream: TRAILERS });
    const block = postFields(['x-a', 'b'.repeat(20)]);
    const bytes = Buffer.concat([
      PREFACE,
      frame(FRAME.settings, 0, 0),
      frame(
        FRAME.headers,
        FLAG.padded | FLAG.priority,
        1,
        Buffer.concat([Buffer.of(2, 0, 0, 0, 0, 1), block.subarray(0, 30), Buffer.alloc(2)]),
      ),
      frame(FRAME.continuation, FLAG.endHeaders, 1, block.subarray(30)),
      ping(),
      frame(FRAME.data, FLAG.padded, 1, Buffer.concat([Buffer.of(3), Buffer.from('abc'), Buffer.alloc(3)])),
      data(1, 'def'),
      frame(FRAME.headers, END, 1, fields(['x-t', '1'])),
    ]);
    const splits = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
    // All at once would be more connections than a listener accepts at a time.
    while (splits.length > 0) {
      await Promise.all(
        splits.splice(0, 20).map(async (at) => {
          const client = new FrameClient(port);
          client.send(bytes.subarray(0, at));
          await once(client.socket, 'connect');
          await new Promise((resolve) => setImmediate(resolve));
          client.send(bytes.subarray(at));
          const { body, rawTrailers } = await echoed(client, 1);
          expect([body, ...rawTrailers], `at ${at}`).to.deep.equal(['abcdef', 'x-t', '1']);
          client.close();
        }),
      );
    }
  });

  describe('closes the connection', () => {
    const idle = requestFields('/');
    const complete = requestFrame(1, '/');
    const VIOLATIONS: readonly (readonly [name: string, code: number, ...sent: readonly Buffer[]])[] = [
      ['DATA behind the end of a request', STREAM_CLOSED, upload(1), data(1, 'a', 1), data(1, 'b')],
      ['DATA behind a reset', STREAM_CLOSED, upload(1), frame(FRAME.rstStream, 0, 1, uint32(8)), data(1, 'b')],
      ['a head behind the end of a request', STREAM_CLOSED, upload(1), data(1, 'a', 1), complete],
      ['a head behind a reset', STREAM_CLOSED, upload(1), frame(FRAME.rstStream, 0, 1, uint32(8)), complete],
      ['a stream that was left out', CODE.protocol, requestFrame(5, '/'), requestFrame(3, '/')],
      ['an even stream', CODE.protocol, requestFrame(2, '/')],
      ['a head without a stream', CODE.protocol, requestFrame(0, '/')],
      ['DATA of an idle stream', CODE.protocol, data(7, 'a')],
      ['DATA without a stream', CODE.protocol, data(0, 'a')],
      ['a reset of an idle stream', CODE.protocol, frame(FRAME.rstStream, 0, 7, uint32(8))],
      ['a window update of an idle stream', CODE.protocol, frame(FRAME.windowUpdate, 0, 7, uint32(1))],
      ['a frame within a header block', CODE.protocol, frame(FRAME.headers, 0, 1, idle), ping()],
      ['DATA within a header block', CODE.protocol, upload(1), frame(FRAME.headers, 0, 3, idle), data(1, 'a')],
      ['a continuation of nothing', CODE.protocol, frame(FRAME.continuation, END, 1, idle)],
      [
        'a continuation of another stream',
        CODE.protocol,
        frame(FRAME.headers, 0, 1, idle),
        frame(FRAME.continuation, FLAG.endHeaders, 3, idle),
      ],
      ['a pushed response', CODE.protocol, frame(FRAME.pushPromise, FLAG.endHeaders, 1, uint32(2))],
      ['settings of a stream', CODE.protocol, frame(FRAME.settings, 0, 1)],
      ['settings of a wrong size', FRAME_SIZE, frame(FRAME.settings, 0, 0, Buffer.alloc(5))],
      ['settings that are acknowledged with content', FRAME_SIZE, frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(6))],
      ['an initial window that is too large', CODE.flowControl, setting(4, 2 ** 31)],
      ['a frame size that is too small', CODE.protocol, setting(5, 16_383)],
      ['a frame size that is too large', CODE.protocol, setting(5, 2 ** 24)],
      ['an invalid setting of push', CODE.protocol, setting(2, 2)],
      ['a ping of a stream', CODE.protocol, frame(FRAME.ping, 0, 1, Buffer.alloc(8))],
      ['a ping of a wrong size', FRAME_SIZE, frame(FRAME.ping, 0, 0, Buffer.alloc(7))],
      ['a reset of a wrong size', FRAME_SIZE, upload(1), frame(FRAME.rstStream, 0, 1, Buffer.alloc(3))],
      ['a window update of a wrong size', FRAME_SIZE, frame(FRAME.windowUpdate, 0, 0, Buffer.alloc(3))],
      ['a priority without a stream', CODE.protocol, frame(FRAME.priority, 0, 0, Buffer.alloc(5))],
      ['a priority of a wrong size', FRAME_SIZE, frame(FRAME.priority, 0, 1, Buffer.alloc(4))],
      ['a stream that depends on itself', CODE.protocol, frame(FRAME.priority, 0, 1, Buffer.of(0, 0, 0, 1, 1))],
      [
        'a head that depends on itself',
        CODE.protocol,
        frame(FRAME.headers, END | FLAG.priority, 1, Buffer.concat([Buffer.of(0, 0, 0, 1, 1), idle])),
      ],
      ['a GOAWAY of a stream', CODE.protocol, frame(FRAME.goaway, 0, 1, Buffer.alloc(8))],
      [
        'padding that is longer than its frame',
        CODE.protocol,
        upload(1),
        frame(FRAME.data, FLAG.padded, 1, Buffer.of(9, 1)),
      ],
      ['padding of a head that is longer', CODE.protocol, frame(FRAME.headers, END | FLAG.padded, 1, Buffer.of(9, 1))],
      ['a frame that is too large', FRAME_SIZE, upload(1), data(1, Buffer.alloc(16_385))],
      ['an index that is not in a table', COMPRESSION, frame(FRAME.headers, END, 1, Buffer.of(0xff, 0xff, 0x01))],
      ['a header block that is cut off', COMPRESSION, frame(FRAME.headers, END, 1, idle.subarray(0, -1))],
      [
        'an initial window that overflows one',
        CODE.flowControl,
        upload(1),
        frame(FRAME.windowUpdate, 0, 1, uint32(WINDOW)),
        setting(4, 2 ** 31 - 1),
      ],
    ];
    for (const [name, code, ...sent] of VIOLATIONS) {
      it(`for ${name}`, async () => {
        const { port } = await start({ respond: () => {} });
        const client = await FrameClient.open(port);
        client.send(...sent);
        expect(await client.goaway()).to.equal(code);
      });
    }

    it('if it does not begin with settings', async () => {
      const { port } = await start();
      const client = new FrameClient(port);
      client.send(PREFACE, requestFrame(1, '/'));
      expect(await client.goaway()).to.equal(CODE.protocol);
    });

    it('if its preface is invalid', async () => {
      const { port } = await start({ listener: settings({ codecType: 'HTTP2' }) });
      const client = new FrameClient(port);
      client.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n'));
      expect(await client.goaway()).to.equal(CODE.protocol);
    });

    it('if a client sends more than the window of a stream, or of the connection', async () => {
      const limits = { initialStreamWindowBytes: WINDOW, initialConnectionWindowBytes: 2 * WINDOW };
      const { port, close } = await serve(() => {}, { limits });
      whenDone(close);
      const full = (id: number): Buffer[] =>
        Array.from({ length: 5 }, (_, i) => data(id, Buffer.alloc(i < 4 ? 16_000 : WINDOW - 64_000)));
      const one = await FrameClient.open(port);
      one.send(upload(1), ...full(1), data(1, 'a'));
      expect(await one.goaway()).to.equal(CODE.flowControl);
      const other = await FrameClient.open(port);
      other.send(upload(1), ...full(1), upload(3), ...full(3), upload(5), data(5, 'a'));
      expect(await other.goaway()).to.equal(CODE.flowControl);
    });

    it('after many invalid requests', async () => {
      const { port } = await start();
      const client = await FrameClient.open(port);
      const invalid = (i: number): Buffer => requestFrame(2 * i + 1, '/', ['connection', 'close']);
      client.send(...Array.from({ length: 101 }, (_, i) => invalid(i)));
      expect(await client.goaway()).to.equal(CODE.calm);
      expect(await client.reset(1)).to.equal(CODE.protocol);
    });

    it('if a head is not complete in time, also while another request is in progress', async () => {
      const { port } = await start({
        respond: () => {},
        listener: settings({ requestHeadersTimeout: '0.2s' }),
      });
      const block = postFields(['x-a', 'b'.repeat(100)]);
      const whole = frame(FRAME.headers, END, 3, block);
      const begin = frame(FRAME.headers, FLAG.endStream, 3, block.subarray(0, 20));
      for (const [name, part] of [
        ['a block', begin],
        ['a block in several frames', Buffer.concat([begin, frame(FRAME.continuation, 0, 3, block.subarray(20, 30))])],
        ['a frame', whole.subarray(0, 30)],
        ['the head of a frame', whole.subarray(0, 5)],
      ] as const) {
        const client = await FrameClient.open(port);
        client.acknowledges = false;
        client.send(upload(1), part);
        expect(await client.goaway(), name).to.equal(CODE.calm);
      }
    });

    it('but not if each of many reads ends within another head', async () => {
      const { port } = await start({
        respond: (_req, res) => void res.end(),
        listener: settings({ requestHeadersTimeout: '0.6s' }),
      });
      const client = await FrameClient.open(port);
      client.acknowledges = false;
      const began = performance.now();
      let rest: Buffer = Buffer.alloc(0);
      let id = 1;
      for (; performance.now() - began < 900; id += 2) {
        const next = requestFrame(id, '/');
        client.send(rest, next.subarray(0, 20));
        rest = next.subarray(20);
        if (id > 1) await client.status(id - 2);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      client.send(rest);
      expect(await client.status(id - 2)).to.equal(200);
      client.close();
    });

    it('if a client does not read its responses and sends further requests', async () => {
      let served = 0;
      const { port, stat } = await start({
        respond(_req, res) {
          served++;
          res.writeHead(200, { 'x-large': 'a'.repeat(10_000) }).end();
        },
        limits: { closeDelayMs: 100 },
      });
      const client = await FrameClient.open(port);
      client.socket.pause();
      const head = fields([':method', 'HEAD'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
      const isClosed = (): boolean => stat('http.http.downstream_cx_active') === 0;
      await until(() => !isClosed());
      for (let i = 0; i < 100 && !isClosed(); i++) {
        const ids = Array.from({ length: 100 }, (_, j) => 2 * (100 * i + j) + 1);
        client.send(...ids.map((id) => frame(FRAME.headers, END, id, head)));
        await until(() => served >= 100 * (i + 1) || isClosed());
      }
      expect(isClosed()).to.equal(true);
      client.close();
    });
  });

  describe('resets a stream', () => {
    const VIOLATIONS: readonly (readonly [name: string, code: number, ...sent: readonly Buffer[]])[] = [
      ['an empty window update', CODE.protocol, upload(1), frame(FRAME.windowUpdate, 0, 1, uint32(0))],
      ['a window that overflows', CODE.flowControl, upload(1), frame(FRAME.windowUpdate, 0, 1, uint32(2 ** 31 - 1))],
      [
        'trailers that do not end it',
        CODE.protocol,
        upload(1),
        frame(FRAME.headers, FLAG.endHeaders, 1, fields(['a', 'b'])),
      ],
      ['a pseudo-header in trailers', CODE.protocol, upload(1), frame(FRAME.headers, END, 1, fields([':path', '/']))],
      ['capitals in trailers', CODE.protocol, upload(1), frame(FRAME.headers, END, 1, fields(['X-T', '1']))],
      ['LF in trailers', CODE.protocol, upload(1), frame(FRAME.headers, END, 1, fields(['x-t', '1\n2']))],
      [
        'trailers far above the limits',
        CODE.calm,
        upload(1),
        frame(FRAME.headers, END, 1, fields(...Array.from({ length: 500 }, () => ['a', 'b'] as const))),
      ],
      ['a body longer than its length', CODE.protocol, upload(1, ['content-length', '1']), data(1, 'ab')],
      ['a body shorter than its length', CODE.protocol, upload(1, ['content-length', '3']), data(1, 'ab', 1)],
      [
        'trailers before its length',
        CODE.protocol,
        upload(1, ['content-length', '3']),
        frame(FRAME.headers, END, 1, fields(['a', 'b'])),
      ],
      ['too many fields', CODE.calm, requestFrame(1, '/', ...Array.from({ length: 500 }, () => ['a', 'b'] as const))],
    ];
    for (const [name, code, ...sent] of VIOLATIONS) {
      it(`for ${name}, and serves the next one`, async () => {
        const { port } = await start({ respond: (req, res) => void (req.method === 'GET' && res.end()) });
        const client = await FrameClient.open(port);
        client.send(...sent);
        expect(await client.reset(1)).to.equal(code);
        client.send(requestFrame(3, '/'));
        expect(await client.status(3)).to.equal(200);
        client.close();
      });
    }

    it('whose response came early, and ignores what is still sent on it', async () => {
      const { port } = await start({ respond: (req, res) => void (req.method === 'POST' ? res.end('no') : res.end()) });
      const client = await FrameClient.open(port);
      client.send(upload(1), data(1, 'a'));
      expect(await client.status(1)).to.equal(200);
      expect(await client.reset(1)).to.equal(CODE.none);
      client.send(
        data(1, 'b'),
        frame(FRAME.windowUpdate, 0, 1, uint32(5)),
        frame(FRAME.headers, END, 1, fields(['a', 'b'])),
      );
      client.send(frame(FRAME.rstStream, 0, 1, uint32(0)), requestFrame(3, '/'));
      expect(await client.status(3)).to.equal(200);
      client.close();
    });
  });

  for (const [name, more, isReset] of [
    ['are reset at once', [], true],
    ['are longer than declared', [['content-length', '1']], false],
  ] as const) {
    it(`gives back the window of the connection for bodies that ${name}`, async () => {
      const { port } = await start({ respond: echo, limits: { initialConnectionWindowBytes: WINDOW } });
      const client = await FrameClient.open(port);
      for (let i = 0; i < 6; i++) {
        const id = 2 * i + 1;
        const last = isReset ? [frame(FRAME.rstStream, 0, id, uint32(8))] : [];
        client.send(upload(id, ...more), data(id, PART), data(id, PART), ...last, ping(`round ${i}.`));
        await client.until(({ type, payload }) => type === FRAME.ping && payload.toString() === `round ${i}.`);
      }
      client.send(upload(13), data(13, 'served', 1));
      expect((await echoed(client, 13)).body).to.equal('served');
      client.close();
    });
  }

  it('grants as much as was read, and not more', async () => {
    const windows = { initialStreamWindowBytes: WINDOW, initialConnectionWindowBytes: WINDOW };
    const limits = windows;
    const { port, close } = await serve((req, res) => void req.resume().on('end', () => res.end()), { limits });
    whenDone(close);
    const client = await FrameClient.open(port);
    const granted = (stream: number): number =>
      client.frames
        .filter((each) => each.type === FRAME.windowUpdate && each.stream === stream)
        .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
    client.send(upload(1));
    for (let i = 1; i <= 20; i++) {
      client.send(data(1, PART));
      const rest = (): number => i * PART.length - Math.min(granted(0), granted(1));
      await client.until(() => rest() <= WINDOW / 2);
      expect(Math.max(granted(0), granted(1))).to.be.at.most(i * PART.length);
    }
    client.close();
  });

  it('grants padding as well', async () => {
    const { port } = await start({
      limits: { initialStreamWindowBytes: WINDOW, initialConnectionWindowBytes: WINDOW },
    });
    const client = await FrameClient.open(port);
    const padded = frame(FRAME.data, FLAG.padded, 1, Buffer.alloc(16_384).fill(127, 0, 1));
    client.send(upload(1), padded, padded);
    for (const id of [0, 1]) {
      const { payload } = await client.until(({ type, stream }) => type === FRAME.windowUpdate && stream === id);
      expect(payload.readUInt32BE(0), `stream ${id}`).to.equal(2 * 16_384);
    }
    client.close();
  });

  it('grants what is sent on a stream whose response came early', async () => {
    const { port } = await start({
      respond: (req, res) => void (req.method === 'POST' ? res.end('no') : res.end()),
      limits: { initialConnectionWindowBytes: WINDOW },
    });
    const client = await FrameClient.open(port);
    client.send(upload(1));
    await client.reset(1);
    for (let i = 0; i < 10; i++) client.send(data(1, PART));
    client.send(requestFrame(3, '/'));
    expect(await client.status(3)).to.equal(200);
    client.close();
  });

  it('keeps a connection whose uploads go on after their responses came early', async () => {
    const { port } = await start({
      respond: (req, res) => void (req.method === 'POST' ? res.end('no') : res.end()),
      limits: { checkIntervalMs: 20 },
    });
    const client = await FrameClient.open(port);
    const checked = performance.now() + 10 * 20;
    for (let id = 1; performance.now() < checked; id += 4) {
      client.send(upload(id));
      await client.reset(id);
      for (let i = 0; i < 20; i++) client.send(data(id, PART));
      client.send(requestFrame(id + 2, '/'));
      expect(await client.status(id + 2)).to.equal(200);
    }
    client.close();
  });

  it('lets a client send although another body waits for its reader', async () => {
    let read = (): void => {};
    const handler = (req: IncomingMessage, res: ServerResponse): void => {
      if (req.url === '/slow') read = () => void req.resume().on('end', () => res.end());
      else req.resume().on('end', () => res.end());
    };
    const limits = { initialConnectionWindowBytes: WINDOW } as const;
    const { port, close } = await serve(handler, { limits });
    whenDone(close);
    const { ask, close: leave } = await http2Client(port);
    const slow = ask('/slow', { method: 'POST', body: Buffer.alloc(20_000) });
    const fast = await ask('/', { method: 'POST', body: Buffer.alloc(500_000) });
    expect(fast.status).to.equal(200);
    read();
    expect((await slow).status).to.equal(200);
    leave();
  });

  it('ends each response of a client that leaves before it has read them', async () => {
    let finished = 0;
    let closed = 0;
    let isBlocked = (): boolean => false;
    const body = Buffer.alloc(100_000);
    const handler: Handler = (req, res) => {
      isBlocked = () => req.socket.writableLength > 0;
      res.on('finish', () => finished++).on('close', () => closed++);
      res.end(body);
    };
    const { port, close } = await serve(handler, {});
    whenDone(close);
    const client = await FrameClient.open(port);
    client.send(setting(4, 2 ** 30), frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 30)));
    client.socket.pause();
    let sent = 0;
    // The last response waits for the client, completely written and not sent.
    while (finished === sent && sent < 1000) {
      client.send(requestFrame(2 * sent + 1, '/'));
      sent++;
      let polls = 0;
      await until(() => finished === sent || (isBlocked() && ++polls > 20));
    }
    client.close();
    await until(() => closed === sent);
    expect(finished).to.be.lessThan(sent);
  });

  it('ends responses that wait behind others when their client leaves', async () => {
    let closed = 0;
    let isBlocked = (): boolean => false;
    const handled: string[] = [];
    const handler: Handler = (req, res) => {
      isBlocked = () => req.socket.writableLength > 0;
      handled.push(req.url!);
      res.on('close', () => closed++);
      if (req.url === '/large') res.end(Buffer.alloc(64_000_000));
      else res.writeHead(204).end();
    };
    const { port, close } = await serve(handler, {});
    whenDone(close);
    const client = await FrameClient.open(port);
    client.send(setting(4, 2 ** 30), frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 30)));
    client.socket.pause();
    client.send(requestFrame(1, '/large'));
    await until(() => isBlocked());
    client.send(requestFrame(3, '/small'), requestFrame(5, '/small'));
    await until(() => handled.length === 3);
    client.close();
    await until(() => closed === 3);
  });

  it('calls back the writer of a response that is reset before it is sent', async () => {
    let written = 0;
    const handler: Handler = (_req, res) => void res.write(Buffer.alloc(1_000_000), () => written++);
    const { port, close } = await serve(handler, {});
    whenDone(close);
    const client = await FrameClient.open(port);
    client.send(requestFrame(1, '/'));
    expect(await client.status(1)).to.equal(200);
    expect(written).to.equal(0);
    client.send(frame(FRAME.rstStream, 0, 1, uint32(CODE.cancel)));
    await until(() => written === 1);
    client.close();
  });

  it('sends a response of which the client grants one byte at a time', async () => {
    const body = 'x'.repeat(2_000);
    const { port } = await start({ respond: (_req, res) => void res.end(body) });
    const client = await FrameClient.open(port);
    client.send(setting(4, 0), requestFrame(1, '/'));
    expect(await client.status(1)).to.equal(200);
    const sent = (): number =>
      client.frames.reduce((sum, { type, payload }) => sum + (type === FRAME.data ? payload.length : 0), 0);
    const grants = Buffer.concat(Array.from({ length: 500 }, () => frame(FRAME.windowUpdate, 0, 1, uint32(1))));
    for (let expected = 500; expected <= body.length; expected += 500) {
      client.send(grants);
      await client.until(() => sent() === expected);
    }
    client.close();
  });

  it('ignores the body of a request whose head is invalid, and serves the next one', async () => {
    const { port } = await start({ respond: (_req, res) => void res.end('ok') });
    const client = await FrameClient.open(port);
    client.send(upload(1, ['X-A', '1']), data(1, PART), data(1, 'x', FLAG.endStream), requestFrame(3, '/'));
    expect(await client.reset(1)).to.equal(CODE.protocol);
    expect(await client.status(3)).to.equal(200);
    client.close();
  });

  it('closes a connection that sends only padding', async () => {
    const { port } = await start({ respond: () => {} });
    const client = await FrameClient.open(port);
    const padded = frame(FRAME.data, FLAG.padded, 1, Buffer.of(3, 0, 0, 0));
    client.send(upload(1), ...Array.from({ length: 1_500 }, () => padded));
    expect(await client.goaway()).to.equal(CODE.calm);
  });

  it('grants data again that follows, in the same read, what made its handler give up', async () => {
    let begun = 0;
    const handler = (req: IncomingMessage, res: ServerResponse): void => {
      if (req.url === '/') {
        req.on('error', () => {}).once('data', () => req.destroy());
        // It flows from the next turn on.
        setImmediate(() => begun++);
      } else req.resume().on('end', () => res.end());
    };
    const limits = { initialConnectionWindowBytes: WINDOW } as const;
    const { port, close } = await serve(handler, { limits });
    whenDone(close);
    const client = await FrameClient.open(port);
    for (let id = 1; id < 20; id += 2) {
      client.send(upload(id));
      await until(() => begun === (id + 1) / 2);
      client.send(Buffer.concat([data(id, 'x'), data(id, PART)]));
      await client.reset(id);
    }
    const head = fields([':method', 'POST'], [':scheme', 'http'], [':path', '/all'], [':authority', 'a']);
    client.send(frame(FRAME.headers, FLAG.endHeaders, 21, head), data(21, PART), data(21, PART), data(21, '', 1));
    expect(await client.status(21)).to.equal(200);
    client.close();
  });

  it('keeps apart the bodies of streams and connections whose frames are mixed', async () => {
    const { port } = await start();
    const clients = await Promise.all([FrameClient.open(port), FrameClient.open(port)]);
    // Short and long parts, with and without padding: long ones are joined over the heads between them.
    const sizes = [5000, 5000, 1, 16_000, 16_000, 10, 4096, 4095, 0, 12_000];
    const partOf = (client: number, id: number, i: number): Buffer =>
      Buffer.alloc(sizes[(i + id) % sizes.length]!, String.fromCharCode(97 + ((client * 11 + id * 3 + i) % 26)));
    const frameOf = (client: number, id: number, i: number): Buffer => {
      const part = partOf(client, id, i);
      if (i % 3 > 0) return data(id, part);
      return frame(FRAME.data, FLAG.padded, id, Buffer.concat([Buffer.of(99), part, Buffer.alloc(99, '!')]));
    };
    const ids = [1, 3, 5];
    for (const [at, client] of clients.entries()) {
      const sent = [
        setting(4, 2 ** 30),
        frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 30)),
        ...ids.map((id) => upload(id)),
      ];
      // The order changes, so that some frames of a stream follow each other.
      for (let i = 0; i < 40; i++) sent.push(...(i % 2 === 0 ? ids : ids.toReversed()).map((id) => frameOf(at, id, i)));
      client.send(...sent, ...ids.map((id) => data(id, '', FLAG.endStream)));
    }
    for (const [at, client] of clients.entries()) {
      for (const id of ids) {
        const { body } = await echoed(client, id);
        const expected = Buffer.concat(Array.from({ length: 40 }, (_, i) => partOf(at, id, i))).toString('latin1');
        expect(body === expected, `client ${at}, stream ${id}`).to.equal(true);
      }
      client.close();
    }
  });

  it('sends what was written of a response before it resets the stream', async () => {
    const handler: Handler = (_req, res) => {
      res.writeHead(200);
      res.write('half');
      res.destroy();
    };
    const { port, close } = await serve(handler, {});
    whenDone(close);
    const client = await FrameClient.open(port);
    client.send(requestFrame(1, '/'));
    expect(await client.reset(1)).to.equal(CODE.internal);
    const parts = client.frames.filter(({ stream }) => stream === 1);
    expect(parts.map(({ type }) => type)).to.deep.equal([FRAME.headers, FRAME.data, FRAME.rstStream]);
    expect(parts[1]!.payload.toString()).to.equal('half');
    client.close();
  });

  it('passes on the many parts of a body that waited for their reader, in order, and the trailers', async () => {
    let received: IncomingMessage | undefined;
    const handler: Handler = (req, res) => {
      received = req;
      let body = '';
      req.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1');
        // Its reader stops again and again.
        req.pause();
        setImmediate(() => req.resume());
      });
      req.pause();
      req.on('end', () => res.end(JSON.stringify({ body, rawTrailers: req.rawTrailers })));
    };
    const { port, close } = await serve(handler, {});
    whenDone(close);
    const client = await FrameClient.open(port);
    const parts = Array.from({ length: 2_500 }, (_, i) => String.fromCharCode(97 + (i % 26)));
    client.send(upload(1), data(1, parts[0]!));
    await until(() => received !== undefined);
    client.send(...parts.slice(1).map((part) => data(1, part)), frame(FRAME.headers, END, 1, fields(['x-t', '1'])));
    await until(() => received!.complete);
    received!.resume();
    expect(await echoed(client, 1)).to.deep.equal({ body: parts.join(''), rawTrailers: ['x-t', '1'] });
    client.close();
  });

  it('announces its end, serves what arrives until the client knows, and refuses what arrives later', async () => {
    const held = new Map<string, ServerResponse>();
    const { port, listeners } = await start({ respond: (req, res) => void held.set(req.url!, res) });
    const client = await FrameClient.open(port);
    client.acknowledges = false;
    client.send(requestFrame(1, '/1'));
    await until(() => held.has('/1'));
    const drained = listeners.drain(30_000);
    const announced = await client.until(({ type }) => type === FRAME.goaway);
    expect([announced.payload.readUInt32BE(0), announced.payload.readUInt32BE(4)]).to.deep.equal([
      LARGEST_ID,
      CODE.none,
    ]);
    const { payload } = await client.until(({ type }) => type === FRAME.ping);
    client.send(requestFrame(3, '/3'), frame(FRAME.ping, FLAG.ack, 0, payload), requestFrame(5, '/5'));
    expect(await client.reset(5)).to.equal(CODE.refused);
    await until(() => held.has('/3'));
    held.get('/1')!.end();
    held.get('/3')!.end();
    expect([await client.status(1), await client.status(3)]).to.deep.equal([200, 200]);
    await Promise.all([client.closed, drained]);
    const last = client.frames.findLast(({ type }) => type === FRAME.goaway)!;
    expect(last.payload.readUInt32BE(0)).to.equal(3);
    expect(held.has('/5')).to.equal(false);
  });

  it('finishes the requests of a client that closes the connection with GOAWAY', async () => {
    let held: ServerResponse | undefined;
    const { port } = await start({ respond: (_req, res) => void (held = res) });
    const client = await FrameClient.open(port);
    client.send(requestFrame(1, '/'), frame(FRAME.goaway, 0, 0, Buffer.alloc(8)));
    await until(() => held !== undefined);
    held!.end('done');
    expect(await client.status(1)).to.equal(200);
    await client.closed;
  });

  it('sends all frames of small responses in few writes', async () => {
    const { port } = await start({ respond: (_req, res) => res.end('ok') });
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    whenDone(() => void socket.destroy());
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'connect');
    socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), requestFrame(1, '/')]));
    await until(() => Buffer.concat(chunks).includes('ok'));
    const last = chunks.findLast((chunk) => chunk.includes('ok'))!;
    // The head and the data with its end: one write.
    expect(last[3]).to.be.oneOf([FRAME.headers, FRAME.settings]);
  });
});
