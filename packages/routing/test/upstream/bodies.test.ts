import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { fakeTime } from '../../../../test/parts/fake-time.ts';
import {
  closeAll,
  gateway,
  httpUpstream,
  listen,
  rawUpstream,
  snapshotOf,
  until,
  whenDone,
} from '../forward/harness.ts';

const SIZES = [0, 1, 900, 16_384, 16_385, 65_000, 65_536, 300_000, 3_000_000];
const BODIES = new Map(SIZES.map((size) => [`/${size}`, randomBytes(size)]));

const sumOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Asks for a body, reading it fast or with pauses, and gives its checksum. */
async function download(url: string, slow: boolean): Promise<string> {
  const req = request(url, { agent: false }).end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const sum = createHash('sha256');
  for await (const chunk of res) {
    sum.update(chunk as Buffer);
    if (slow) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return sum.digest('hex');
}

describe('bodies', () => {
  afterEach(closeAll);

  for (const framing of ['with a length', 'in chunks'] as const) {
    it(`of all sizes arrive complete ${framing}, concurrently, at fast and slow readers`, async () => {
      const port = await httpUpstream((req, res) => {
        const body = BODIES.get(req.url!)!;
        if (framing === 'with a length') res.setHeader('content-length', body.length);
        else res.flushHeaders();
        res.end(body);
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const asked = Array.from({ length: 60 }, (_, i) => `/${SIZES[i % SIZES.length]!}`);
      const sums = await Promise.all(asked.map((path, i) => download(gw.url + path, i % 3 === 0)));
      expect(sums).to.deep.equal(asked.map((path) => sumOf(BODIES.get(path)!)));
    }).timeout(60_000);
  }

  for (const framing of ['with a length', 'in chunks'] as const) {
    it(`of all sizes are sent completely ${framing}, concurrently`, async () => {
      const port = await httpUpstream((req, res) => {
        const sum = createHash('sha256');
        req.on('data', (chunk: Buffer) => sum.update(chunk)).on('end', () => res.end(sum.digest('hex')));
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const upload = async (body: Buffer): Promise<string> => {
        const headers =
          framing === 'with a length' ? { 'content-length': body.length } : { 'transfer-encoding': 'chunked' };
        const req = request(gw.url, { method: 'PUT', agent: false, headers });
        for (let at = 0; at < body.length; at += 50_000) req.write(body.subarray(at, at + 50_000));
        req.end();
        const [res] = (await once(req, 'response')) as [IncomingMessage];
        return String((await once(res, 'data'))[0]);
      };
      const bodies = Array.from({ length: 40 }, (_, i) => BODIES.get(`/${SIZES[i % SIZES.length]!}`)!);
      expect(await Promise.all(bodies.map(upload))).to.deep.equal(bodies.map(sumOf));
      expect(gw.outcomes.every(({ flags }) => flags === '')).to.equal(true);
    }).timeout(60_000);
  }

  it('that are small go out in one piece with their head', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    const pieces: string[] = [];
    const watched = new Set<unknown>();
    const watch = setInterval(() => {
      for (const socket of upstream.sockets) {
        if (watched.has(socket)) continue;
        watched.add(socket);
        socket.on('data', (chunk) => pieces.push(String(chunk)));
      }
    }, 1);
    const post = async (body: string): Promise<void> => {
      const req = request(gw.url, { method: 'POST', agent: false, headers: { 'content-length': body.length } });
      req.end(body);
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      res.resume();
      await once(res, 'end');
    };
    await post('first');
    await until(() => watched.size === 1);
    await post('second');
    clearInterval(watch);
    expect(pieces.at(-1)).to.match(/^POST \/ HTTP\/1\.1\r\n[^]*\r\n\r\nsecond$/);
  });
});

describe('idle connections', () => {
  afterEach(closeAll);

  const answerWith = (header: string): string => `HTTP/1.1 200 OK\r\n${header}\r\ncontent-length: 2\r\n\r\nok`;
  const ask = async (url: string): Promise<string> => download(url, false);

  it('are not reused if the server is about to close them', async () => {
    const upstream = await rawUpstream((socket) => socket.write(answerWith('keep-alive: timeout=2')));
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    await ask(gw.url);
    await ask(gw.url);
    expect(upstream.connections).to.equal(2);
  });

  it('are closed before the server closes them', async () => {
    const upstream = await rawUpstream((socket) => socket.write(answerWith('keep-alive: timeout=3')));
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    await ask(gw.url);
    await ask(gw.url);
    expect(upstream.connections).to.equal(1);
    await until(() => upstream.sockets.size === 0, 'closed after a second');
  });

  it('are kept as long as they are used within their time', async () => {
    const upstream = await rawUpstream((socket) => socket.write(answerWith('x-a: b')));
    const spec = { connectionConfig: { commonHttpProtocolOptions: { idleTimeout: '2s' } } };
    const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec }) });
    const time = fakeTime();
    try {
      for (let i = 0; i < 5; i++) {
        await ask(gw.url);
        await time.pass(1900);
      }
      expect([upstream.connections, upstream.sockets.size]).to.deep.equal([1, 1]);
      await time.pass(200);
      await time.reached(() => upstream.sockets.size === 0);
    } finally {
      time.restore();
    }
  });

  it('are not reused while the request is still being written', async () => {
    const upstream = await rawUpstream((socket, _request, index) => {
      if (index === 0) socket.pause();
      socket.write(answerWith('x-a: b'));
    });
    const body = Buffer.alloc(20_000_000);
    const gw = await gateway({
      upstream: snapshotOf(upstream.port),
      head: (req) => (req.url === '/large' ? { body, method: 'POST' } : {}),
    });
    await ask(`${gw.url}/large`);
    await ask(gw.url);
    expect(upstream.connections).to.equal(2);
    expect(gw.stat('upstream_cx_active')).to.equal(1);
  });

  it('are not reused while a long head is still being written', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      whenDone(() => void socket.destroy());
      socket.on('error', () => {}).once('data', () => socket.pause().write(answerWith('x-a: b')));
    });
    const port = await listen(server);
    whenDone(() => void server.close());
    const gw = await gateway({
      upstream: snapshotOf(port),
      head: (req) => (req.url === '/large' ? { headers: ['x-large', 'a'.repeat(20_000_000)] } : {}),
    });
    await ask(`${gw.url}/large`);
    await ask(gw.url);
    expect(connections).to.equal(2);
    expect(gw.stat('upstream_cx_active')).to.equal(1);
  });

  it('that are closed by connection: close are not used again', async () => {
    const upstream = await rawUpstream((socket) => socket.write(answerWith('connection: close')));
    const gw = await gateway({ upstream: snapshotOf(upstream.port) });
    await ask(gw.url);
    await until(() => upstream.sockets.size === 0);
    await ask(gw.url);
    expect([upstream.connections, gw.stat('upstream_rq_retry')]).to.deep.equal([2, 0]);
  });
});
