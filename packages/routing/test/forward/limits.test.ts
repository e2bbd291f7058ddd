import { expect } from 'chai';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { closeAll, gateway, get, httpUpstream, rawUpstream, snapshotOf, until, whenDone } from './harness.ts';
import { count, pour } from './volume.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const TOTAL = 64 * 1024 * 1024;

/** Connects and sends; what comes back is collected. */
function client(port: number, bytes: string): { socket: Socket; text: () => string } {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.write(bytes, 'latin1');
  return { socket, text: () => text };
}

/** Waits until a number no longer changes. */
async function settled(read: () => number): Promise<number> {
  let before = -1;
  let same = 0;
  await until(() => {
    same = read() === before ? same + 1 : 0;
    before = read();
    return same > 5;
  });
  return before;
}

describe('forward', () => {
  afterEach(closeAll);

  describe('with a time limit', () => {
    it('responds with 504 when no head came in time, and closes the connection to the upstream', async () => {
      const upstream = await rawUpstream((socket, _request, index) => void (index > 0 && socket.write(OK)));
      const gw = await gateway({
        upstream: snapshotOf(upstream.port),
        head: (req) => ({ timeoutMs: req.url === '/slow' ? 1000 : 60_000 }),
      });
      expect(await get(`${gw.url}/slow`)).to.include({ status: 504, body: 'upstream request timeout' });
      expect(gw.outcomes[0]).to.include({ flags: 'UT' });
      expect(gw.stat('upstream_rq_timeout')).to.equal(1);
      await until(() => upstream.sockets.size === 0);
      expect((await get(gw.url)).status).to.equal(200);
    });

    it('aborts a response that does not end in time', async () => {
      const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
      const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ timeoutMs: 1000 }) });
      expect(await get(gw.url)).to.include({ status: 200, body: 'abc', complete: false });
      expect(gw.outcomes[0]).to.include({ flags: 'UT', aborted: true, failure: undefined });
      await until(() => upstream.sockets.size === 0);
    });

    it('aborts a response that drips', async () => {
      const upstream = await rawUpstream((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
        const timer = setInterval(() => socket.write('x'), 2);
        socket.on('close', () => clearInterval(timer));
      });
      const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ timeoutMs: 1000 }) });
      expect((await get(gw.url)).complete).to.equal(false);
      await until(() => upstream.sockets.size === 0);
    });

    it('allows a longer upload as long as it makes progress', async () => {
      const port = await httpUpstream((req, res) => void count(req).then((bytes) => res.end(String(bytes))));
      const gw = await gateway({ upstream: snapshotOf(port), head: () => ({ timeoutMs: 3000 }) });
      const req = request(gw.url, { method: 'POST', agent: false });
      let sent = 0;
      const timer = setInterval(() => (++sent < 17 ? req.write('x') : (clearInterval(timer), req.end())), 200);
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      expect(res.statusCode).to.equal(200);
      res.resume();
    });

    it('responds with 408 to a stalled upload', async () => {
      const port = await httpUpstream((req) => void req.resume());
      const gw = await gateway({ upstream: snapshotOf(port), head: () => ({ timeoutMs: 30 }) });
      const { socket, text } = client(gw.port, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc');
      await until(() => text().includes('HTTP/1.1 408 '));
      socket.destroy();
    });

    it('of 0 waits', async () => {
      const port = await httpUpstream((_req, res) => void setTimeout(() => res.end('late'), 50));
      const gw = await gateway({ upstream: snapshotOf(port), head: () => ({ timeoutMs: 0 }) });
      expect((await get(gw.url)).body).to.equal('late');
    });

    it('responds with 504 when the connection is not made in time', async () => {
      // Nobody answers there: the address is for documentation (RFC 5737).
      const endpoints = [{ address: '192.0.2.1', port: 81, weight: 1 }];
      const spec = { connectionConfig: { connectTimeout: '0.05s' } };
      const gw = await gateway({ upstream: snapshotOf(81, { endpoints, spec }) });
      const answer = await get(gw.url);
      expect([503, 504]).to.include(answer.status);
      expect(gw.outcomes[0]).to.include({ flags: 'UF' });
    });
  });

  describe('when the client leaves', () => {
    const phases: Record<string, [string, (socket: Socket) => void]> = {
      'before an answer': ['GET / HTTP/1.1\r\nhost: a\r\n\r\n', () => {}],
      'in the middle of its upload': ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc', () => {}],
      'in the middle of a chunked upload': [
        'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
        () => {},
      ],
      'after the head of an answer': [
        'GET / HTTP/1.1\r\nhost: a\r\n\r\n',
        (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'),
      ],
      'in the middle of an answer': [
        'GET / HTTP/1.1\r\nhost: a\r\n\r\n',
        (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'),
      ],
      'between two interim answers': [
        'GET / HTTP/1.1\r\nhost: a\r\n\r\n',
        (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'),
      ],
    };
    for (const [name, [bytes, answer]] of Object.entries(phases)) {
      for (const how of ['resetAndDestroy', 'destroy'] as const) {
        it(`${name}, the request upstream is aborted (${how})`, async () => {
          const upstream = await rawUpstream(answer);
          const gw = await gateway({ upstream: snapshotOf(upstream.port) });
          const { socket, text } = client(gw.port, bytes);
          await until(() => upstream.requests.length === 1);
          if (name.includes('answer') && !name.startsWith('be')) await until(() => text().includes('200 OK'));
          socket[how]();
          await until(() => upstream.sockets.size === 0, 'the upstream is let go');
          await until(() => gw.outcomes.length === 1);
          expect(gw.outcomes[0]).to.include({ flags: 'DC', failure: undefined });
          expect([gw.stat('upstream_rq_active'), gw.stat('upstream_rq_cancelled')]).to.deep.equal([0, 1]);
        });
      }
    }

    it('while it is connected to the upstream, the connection is kept for the next', async () => {
      const upstream = await rawUpstream((socket) => socket.write(OK));
      const gw = await gateway({
        upstream: snapshotOf(upstream.port),
        head(req) {
          if (req.url === '/leave') setImmediate(() => req.socket.destroy());
          return {};
        },
      });
      await get(`${gw.url}/leave`).catch(() => {});
      expect((await get(gw.url)).status).to.equal(200);
      await until(() => gw.outcomes.length === 2);
      expect(upstream.requests.map((request) => request.split(' ')[1])).to.deep.equal(['/']);
      expect(upstream.connections).to.equal(1);
    });
  });

  describe('with back-pressure', () => {
    it('applies back pressure to the upstream while the client does not read', async () => {
      let written = 0;
      const port = await httpUpstream((_req, res) => {
        const chunk = Buffer.alloc(64 * 1024);
        const fill = (): void => {
          while (written < TOTAL) {
            written += chunk.length;
            if (!res.write(chunk)) return void res.once('drain', fill);
          }
          res.end();
        };
        fill();
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const req = request(gw.url, { agent: false }).end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      res.pause();
      expect(await settled(() => written)).to.be.lessThan(TOTAL / 2);
      expect(await count(res.resume())).to.equal(TOTAL);
    });

    it('applies back pressure to the client while the upstream does not read', async () => {
      let upload: IncomingMessage | undefined;
      const port = await httpUpstream((req, res) => {
        upload = req.pause();
        void count(req.pause()).then((bytes) => res.end(String(bytes)));
        req.pause();
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const req = request(gw.url, { method: 'POST', agent: false });
      pour(req, TOTAL);
      await until(() => upload !== undefined);
      const sent = (): number => req.socket?.bytesWritten ?? 0;
      expect(await settled(sent)).to.be.lessThan(TOTAL / 2);
      upload!.resume();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const [text] = await once(res, 'data');
      expect(String(text)).to.equal(String(TOTAL));
    });
  });

  describe('with a final response in the middle of an upload', () => {
    const refusal = 'x'.repeat(300_000);
    const answers: Record<string, string> = {
      'with a length': `HTTP/1.1 413 Too Large\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`,
      'in chunks': `HTTP/1.1 413 Too Large\r\ntransfer-encoding: chunked\r\n\r\n${refusal.length.toString(16)}\r\n${refusal}\r\n0\r\n\r\n`,
    };
    for (const [name, answer] of Object.entries(answers)) {
      it(`delivers it ${name}, stops the upload and reuses neither connection`, async () => {
        const upstream = await rawUpstream((socket, _request, index) => socket.write(index === 0 ? answer : OK));
        const gw = await gateway({ upstream: snapshotOf(upstream.port) });
        const socket = connect(gw.port, '127.0.0.1').on('error', () => {});
        let text = '';
        let ended = false;
        socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('end', () => (ended = true));
        socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n');
        // The client goes on sending while the answer is on its way.
        const timer = setInterval(() => socket.writable && socket.write(Buffer.alloc(10_000)), 1);
        whenDone(() => clearInterval(timer));
        await until(() => text.split('x').length - 1 >= refusal.length);
        expect(text)
          .to.match(/^HTTP\/1.1 413 /)
          .and.match(/\r\nconnection: close\r\n/i);
        await until(() => upstream.sockets.size === 0);
        await until(() => ended);
        clearInterval(timer);
        socket.destroy();
        expect(gw.outcomes[0]).to.include({ flags: '', failure: undefined });
        expect((await get(gw.url)).status).to.equal(200);
      });
    }

    it('continues the upload until the response ends', async () => {
      const port = await httpUpstream((req, res) => {
        res.writeHead(200).flushHeaders();
        req.pipe(res);
      });
      const gw = await gateway({ upstream: snapshotOf(port) });
      const req = request(gw.url, { method: 'POST', agent: false });
      req.write('first ');
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      const [first] = await once(res, 'data');
      req.end('second');
      const [second] = await once(res, 'data');
      expect(`${first}${second}`).to.equal('first second');
    });

    it('closes the connection of a client that never stops, after a while', async () => {
      const upstream = await rawUpstream((socket) =>
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno'),
      );
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      const socket = connect({ port: gw.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
      let closed = false;
      socket.on('close', () => (closed = true)).resume();
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 20);
      whenDone(() => clearInterval(timer));
      await until(() => closed);
      clearInterval(timer);
    });
  });
});
