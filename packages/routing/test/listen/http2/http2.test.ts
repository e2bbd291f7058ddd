import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { until } from '../../../../../test/parts/until.ts';
import { answerOf, type Http2Asked } from './client.ts';
import { CODE, fields, FLAG, FRAME, frame, FrameClient, PREFACE, requestFrame } from './frames.ts';
import { echo, http2Gateway, settings, type Http2Gateway, type Http2GatewayParts } from './gateway.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly rawTrailers: string[];
  readonly body: string;
}

const seenOf = (body: string): Seen => JSON.parse(body) as Seen;

/** The values of a header, from a flat list. */
const valuesOf = (flat: readonly string[], name: string): string[] =>
  flat.filter((_, i) => i % 2 === 1 && flat[i - 1]!.toLowerCase() === name);

const TRAILERS = { spec: { connectionConfig: { http1ProtocolOptions: { enableTrailers: true } } } };

describe('HTTP/2 clients', () => {
  let gateway: Http2Gateway | undefined;
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });
  const start = async (parts?: Http2GatewayParts): Promise<Http2Gateway> => (gateway = await http2Gateway(parts));

  describe('with prior knowledge', () => {
    it('are served next to clients of HTTP/1.1', async () => {
      const { port, client } = await start();
      const answer = await (await client()).ask('/x?y=1', { headers: { 'x-a': 'b' } });
      expect(answer.status).to.equal(200);
      const seen = seenOf(answer.body);
      expect([seen.method, seen.url]).to.deep.equal(['GET', '/x?y=1']);
      expect(valuesOf(seen.rawHeaders, 'host')).to.deep.equal(['a']);
      expect(valuesOf(seen.rawHeaders, 'x-a')).to.deep.equal(['b']);
      const response = await fetch(`http://127.0.0.1:${port}/plain`);
      expect(seenOf(await response.text()).url).to.equal('/plain');
    });

    it('are served wherever the preface is split', async () => {
      const { port } = await start({ respond: (_req, res) => res.end('ok') });
      const bytes = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), requestFrame(1, '/')]);
      for (let cut = 1; cut <= PREFACE.length + 3; cut++) {
        const frames = new FrameClient(port);
        frames.acknowledges = false;
        await once(frames.socket, 'connect');
        frames.send(bytes.subarray(0, cut));
        // The next request of another connection shows that the first part was read.
        await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
        frames.send(bytes.subarray(cut));
        expect(await frames.status(1), `cut after ${cut}`).to.equal(200);
        frames.close();
      }
    });

    it('are rejected with codecType HTTP1', async () => {
      const { port } = await start({ listener: settings({ codecType: 'HTTP1' }) });
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      socket.write(PREFACE);
      await once(socket, 'close');
      expect(text).to.match(/^HTTP\/1\.1 505 /);
    });

    it('are rejected after a request of HTTP/1.1 on the same connection', async () => {
      const { port } = await start({ respond: (_req, res) => res.end('ok') });
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
      socket.write(PREFACE);
      await once(socket, 'close');
      expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 505']);
    });

    it('are the only ones with codecType HTTP2', async () => {
      const { port, client } = await start({ listener: settings({ codecType: 'HTTP2' }) });
      expect((await (await client()).ask('/')).status).to.equal(200);
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('error', () => {}).on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'close');
      expect(text).not.to.include('HTTP/1.1');
    });
  });

  describe('requests', () => {
    it('with a body of unknown length are sent upstream in chunks', async () => {
      const { client } = await start();
      const seen = seenOf((await (await client()).ask('/', { method: 'POST', body: 'hello' })).body);
      expect(seen.body).to.equal('hello');
      expect(valuesOf(seen.rawHeaders, 'transfer-encoding')).to.deep.equal(['chunked']);
      expect(valuesOf(seen.rawHeaders, 'content-length')).to.deep.equal([]);
    });

    it('with a length keep it', async () => {
      const { client } = await start();
      const headers = { 'content-length': '5' };
      const seen = seenOf((await (await client()).ask('/', { method: 'POST', body: 'hello', headers })).body);
      expect(seen.body).to.equal('hello');
      expect(valuesOf(seen.rawHeaders, 'content-length')).to.deep.equal(['5']);
      expect(valuesOf(seen.rawHeaders, 'transfer-encoding')).to.deep.equal([]);
    });

    it('have the parts of their cookie joined', async () => {
      const { client } = await start();
      const { body } = await (await client()).ask('/', { headers: { cookie: ['a=1', 'b=2', 'c=3'] } });
      expect(valuesOf(seenOf(body).rawHeaders, 'cookie')).to.deep.equal(['a=1; b=2; c=3']);
    });

    it('of one connection are served at the same time', async () => {
      const waiting: (() => void)[] = [];
      const { client } = await start({
        respond: (req, res) => {
          waiting.push(() => res.end(req.url));
          if (waiting.length === 50) for (const respond of waiting.toReversed()) respond();
        },
      });
      const { ask } = await client();
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(`/${i}`)));
      expect(answers.map(({ body }) => body)).to.deep.equal(Array.from({ length: 50 }, (_, i) => `/${i}`));
    });

    it('pass their trailers on where those are enabled', async () => {
      const { client } = await start({ listener: settings({ enableTrailers: true }), upstream: TRAILERS });
      const trailers = { 'x-sum': '1', 'x-other': 'a b' };
      const { body } = await (await client()).ask('/', { method: 'POST', body: 'hello', trailers });
      expect(seenOf(body).rawTrailers).to.deep.equal(['x-sum', '1', 'x-other', 'a b']);
    });

    it('lose their trailers where those are not enabled', async () => {
      const { client } = await start();
      const { body } = await (await client()).ask('/', { method: 'POST', body: 'hello', trailers: { 'x-sum': '1' } });
      expect(seenOf(body).rawTrailers).to.deep.equal([]);
      expect(seenOf(body).body).to.equal('hello');
    });

    it('may have as many bytes and trailers as the limits allow, and no more', async () => {
      const { client } = await start({ limits: { maxBodyBytes: 5, maxHeaders: 20 } });
      const trailers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '1']));
      const statusOf = async (asked: Http2Asked): Promise<number> =>
        (await (await client()).ask('/', { method: 'POST', ...asked })).status;
      expect(await statusOf({ body: '12345', trailers: trailers(20) })).to.equal(200);
      expect(await statusOf({ body: '123456' })).to.equal(413);
      expect(await statusOf({ body: '1', trailers: trailers(21) })).to.equal(431);
    });

    it('stream large bodies in both directions', async () => {
      const { client } = await start({ respond: (req, res) => void req.pipe(res) });
      const { ask } = await client();
      const body = Buffer.alloc(4_000_000, 'abcdefgh');
      const answers = await Promise.all([ask('/1', { method: 'POST', body }), ask('/2', { method: 'POST', body })]);
      for (const answer of answers) expect(answer.body === body.toString('latin1')).to.equal(true);
    });
  });

  describe('responses', () => {
    it('without a body end with their head', async () => {
      const { client } = await start({
        respond: (req, res) => {
          const status = Number(req.url!.slice(1));
          if (req.method === 'HEAD') res.writeHead(status, { 'content-length': '10' }).end();
          else res.writeHead(status).end();
        },
      });
      const { ask } = await client();
      const head = await ask('/200', { method: 'HEAD' });
      expect([head.status, head.headers['content-length'], head.body]).to.deep.equal([200, '10', '']);
      for (const status of [204, 304]) expect((await ask(`/${status}`)).status).to.equal(status);
    });

    it('with status 205 have no body, and no length that contradicts that', async () => {
      const { client } = await start({
        respond: (req, res) => {
          if (req.url === '/length') res.writeHead(205, { 'content-length': '5', 'x-a': 'b' }).end('reset');
          else if (req.url === '/chunks') res.writeHead(205, { 'x-a': 'b' }).end('reset');
          else res.end('next');
        },
      });
      const { ask } = await client();
      for (const path of ['/length', '/chunks']) {
        const { status, headers, body } = await ask(path);
        expect([status, headers['x-a'], headers['content-length'], body], path).to.deep.equal([
          205,
          'b',
          undefined,
          '',
        ]);
      }
      expect((await ask('/next')).body).to.equal('next');
    });

    it('have no headers of a connection', async () => {
      const { client } = await start({
        respond: (_req, res) => {
          res.writeHead(200, { 'keep-alive': 'x', 'proxy-connection': 'x', 'set-cookie': ['a=1', 'b=2'] });
          res.write('hello');
          setImmediate(() => res.end());
        },
      });
      const { headers, body } = await (await client()).ask('/');
      expect(body).to.equal('hello');
      expect(headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
      expect(headers).not.to.have.any.keys('connection', 'keep-alive', 'transfer-encoding', 'proxy-connection');
    });

    it('pass trailers on where those are enabled', async () => {
      const { client } = await start({
        listener: settings({ enableTrailers: true }),
        upstream: TRAILERS,
        respond: (_req, res) => {
          res.writeHead(200, { trailer: 'x-sum' });
          res.write('hello');
          res.addTrailers({ 'x-sum': '1' });
          setImmediate(() => res.end());
        },
      });
      const { ask } = await client();
      for (let i = 0; i < 2; i++) {
        const answer = await ask('/');
        expect([answer.body, answer.trailers?.['x-sum']]).to.deep.equal(['hello', '1']);
        expect(answer.headers['trailer']).to.equal('x-sum');
      }
    });

    it('lose trailers that HTTP/2 forbids', async () => {
      const { client } = await start({
        listener: settings({ enableTrailers: true }),
        upstream: TRAILERS,
        respond: (_req, res) => {
          res.writeHead(200, { 'http2-settings': 'AAAA' });
          res.write('hello');
          res.addTrailers({ 'http2-settings': 'AAAA', 'keep-alive': 'x', 'x-sum': '1' });
          setImmediate(() => res.end());
        },
      });
      const { headers, body, trailers } = await (await client()).ask('/');
      expect(headers).not.to.have.property('http2-settings');
      expect([body, Object.entries(trailers!)]).to.deep.equal(['hello', [['x-sum', '1']]]);
    });

    it('pass interim responses on', async () => {
      const { client } = await start({
        listener: settings({ proxy100Continue: true }),
        respond: (_req, res) => {
          res.writeEarlyHints({ link: '</a.css>; rel=preload' });
          res.end('done');
        },
      });
      const answer = await (await client()).ask('/');
      expect([answer.interim, answer.body]).to.deep.equal([[103], 'done']);
    });

    it('confirm Expect: 100-continue when the body is read', async () => {
      const { client } = await start();
      const stream = (await client()).open('/', { ':method': 'POST', expect: '100-continue' });
      stream.once('continue', () => stream.end('hello'));
      const { body } = await answerOf(stream);
      expect(seenOf(body).body).to.equal('hello');
    });

    it('to an unfinished upload are sent whole, then the stream is reset without an error', async () => {
      const { port } = await start({
        respond: (_req, res) => {
          res.writeHead(413, { 'content-length': '9', connection: 'close' });
          res.end('too large');
        },
      });
      const frames = await FrameClient.open(port);
      const [, ...rest] = [0, requestFrame(1, '/')];
      const head = Buffer.from(rest[0]!);
      head[4] = FLAG.endHeaders;
      frames.send(head, frame(FRAME.data, 0, 1, Buffer.from('part')));
      expect(await frames.status(1)).to.equal(413);
      const end = await frames.until(({ type, flags }) => type === FRAME.data && (flags & FLAG.endStream) !== 0);
      expect(end.stream).to.equal(1);
      expect(await frames.reset(1)).to.equal(0);
      const types = frames.frames.filter(({ stream }) => stream === 1).map(({ type }) => type);
      expect(types.lastIndexOf(FRAME.data)).to.be.lessThan(types.indexOf(FRAME.rstStream));
      frames.close();
    });

    it('of unknown length to an unfinished upload are sent whole, then the stream is reset without an error', async () => {
      const begun = Promise.withResolvers<ServerResponse>();
      const { port } = await start({
        respond: (_req, res) => {
          res.writeHead(413, { connection: 'close' }).write('too ');
          begun.resolve(res);
        },
      });
      const frames = await FrameClient.open(port);
      const head = Buffer.from(requestFrame(1, '/'));
      head[4] = FLAG.endHeaders;
      frames.send(head, frame(FRAME.data, 0, 1, Buffer.from('part')));
      const response = await begun.promise;
      await frames.until(({ type }) => type === FRAME.data);
      response.end('large');
      const end = await frames.until(({ type, flags }) => type === FRAME.data && (flags & FLAG.endStream) !== 0);
      expect(end.stream).to.equal(1);
      expect(await frames.reset(1)).to.equal(0);
      const types = frames.frames.filter(({ stream }) => stream === 1).map(({ type }) => type);
      expect(types.lastIndexOf(FRAME.data)).to.be.lessThan(types.indexOf(FRAME.rstStream));
      frames.close();
    });

    it('to uploads that continue until the reset reaches their clients leave the connection open', async () => {
      const { port } = await start({
        respond: (req, res) => void (req.method === 'POST' ? res.end('no') : res.end()),
        limits: { checkIntervalMs: 20, initialStreamWindowBytes: 262_144, initialConnectionWindowBytes: 2 ** 23 },
      });
      const frames = await FrameClient.open(port);
      const head = fields([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
      const part = Buffer.alloc(16_000);
      const checked = performance.now() + 10 * 20;
      // As many bytes as the window of the connection: more of them at once would be too many.
      for (let id = 1; id < 4 * 32 || performance.now() < checked; id += 4) {
        if (id < 4 * 32) {
          frames.send(frame(FRAME.headers, FLAG.endHeaders, id, head));
          expect(await frames.reset(id)).to.equal(CODE.none);
          for (let i = 0; i < 16; i++) frames.send(frame(FRAME.data, 0, id, part));
        }
        frames.send(requestFrame(id + 2, '/'));
        expect(await frames.status(id + 2)).to.equal(200);
      }
      expect(frames.frames.some(({ type }) => type === FRAME.goaway)).to.equal(false);
      frames.close();
    });

    it('to an upload do not allow its client more than its window in other frames', async () => {
      const { port } = await start({
        respond: (_req, res) => void res.end('no'),
        limits: { checkIntervalMs: 20, initialStreamWindowBytes: 65_535 },
      });
      const frames = await FrameClient.open(port);
      const head = fields([':method', 'POST'], [':scheme', 'http'], [':path', '/'], [':authority', 'a']);
      frames.send(frame(FRAME.headers, FLAG.endHeaders, 1, head));
      expect(await frames.reset(1)).to.equal(CODE.none);
      const unknown = frame(250, 0, 0, Buffer.alloc(16_000));
      for (let i = 0; i < 1000 && !frames.socket.destroyed; i++) {
        frames.send(unknown);
        await new Promise(setImmediate);
      }
      await frames.closed;
    });

    it('that an upstream does not complete are reset', async () => {
      const { client } = await start({
        respond: (_req, res) => {
          res.writeHead(200, { 'content-length': '100' });
          res.write('part');
          setImmediate(() => res.destroy());
        },
      });
      const { ask } = await client();
      const error = await ask('/').then(
        () => undefined,
        (reason: Error) => reason,
      );
      expect(error?.message).to.match(/NGHTTP2_INTERNAL_ERROR|closed with 2/);
      const chunked = await ask('/').catch(() => 'reset');
      expect(chunked).to.equal('reset');
    });
  });

  describe('that leave', () => {
    it('end the request upstream when they reset a stream, and the others go on', async () => {
      const requests: IncomingMessage[] = [];
      const closed: string[] = [];
      const { client } = await start({
        respond: (req, res) => {
          requests.push(req);
          if (req.url === '/other') return void echo(req, res);
          res.once('close', () => closed.push(req.url!));
          upstreamSaw.resolve();
        },
      });
      const upstreamSaw = Promise.withResolvers<void>();
      const { open, ask } = await client();
      const stream = open('/left');
      stream.end();
      await upstreamSaw.promise;
      stream.close(8);
      await until(() => closed.length > 0);
      expect(closed).to.deep.equal(['/left']);
      expect((await ask('/other')).status).to.equal(200);
    });

    it('do not complete an upload by a reset without an error', async () => {
      const outcome = Promise.withResolvers<string>();
      const begun = Promise.withResolvers<void>();
      const { port } = await start({
        respond: (req) => {
          req.once('data', () => begun.resolve());
          req.once('end', () => outcome.resolve('complete')).once('error', () => outcome.resolve('aborted'));
        },
      });
      const frames = await FrameClient.open(port);
      const head = requestFrame(1, '/');
      head[4] = FLAG.endHeaders;
      frames.send(head, frame(FRAME.data, 0, 1, Buffer.from('part')));
      await begun.promise;
      frames.send(frame(FRAME.rstStream, 0, 1, Buffer.alloc(4)));
      expect(await outcome.promise).to.equal('aborted');
      frames.close();
    });

    it('end the requests upstream when they close the connection', async () => {
      const gone = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const { client } = await start({
        respond: (_req, res) => {
          res.once('close', () => gone.resolve());
          begun.resolve();
        },
      });
      const { open, close } = await client();
      open('/').end();
      await begun.promise;
      close();
      await gone.promise;
    });
  });

  it('are counted', async () => {
    const { client, stat } = await start();
    const { ask } = await client();
    await ask('/');
    await ask('/');
    expect(stat('http.http.downstream_cx_http2_total')).to.equal(1);
    expect(stat('http.http.downstream_cx_http1_total')).to.equal(0);
    expect(stat('http.http.downstream_rq_http2_total')).to.equal(2);
    expect(stat('http.http.downstream_rq_total')).to.equal(2);
    expect(stat('http.http.downstream_rq_2xx')).to.equal(2);
  });
});
