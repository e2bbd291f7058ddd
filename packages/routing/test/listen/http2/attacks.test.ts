import { expect } from 'chai';
import type { RequestRecord } from '../../../src/format/record.ts';
import { untilStill } from '../../../../../test/parts/until.ts';
import { until } from '../../forward/harness.ts';
import { CODE, fields, FLAG, FRAME, frame, FrameClient, requestFields, requestFrame, uint32 } from './frames.ts';
import { http2Gateway, settings, type Http2Gateway, type Http2GatewayParts } from './gateway.ts';

const END = FLAG.endHeaders | FLAG.endStream;
const repeated = (count: number, bytes: (i: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => bytes(i)));

describe('attacks over HTTP/2', () => {
  let gateway: Http2Gateway | undefined;
  let requests = 0;
  let refused: RequestRecord[] = [];
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  async function start(parts: Http2GatewayParts = {}): Promise<FrameClient> {
    requests = 0;
    refused = [];
    gateway = await http2Gateway({
      respond: (_req, res) => {
        requests++;
        res.end('ok');
      },
      onRefused: (record) => refused.push(record),
      ...parts,
    });
    return FrameClient.open(gateway.port);
  }

  /** Expects that other clients are served. */
  async function servesOthers(): Promise<void> {
    const { ask } = await gateway!.client();
    expect((await ask('/')).status).to.equal(200);
  }

  describe('floods', () => {
    it('of resets close the connection', async () => {
      const frames = await start({ respond: () => {} });
      for (let i = 0; i < 20; i++) {
        frames.send(
          repeated(100, (j) => {
            const stream = 2 * (100 * i + j) + 1;
            return Buffer.concat([requestFrame(stream, '/'), frame(FRAME.rstStream, 0, stream, uint32(CODE.cancel))]);
          }),
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await frames.goaway()).to.equal(CODE.calm);
      expect(gateway!.stat('http.http.downstream_rq_too_many_premature_resets')).to.equal(1);
    });

    it('of resets without an error close the connection', async () => {
      const frames = await start({ respond: () => {} });
      for (let i = 0; i < 10; i++) {
        const ids = Array.from({ length: 100 }, (_, j) => 2 * (100 * i + j) + 1);
        frames.send(...ids.map((id) => requestFrame(id, '/')));
        await new Promise((resolve) => setImmediate(resolve));
        frames.send(...ids.map((id) => frame(FRAME.rstStream, 0, id, uint32(CODE.none))));
      }
      expect(await frames.goaway()).to.equal(CODE.calm);
      expect(gateway!.stat('http.http.downstream_rq_too_many_premature_resets')).to.equal(1);
    });

    it('of requests that the client makes invalid when they are in progress close the connection', async () => {
      const frames = await start({ respond: () => {} });
      for (let i = 0; i < 10; i++) {
        const ids = Array.from({ length: 100 }, (_, j) => 2 * (100 * i + j) + 1);
        frames.send(...ids.map((id) => frame(FRAME.headers, FLAG.endHeaders, id, requestFields('/'))));
        await new Promise((resolve) => setImmediate(resolve));
        frames.send(...ids.map((id) => frame(FRAME.headers, END, id, fields(['authorization', 'x']))));
      }
      expect(await frames.goaway()).to.equal(CODE.calm);
      expect(gateway!.stat('http.http.downstream_rq_too_many_premature_resets')).to.equal(1);
    });

    it('of complete requests are served', async () => {
      await start({ respond: (req, res) => void req.on('end', () => res.end('x')).resume() });
      const { ask } = await gateway!.client();
      const body = Buffer.alloc(1_000);
      for (let i = 0; i < 20; i++) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => ask('/', { method: 'POST', body })));
        for (const { status } of answers) expect(status).to.equal(200);
      }
      expect(gateway!.stat('http.http.downstream_rq_too_many_premature_resets')).to.equal(0);
    });

    it('of short DATA frames behind long ones are served', async () => {
      const frames = await start({
        respond: (req, res) => {
          let bytes = 0;
          req.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => res.end(String(bytes)));
        },
        limits: { checkIntervalMs: 10 },
      });
      // They contain the windows.
      await frames.until(({ type, flags }) => type === FRAME.settings && flags !== FLAG.ack);
      const head = fields([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
      frames.send(frame(FRAME.headers, FLAG.endHeaders, 1, head));
      const short = frame(FRAME.data, 0, 1, Buffer.alloc(20));
      const both = Buffer.concat([frame(FRAME.data, 0, 1, Buffer.alloc(8_000)), repeated(400, () => short)]);
      for (let i = 0; i < 100; i++) {
        frames.send(both, both, both);
        await new Promise((resolve) => setImmediate(resolve));
      }
      frames.send(frame(FRAME.data, FLAG.endStream, 1));
      expect(await frames.status(1)).to.equal(200);
      const body = await frames.until(({ type }) => type === FRAME.data);
      expect(String(body.payload)).to.equal(String(300 * 16_000));
      frames.close();
    });

    for (const [name, one] of [
      ['settings', frame(FRAME.settings, 0, 0)],
      ['pings', frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
      ['priorities', frame(FRAME.priority, 0, 3, Buffer.from([0, 0, 0, 0, 1]))],
      ['window updates', frame(FRAME.windowUpdate, 0, 0, uint32(1))],
      ['unknown frames', frame(0xfa, 0, 0, Buffer.alloc(4))],
    ] as const) {
      it(`of ${name} close the connection`, async () => {
        const frames = await start({ limits: { checkIntervalMs: 100 } });
        frames.send(requestFrame(1, '/'));
        expect(await frames.status(1)).to.equal(200);
        const bytes = repeated(2_000, () => one);
        const flood = setInterval(() => frames.send(bytes, bytes, bytes, bytes, bytes), 5);
        await frames.closed;
        clearInterval(flood);
        await servesOthers();
      });
    }

    it('of pings close the connection although uploads end without being read', async () => {
      const frames = await start({
        respond: (_req, res) => void res.end('early'),
        limits: { checkIntervalMs: 100, initialConnectionWindowBytes: 128 * 1024 },
      });
      const head = fields([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
      const pings = repeated(5_000, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
      let id = 1;
      const flood = setInterval(() => {
        frames.send(frame(FRAME.headers, FLAG.endHeaders, id, head), pings);
        id += 2;
      }, 5);
      await frames.closed;
      clearInterval(flood);
      await servesOthers();
    });

    it('of empty DATA frames close the connection', async () => {
      const frames = await start({ respond: (req, res) => void (req.method === 'GET' && res.end()) });
      const head = fields([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
      frames.send(frame(FRAME.headers, FLAG.endHeaders, 1, head));
      frames.send(repeated(5_000, () => frame(FRAME.data, 0, 1)));
      await frames.closed;
      await servesOthers();
    });

    it('of CONTINUATION frames close the connection', async () => {
      const frames = await start();
      frames.send(frame(FRAME.headers, FLAG.endStream, 1, requestFields('/')));
      frames.send(repeated(1_000, () => frame(FRAME.continuation, 0, 1, fields(['x-a', 'b']))));
      await frames.closed;
      expect(requests).to.equal(0);
      await servesOthers();
    });
  });

  it('a reset without an error ends a response that waits for the client', async () => {
    const closed: string[] = [];
    const frames = await start({
      respond: (req, res) => {
        res.on('close', () => closed.push(req.url!));
        res.end(Buffer.alloc(5_000_000));
      },
    });
    frames.send(requestFrame(1, '/a'));
    expect(await frames.status(1)).to.equal(200);
    await frames.until(({ type }) => type === FRAME.data);
    frames.send(frame(FRAME.rstStream, 0, 1, uint32(CODE.none)));
    await until(() => closed.includes('/a') && gateway!.stat('http.http.downstream_rq_active') === 0);
    expect(gateway!.stat('cluster.up_gw-system.upstream_rq_active')).to.equal(0);
    frames.close();
  });

  it('a reset ends a response although the client does not read: with node:http2 only when it reads again', async () => {
    const closed: string[] = [];
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const frames = await start({
      respond: (req, res) => {
        if (req.url === '/') return void res.end();
        const write = (): void => {
          while (!res.destroyed && res.write(chunk)) sent += chunk.length;
        };
        res.on('drain', write).on('close', () => closed.push(req.url!));
        write();
      },
    });
    frames.send(requestFrame(1, '/a'));
    expect(await frames.status(1)).to.equal(200);
    frames.socket.pause();
    for (const id of [0, 1]) frames.send(frame(FRAME.windowUpdate, 0, id, uint32(2 ** 30)));
    await untilStill(() => sent);
    frames.send(frame(FRAME.rstStream, 0, 1, uint32(CODE.cancel)));
    await servesOthers();
    await until(() => closed.length === 1, 'the end of the response');
    frames.close();
  });

  describe('window updates', () => {
    it('of 0 are a protocol error', async () => {
      const frames = await start();
      frames.send(frame(FRAME.windowUpdate, 0, 0, uint32(0)));
      expect(await frames.goaway()).to.equal(CODE.protocol);
    });

    it('that overflow the window of the connection close it', async () => {
      const frames = await start();
      frames.send(frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 31 - 1)));
      expect(await frames.goaway()).to.equal(CODE.flowControl);
    });

    it('that overflow the window of a stream end it', async () => {
      const frames = await start({ respond: () => {} });
      frames.send(requestFrame(1, '/'), frame(FRAME.windowUpdate, 0, 1, uint32(2 ** 31 - 1)));
      const outcome = await Promise.race([frames.reset(1).catch(() => -1), frames.goaway()]);
      expect([CODE.flowControl, -1]).to.include(outcome);
      frames.close();
    });
  });

  describe('stream identifiers', () => {
    for (const [name, bytes] of [
      ['an even number', requestFrame(2, '/')],
      ['0', requestFrame(0, '/')],
      ['DATA of an idle stream', frame(FRAME.data, 0, 9, Buffer.from('x'))],
      ['RST_STREAM of an idle stream', frame(FRAME.rstStream, 0, 9, uint32(0))],
      ['PUSH_PROMISE of a client', frame(FRAME.pushPromise, FLAG.endHeaders, 1, uint32(2))],
    ] as const) {
      it(`close the connection: ${name}`, async () => {
        const frames = await start();
        frames.send(bytes);
        await frames.closed;
        await servesOthers();
      });
    }

    it('lower than before are not served', async () => {
      const frames = await start();
      frames.send(requestFrame(5, '/'), requestFrame(3, '/'));
      expect(await frames.goaway()).to.equal(CODE.protocol);
      frames.send(requestFrame(7, '/'));
      await frames.status(7).catch(() => {});
      expect(frames.frames.some(({ type, stream }) => type === FRAME.headers && stream === 3)).to.equal(false);
      frames.close();
    });

    it('above the limit of streams are refused', async () => {
      const frames = await start({
        respond: () => {},
        listener: settings({ http2ProtocolOptions: { maxConcurrentStreams: 2 } }),
      });
      await frames.until(({ type }) => type === FRAME.settings);
      frames.send(requestFrame(1, '/'), requestFrame(3, '/'), requestFrame(5, '/'));
      const outcome = await Promise.race([frames.reset(5).catch(() => -1), frames.goaway()]);
      expect([CODE.refused, CODE.protocol, -1]).to.include(outcome);
      frames.close();
    });
  });

  describe('header lists', () => {
    const filler = (count: number, length: number): (readonly [string, string])[] =>
      Array.from({ length: count }, (_, i) => [`x-${i}`, 'a'.repeat(length)] as const);

    it('above the limits of the listener are rejected with 431 and 414', async () => {
      const frames = await start();
      frames.send(requestFrame(1, '/', ...filler(101, 1)));
      expect(await frames.status(1)).to.equal(431);
      frames.send(requestFrame(3, '/', ...filler(10, 1_500)));
      const long = frame(FRAME.headers, END, 5, requestFields(`/${'a'.repeat(9_000)}`));
      frames.send(long);
      expect(await frames.status(5)).to.equal(414);
      frames.close();
      expect(refused.map(({ result }) => result.status)).to.include.members([431, 414]);
    });

    it('far above the limits are not served', async () => {
      const frames = await start();
      frames.send(frame(FRAME.headers, FLAG.endStream, 1, requestFields('/')));
      const parts = filler(13, 16_000).map(([name, value]) => fields([name, value]));
      for (const part of parts) frames.send(frame(FRAME.continuation, 0, 1, part));
      frames.send(frame(FRAME.continuation, FLAG.endHeaders, 1));
      await Promise.race([frames.reset(1).catch(() => {}), frames.closed]);
      expect(requests).to.equal(0);
      frames.close();
      await servesOthers();
    });

    it('of many more fields than allowed reset the stream, however short they are', async () => {
      const frames = await start();
      // More are not counted: twice the limit of 100, and 256 parts of cookies.
      frames.send(requestFrame(1, '/', ...filler(2 * 100 + 256, 1)));
      expect(await frames.reset(1)).to.equal(CODE.calm);
      expect(requests).to.equal(0);
      await servesOthers();
      frames.close();
    });

    it('of references to one large entry of the table reset the stream', async () => {
      const frames = await start();
      // Literal with incremental indexing: 3 KiB that each further byte repeats.
      const value = 'a'.repeat(3_000);
      const entry = Buffer.concat([
        Buffer.of(0x40, 3),
        Buffer.from('x-a'),
        Buffer.of(127, 0xb9, 0x16),
        Buffer.from(value),
      ]);
      const bomb = Buffer.concat([requestFields('/'), entry, Buffer.alloc(8_000, 0x80 | 62)]);
      frames.send(frame(FRAME.headers, END, 1, bomb));
      await Promise.race([frames.reset(1), frames.closed]);
      expect(requests).to.equal(0);
      await servesOthers();
      frames.close();
    });
  });

  describe('malformed requests', () => {
    const PSEUDO = [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'a'],
    ] as const;
    type Field = readonly [string, string];
    const without = (...names: string[]): Field[] => PSEUDO.filter(([name]) => !names.includes(name));

    const RESET: readonly (readonly [string, readonly Field[]])[] = [
      ['a name with capitals', [...PSEUDO, ['X-A', 'b']]],
      ['transfer-encoding', [...PSEUDO, ['transfer-encoding', 'chunked']]],
      ['connection', [...PSEUDO, ['connection', 'close']]],
      ['keep-alive', [...PSEUDO, ['keep-alive', '1']]],
      ['proxy-connection', [...PSEUDO, ['proxy-connection', 'close']]],
      ['upgrade', [...PSEUDO, ['upgrade', 'websocket']]],
      ['te other than trailers', [...PSEUDO, ['te', 'gzip']]],
      ['two content-lengths', [...PSEUDO, ['content-length', '1'], ['content-length', '2']]],
      ['a content-length of an empty body', [...PSEUDO, ['content-length', '5']]],
      ...['', '+5', '-5', '0x5', '5a', '5, 5', '5 5', '99999999999999999999999999'].map(
        (value): readonly [string, readonly Field[]] => [
          `content-length ${JSON.stringify(value)}`,
          [...PSEUDO, ['content-length', value]],
        ],
      ),
      ['an unknown pseudo-header', [...PSEUDO, [':other', 'x']]],
      ['a pseudo-header of responses', [...PSEUDO, [':status', '200']]],
      ['a repeated pseudo-header', [...PSEUDO, [':path', '/b']]],
      ['a pseudo-header behind others', [['x-a', 'b'], ...PSEUDO]],
      ['no method', without(':method')],
      ['no path', without(':path')],
      ['no scheme', without(':scheme')],
      ['a scheme with a space', [...without(':scheme'), [':scheme', 'ht tp']]],
      ['a scheme with a target', [...without(':scheme'), [':scheme', 'http://b/?']]],
      ['an empty path', [...without(':path'), [':path', '']]],
      ['a path without a slash', [...without(':path'), [':path', 'x']]],
      ['an absolute target', [...without(':path'), [':path', 'http://b/']]],
      ['a method with a space', [...without(':method'), [':method', 'GET /admin']]],
      ['neither :authority nor host', without(':authority')],
    ];
    for (const [name, list] of RESET) {
      it(`are rejected and not sent upstream: ${name}`, async () => {
        const frames = await start();
        frames.send(frame(FRAME.headers, END, 1, fields(...list)));
        const outcome = await Promise.race([
          frames.reset(1).catch(() => -1),
          frames.status(1).catch(() => -1),
          frames.closed.then(() => 'closed'),
        ]);
        expect([CODE.protocol, 400, 'closed', -1]).to.include(outcome);
        expect(requests).to.equal(0);
        frames.close();
        await servesOthers();
      });
    }

    for (const [name, field] of [
      ['a name with a colon', ['x:a', 'b']],
      ['a name with CR LF', ['x\r\nb', 'b']],
      ['an empty name', ['', 'b']],
      ['a name with a space', ['x a', 'b']],
      ['a value with CR LF', ['x-a', 'b\r\nhost: c']],
      ['a value with LF', ['x-a', 'b\nc']],
      ['a value with NUL', ['x-a', 'b\0c']],
    ] as const) {
      it(`are not sent upstream with a malformed field: ${name}`, async () => {
        let raw: string[] = [];
        const frames = await start({
          respond: (req, res) => {
            raw = req.rawHeaders;
            res.end();
          },
        });
        frames.send(requestFrame(1, '/', field, ['x-last', 'z']));
        expect(await frames.reset(1)).to.equal(CODE.protocol);
        expect(raw).to.deep.equal([]);
        frames.close();
      });
    }

    const REJECTED: readonly (readonly [string, number, readonly Field[]])[] = [
      [':authority and another host', 400, [...PSEUDO, ['host', 'b']]],
      [':authority with userinfo', 400, [...without(':authority'), [':authority', 'a@b']]],
      [':authority with a path', 400, [...without(':authority'), [':authority', 'a/b']]],
      ['an :authority with a query', 400, [...without(':authority'), [':authority', 'a?x']]],
      ['an :authority with a space', 400, [...without(':authority'), [':authority', 'a b']]],
      ['an :authority with a comma', 400, [...without(':authority'), [':authority', 'a,b']]],
      ['an :authority with a port out of range', 400, [...without(':authority'), [':authority', 'a:65536']]],
      ['an empty :authority', 400, [...without(':authority'), [':authority', '']]],
      ['two hosts', 400, [...without(':authority'), ['host', 'a'], ['host', 'a']]],
      ['a fragment', 400, [...without(':path'), [':path', '/a#b']]],
      ['a space in the path', 400, [...without(':path'), [':path', '/a b']]],
      ['a byte above 0x7f in the path', 400, [...without(':path'), [':path', '/\xe4']]],
      ['%00 in the path', 400, [...without(':path'), [':path', '/%00']]],
      ['an invalid percent escape', 400, [...without(':path'), [':path', '/%zz']]],
      ['a backslash', 400, [...without(':path'), [':path', '/a\\b']]],
      ['overlong UTF-8', 400, [...without(':path'), [':path', '/%c0%af']]],
      ['double-encoded dot segments', 400, [...without(':path'), [':path', '/a/%252e%252e/b']]],
      ['dot segments behind an escaped slash', 400, [...without(':path'), [':path', '/a/..%2f..%2fb']]],
      ['dot segments with parameters', 400, [...without(':path'), [':path', '/a/..;x/b']]],
      ['an asterisk with GET', 400, [...without(':path'), [':path', '*']]],
      ['two Authorizations', 400, [...PSEUDO, ['authorization', 'a'], ['authorization', 'b']]],
      ['two Content-Types', 400, [...PSEUDO, ['content-type', 'a/b'], ['content-type', 'c/d']]],
      ['an unknown method', 400, [...without(':method'), [':method', 'FOO']]],
      ['TRACE', 405, [...without(':method'), [':method', 'TRACE']]],
      [
        'CONNECT',
        405,
        [
          [':method', 'CONNECT'],
          [':authority', 'a:443'],
        ],
      ],
      ['an unknown Expect', 417, [...PSEUDO, ['expect', '200-ok']]],
    ];
    for (const [name, status, list] of REJECTED) {
      it(`are rejected with ${status}, and the connection goes on: ${name}`, async () => {
        const frames = await start();
        frames.send(frame(FRAME.headers, END, 1, fields(...list)));
        const outcome = await Promise.race([frames.status(1), frames.reset(1)]);
        expect([status, CODE.protocol]).to.include(outcome);
        expect(requests).to.equal(0);
        frames.send(requestFrame(3, '/'));
        expect(await frames.status(3)).to.equal(200);
        frames.close();
      });
    }

    for (const [name, body] of [
      ['longer', 'abcdefgh'],
      ['shorter', 'abc'],
    ] as const) {
      it(`are not sent upstream completely if the body is ${name} than content-length`, async () => {
        const received: string[] = [];
        const frames = await start({
          respond: (req, res) => {
            if (req.method === 'GET') return void res.end();
            req.on('end', () => received.push('complete')).on('error', () => {});
            req.resume();
          },
        });
        const head = [':method', ':scheme', ':path', ':authority', 'content-length'] as const;
        const values = ['POST', 'http', '/', 'a', '5'];
        frames.send(
          frame(FRAME.headers, FLAG.endHeaders, 1, fields(...head.map((each, i) => [each, values[i]!] as const))),
          frame(FRAME.data, FLAG.endStream, 1, Buffer.from(body)),
        );
        await Promise.race([frames.reset(1).catch(() => {}), frames.closed]);
        await servesOthers();
        expect(received).to.deep.equal([]);
        frames.close();
      });
    }

    it('are rejected with a forbidden trailer', async () => {
      const frames = await start({ respond: () => {} });
      frames.send(
        frame(FRAME.headers, FLAG.endHeaders, 1, requestFields('/')),
        frame(FRAME.data, 0, 1, Buffer.from('x')),
        frame(FRAME.headers, END, 1, fields(['authorization', 'x'])),
      );
      expect(await frames.status(1)).to.equal(400);
      frames.close();
    });

    it('are rejected with underscores in names where those are rejected', async () => {
      const frames = await start({ listener: settings({ headersWithUnderscoresAction: 'REJECT_CLIENT_REQUEST' }) });
      frames.send(requestFrame(1, '/', ['x_a', 'b']));
      expect(await frames.status(1)).to.equal(400);
      frames.close();
    });
  });

  it('frames larger than allowed close the connection', async () => {
    const frames = await start();
    frames.send(frame(FRAME.data, 0, 1, Buffer.alloc(16_385)));
    await frames.closed;
    await servesOthers();
  });

  for (const [name, target, path] of [
    ['//host', '//evil/x?y=//z', '//evil/x?y=//z'],
    ['raw dot segments', '/a/../b?c=/../d', '/b?c=/../d'],
    ['encoded dot segments', '/a/%2e%2E/b', '/b'],
    ['dot segments above the root', '/../../a', '/a'],
  ] as const) {
    it(`${name} in a path are sent upstream as ${path}`, async () => {
      let seen: string | undefined;
      const frames = await start({
        respond: (req, res) => {
          seen = req.url;
          res.end();
        },
      });
      frames.send(requestFrame(1, target));
      expect(await frames.status(1)).to.equal(200);
      expect(seen).to.equal(path);
      frames.close();
    });
  }

  it('strip what only the gateway may set', async () => {
    let seen: string[] = [];
    const frames = await start({
      respond: (req, res) => {
        seen = req.rawHeaders.map((text) => text.toLowerCase());
        res.end();
      },
    });
    frames.send(
      requestFrame(
        1,
        '/',
        ['x-envoy-internal', 'true'],
        ['x-envoy-original-path', '/x'],
        ['x-forwarded-proto', 'https'],
        ['x_forwarded_for', '1.1.1.1'],
        ['http2-settings', 'AAAA'],
      ),
    );
    expect(await frames.status(1)).to.equal(200);
    expect(seen).not.to.include('x-envoy-internal');
    expect(seen).not.to.include('x-envoy-original-path');
    expect(seen).not.to.include('x_forwarded_for');
    expect(seen).not.to.include('http2-settings');
    expect(seen[seen.indexOf('x-forwarded-proto') + 1]).to.equal('http');
    frames.close();
  });
});
