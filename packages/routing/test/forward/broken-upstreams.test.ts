import { expect } from 'chai';
import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import {
  closeAll,
  closedPort,
  type Gateway,
  gateway,
  get,
  rawClient,
  rawUpstream,
  type RawUpstream,
  snapshotOf,
  until,
} from './harness.ts';

const RESET = 'upstream connect error or disconnect/reset before headers. reset reason: ';
const GOOD = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\nx-answer: good\r\n\r\ngood';

/** Answers the first request with `bad`, the others well. */
async function badThenGood(bad: string | ((socket: Socket) => void)): Promise<{ gw: Gateway; upstream: RawUpstream }> {
  const upstream = await rawUpstream((socket, _request, index) => {
    if (index > 0) socket.write(GOOD);
    else if (typeof bad === 'string') socket.write(bad, 'latin1');
    else bad(socket);
  });
  return { upstream, gw: await gateway({ upstream: snapshotOf(upstream.port) }) };
}

async function expectGood(gw: Gateway): Promise<void> {
  const answer = await get(gw.url);
  expect(answer).to.include({ status: 200, body: 'good', complete: true });
}

const NOT_HTTP: Readonly<Record<string, string>> = {
  'status 099': 'HTTP/1.1 099 Low\r\ncontent-length: 3\r\n\r\nbad',
  'status 000': 'HTTP/1.1 000 None\r\ncontent-length: 3\r\n\r\nbad',
  'status 600': 'HTTP/1.1 600 High\r\ncontent-length: 3\r\n\r\nbad',
  'status 999': 'HTTP/1.1 999 High\r\ncontent-length: 3\r\n\r\nbad',
  'a status of four digits': 'HTTP/1.1 2000 OK\r\ncontent-length: 3\r\n\r\nbad',
  'a negative status': 'HTTP/1.1 -20 OK\r\ncontent-length: 3\r\n\r\nbad',
  'no status': 'HTTP/1.1 OK\r\ncontent-length: 3\r\n\r\nbad',
  'another protocol': 'SSH-2.0-OpenSSH_9.2p1\r\n\r\n',
  'HTTP/0.9, a body without head': '<html>bad</html>\r\n\r\n',
  'a TLS alert': '\x15\x03\x01\x00\x02\x02\x46\r\n\r\n',
  'an unasked 101': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  'an unasked 101 without upgrade headers': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'an unasked 101 to h2c': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\nPRI *',
  'a header of 64 KiB': `HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(64 * 1024)}\r\ncontent-length: 3\r\n\r\nbad`,
  'headers of 128 KiB together': `HTTP/1.1 200 OK\r\n${`x-a: ${'a'.repeat(120)}\r\n`.repeat(1024)}content-length: 3\r\n\r\nbad`,
  'content-length and transfer-encoding':
    'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'transfer-encoding and content-length':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'two different content-lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nbad!',
  'two equal content-lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 3\r\n\r\nbad',
  'a list as content-length': 'HTTP/1.1 200 OK\r\ncontent-length: 3, 3\r\n\r\nbad',
  'an empty content-length': 'HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\nbad',
  'a signed content-length': 'HTTP/1.1 200 OK\r\ncontent-length: +3\r\n\r\nbad',
  'a negative content-length': 'HTTP/1.1 200 OK\r\ncontent-length: -3\r\n\r\nbad',
  'a hexadecimal content-length': 'HTTP/1.1 200 OK\r\ncontent-length: 0x3\r\n\r\nbad',
  'a content-length that overflows': `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\nbad`,
  'transfer-encoding identity': 'HTTP/1.1 200 OK\r\ntransfer-encoding: identity\r\n\r\nbad',
  'transfer-encoding gzip': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nbad',
  'transfer-encoding gzip, chunked': 'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'transfer-encoding ,chunked': 'HTTP/1.1 200 OK\r\ntransfer-encoding: ,chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'transfer-encoding xchunked': 'HTTP/1.1 200 OK\r\ntransfer-encoding: xchunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'transfer-encoding with a vertical tab':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: \x0bchunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'transfer-encoding twice':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'transfer-encoding chunked, identity':
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, identity\r\n\r\n3\r\nbad\r\n0\r\n\r\n',
  'a NUL in a value': 'HTTP/1.1 200 OK\r\nx-a: b\0c\r\ncontent-length: 3\r\n\r\nbad',
  'a NUL in a name': 'HTTP/1.1 200 OK\r\nx\0a: b\r\ncontent-length: 3\r\n\r\nbad',
  'a bare CR in a value': 'HTTP/1.1 200 OK\r\nx-a: b\rset-cookie: c\r\ncontent-length: 3\r\n\r\nbad',
  'a control character in a value': 'HTTP/1.1 200 OK\r\nx-a: b\x01c\r\ncontent-length: 3\r\n\r\nbad',
  'a folded header': 'HTTP/1.1 200 OK\r\nx-a: b\r\n c\r\ncontent-length: 3\r\n\r\nbad',
  'a space before the colon': 'HTTP/1.1 200 OK\r\ncontent-length : 3\r\n\r\nbad',
  'a space before the first header': 'HTTP/1.1 200 OK\r\n x-a: b\r\ncontent-length: 3\r\n\r\nbad',
  'an empty header name': 'HTTP/1.1 200 OK\r\n: b\r\ncontent-length: 3\r\n\r\nbad',
  'a header without colon': 'HTTP/1.1 200 OK\r\nx-a\r\ncontent-length: 3\r\n\r\nbad',
  'a header name that is not a token': 'HTTP/1.1 200 OK\r\nx(a): b\r\ncontent-length: 3\r\n\r\nbad',
  'a header name with a byte above 0x7f': 'HTTP/1.1 200 OK\r\nx\xe4: b\r\ncontent-length: 3\r\n\r\nbad',
  'bare LF as line ends': 'HTTP/1.1 200 OK\ncontent-length: 3\n\nbad\r\n\r\n',
  'a bare LF after the status line': 'HTTP/1.1 200 OK\nx-a: b\r\ncontent-length: 3\r\n\r\nbad',
  'a bare LF after a header': 'HTTP/1.1 200 OK\r\nx-a: b\ncontent-length: 3\r\n\r\nbad',
  'a flood of interim answers': `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1000)}${GOOD}`,
};

const BAD_CHUNKS: Readonly<Record<string, string>> = {
  'no size': '\r\nbad\r\n0\r\n\r\n',
  'a size that is not a number': 'zz\r\nbad\r\n0\r\n\r\n',
  'a signed size': '+3\r\nbad\r\n0\r\n\r\n',
  'a negative size': '-3\r\nbad\r\n0\r\n\r\n',
  'a size with 0x': '0x3\r\nbad\r\n0\r\n\r\n',
  'a size that overflows': `${'f'.repeat(20)}\r\nbad\r\n0\r\n\r\n`,
  'a size too small for its data': '1\r\nbad\r\n0\r\n\r\n',
  'no CRLF after the data': '3\r\nbad0\r\n\r\n',
  'a bare LF after the size': '3\nbad\r\n0\r\n\r\n',
  'a bare LF after the data': '3\r\nbad\n0\r\n\r\n',
  'a space in the size': '3 3\r\nbad\r\n0\r\n\r\n',
  'a content-length in the trailers': '3\r\nbad\r\n0\r\ncontent-length: 3\r\n\r\n',
  'a transfer-encoding in the trailers': '3\r\nbad\r\n0\r\ntransfer-encoding: x\r\n\r\n',
  'a trailer without name': '3\r\nbad\r\n0\r\n: 3\r\n\r\n',
  'a control character in an extension': '3;\x01\r\nbad\r\n0\r\n\r\n',
  'an extension of 5 KB': `3;${'e'.repeat(5000)}\r\nbad\r\n0\r\n\r\n`,
  'trailers of 20 KB': `3\r\nbad\r\n0\r\nx-a: ${'t'.repeat(20_000)}\r\n\r\n`,
};

describe('forward, with a broken upstream', () => {
  afterEach(closeAll);

  describe('responds with 502 and continues, when the upstream sends', () => {
    for (const [name, bad] of Object.entries(NOT_HTTP)) {
      it(name, async () => {
        const { gw } = await badThenGood(bad);
        const answer = await get(gw.url);
        expect(answer.status, answer.body).to.equal(502);
        expect(answer.body).to.equal(`${RESET}protocol error`);
        expect(gw.outcomes[0]).to.include({ flags: 'UPE' });
        await expectGood(gw);
      });
    }
  });

  describe('never sends a complete response, and continues, when a chunk has', () => {
    for (const [name, chunks] of Object.entries(BAD_CHUNKS)) {
      it(name, async () => {
        const { gw } = await badThenGood(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`);
        const answer = await get(gw.url).catch(() => undefined);
        expect(answer?.status === 502 || answer?.complete !== true).to.equal(true);
        await expectGood(gw);
      });
    }
  });

  describe('never completes a truncated body, when the upstream', () => {
    const half: Record<string, [(socket: Socket) => void, string]> = {
      'resets in the middle of a content-length': [
        (socket) => socket.resetAndDestroy(),
        'content-length: 100\r\n\r\nhalf',
      ],
      'ends in the middle of a content-length': [(socket) => socket.end(), 'content-length: 100\r\n\r\nhalf'],
      'ends in the middle of a content-length it says to close after': [
        (socket) => socket.end(),
        'connection: close\r\ncontent-length: 100\r\n\r\nhalf',
      ],
      'resets between chunks': [
        (socket) => socket.resetAndDestroy(),
        'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
      ],
      'ends between chunks': [(socket) => socket.end(), 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
      'ends in the middle of a chunk': [(socket) => socket.end(), 'transfer-encoding: chunked\r\n\r\n40\r\nhalf'],
      'ends before the last CRLF': [(socket) => socket.end(), 'transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n'],
      'resets a body that only the connection ends': [(socket) => socket.resetAndDestroy(), '\r\nhalf'],
    };
    for (const [name, [stop, rest]] of Object.entries(half)) {
      it(name, async () => {
        const { gw, upstream } = await badThenGood((socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
        const [socket] = [get(gw.url), await until(() => upstream.requests.length > 0)];
        // The head has to be on its way before the end, or it is a reset before the answer.
        await until(() => gw.stat('upstream_rq_200') === 1 || gw.outcomes.length === 1);
        for (const each of upstream.sockets) stop(each);
        const answer = await socket.catch(() => undefined);
        expect(answer?.complete ?? false).to.equal(false);
        expect(gw.outcomes[0]).to.include({ aborted: true, failure: undefined });
        expect(gw.outcomes[0]!.flags).to.match(/^(UC|UPE)$/);
        await expectGood(gw);
      });
    }

    it('resets a body that only the connection ends, for a client of HTTP/1.0 by a reset too', async () => {
      const { gw, upstream } = await badThenGood((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'));
      const answer = rawClient(gw.port, 'GET / HTTP/1.0\r\nhost: a\r\n\r\n');
      await until(() => gw.stat('upstream_rq_200') === 1);
      for (const socket of upstream.sockets) socket.resetAndDestroy();
      expect((await answer).reset).to.equal(true);
    });
  });

  describe('responds with 503 and continues, when the upstream', () => {
    const gone: Record<string, (socket: Socket) => void> = {
      'resets before the head': (socket) => socket.resetAndDestroy(),
      'ends before the head': (socket) => socket.end(),
      'ends in the middle of the head': (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
      'ends in the middle of the status line': (socket) => socket.end('HTT'),
    };
    for (const [name, stop] of Object.entries(gone)) {
      it(name, async () => {
        const { gw } = await badThenGood(stop);
        const answer = await get(gw.url);
        expect(answer).to.include({ status: 503, body: `${RESET}connection termination` });
        expect(gw.outcomes[0]).to.include({ flags: 'UC' });
        await expectGood(gw);
      });
    }

    it('rejects connections', async () => {
      const gw = await gateway({ upstream: snapshotOf(await closedPort()) });
      const answer = await get(gw.url);
      expect(answer).to.include({ status: 503, body: `${RESET}remote connection failure` });
      expect(gw.outcomes[0]).to.include({ flags: 'UF' });
      expect(gw.outcomes[0]!.cause).to.contain('ECONNREFUSED');
      expect(gw.outcomes[0]!.details).to.equal(
        'upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_Connection_refused}',
      );
      expect(gw.stat('upstream_cx_connect_fail')).to.equal(1);
    });

    it('has a name that does not resolve', async () => {
      const endpoints = [{ address: 'nowhere.invalid', port: 80, weight: 1 }];
      const gw = await gateway({ upstream: snapshotOf(80, { endpoints }) });
      expect((await get(gw.url)).status).to.equal(503);
      expect(gw.outcomes[0]).to.include({ flags: 'UF' });
    });

    it('has an invalid address', async () => {
      const endpoints = [{ address: 'no such host', port: 80, weight: 1 }];
      const gw = await gateway({ upstream: snapshotOf(80, { endpoints }) });
      expect((await get(gw.url)).status).to.equal(503);
    });

    it('has no endpoints', async () => {
      const gw = await gateway({ upstream: snapshotOf(80, { endpoints: [] }) });
      expect(await get(gw.url)).to.include({ status: 503, body: 'no healthy upstream' });
      expect(gw.outcomes[0]).to.include({ flags: 'UH' });
    });
  });

  describe('with a connection that was used before', () => {
    /** An upstream that answers the first request well and resets the second when it arrives on the same connection. */
    async function stale(): Promise<{ gw: Gateway; upstream: RawUpstream }> {
      const upstream = await rawUpstream((socket, _request, index) => {
        if (index === 1) socket.resetAndDestroy();
        else socket.write(GOOD);
      });
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await expectGood(gw);
      return { gw, upstream };
    }

    for (const method of ['GET', 'OPTIONS', 'DELETE', 'PUT']) {
      it(`sends ${method} without body once more, on a fresh one`, async () => {
        const { gw, upstream } = await stale();
        const answer = await get(gw.url, { method });
        expect(answer).to.include({ status: 200, body: 'good' });
        expect([upstream.requests.length, upstream.connections]).to.deep.equal([3, 2]);
        expect(gw.stat('upstream_rq_retry')).to.equal(1);
      });
    }

    it('never sends POST twice', async () => {
      const { gw, upstream } = await stale();
      expect((await get(gw.url, { method: 'POST' })).status).to.equal(503);
      expect(upstream.requests.length).to.equal(2);
    });

    it('never sends a body twice', async () => {
      const { gw, upstream } = await stale();
      const answer = await get(gw.url, { method: 'PUT', headers: { 'content-length': '1' }, body: 'x' });
      expect(answer.status).to.equal(503);
      expect(upstream.requests.length).to.equal(2);
    });

    it('never retries after a byte of the response', async () => {
      const upstream = await rawUpstream((socket, _request, index) => {
        if (index === 1) socket.write('HTTP/1.1 200 OK\r\n', () => socket.resetAndDestroy());
        else socket.write(GOOD);
      });
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await expectGood(gw);
      expect((await get(gw.url)).status).to.equal(503);
      expect(upstream.requests.length).to.equal(2);
    });

    it('retries once, not twice', async () => {
      const upstream = await rawUpstream((socket, _request, index) => {
        if (index === 1 || index === 2) socket.resetAndDestroy();
        else socket.write(GOOD);
      });
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await expectGood(gw);
      expect((await get(gw.url)).status).to.equal(503);
      expect(upstream.requests.length).to.equal(3);
      await expectGood(gw);
    });

    it('opens another when the upstream has closed it meanwhile, for POST too', async () => {
      const upstream = await rawUpstream((socket) => socket.write(GOOD));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await expectGood(gw);
      for (const socket of upstream.sockets) socket.end();
      await until(() => upstream.sockets.size === 0);
      expect((await get(gw.url, { method: 'POST' })).status).to.equal(200);
      expect(gw.stat('upstream_cx_active')).to.equal(1);
    });
  });

  describe('never sends a client bytes of another response, when the upstream sends', () => {
    const POISON = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison';
    const extras: Record<string, (socket: Socket, body: string) => void> = {
      'a second answer with the first': (socket, body) => socket.write(ok(body) + POISON),
      'a second answer right after the first': (socket, body) => {
        socket.write(ok(body));
        setImmediate(() => socket.write(POISON));
      },
      'half an answer with the first': (socket, body) => socket.write(`${ok(body)}HTTP/1.1 200 OK\r\nx-`),
      'garbage with the answer': (socket, body) => socket.write(`${ok(body)}garbage`),
      'a body with 204': (socket) => socket.write(`HTTP/1.1 204 No Content\r\n\r\n${POISON}`),
      'a body with 304': (socket) => socket.write(`HTTP/1.1 304 Not Modified\r\ncontent-length: 50\r\n\r\n${POISON}`),
      'a body longer than its content-length': (socket, body) => socket.write(`${ok(body)}longer`),
    };
    const ok = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    for (const [name, send] of Object.entries(extras)) {
      it(`${name} (1,500 requests)`, async () => {
        const upstream = await rawUpstream((socket, request) =>
          send(socket, request.slice(4, request.indexOf(' HTTP'))),
        );
        const gw = await gateway({ upstream: snapshotOf(upstream.port) });
        const agent = new Agent({ keepAlive: true, maxSockets: 8 });
        let poisoned = 0;
        const one = async (path: string): Promise<void> => {
          const { status, body } = await viaAgent(gw.port, path, agent);
          if (status === 200 ? body !== path : body.includes('poison')) poisoned++;
        };
        for (let i = 0; i < 1500; i += 8) await Promise.all(Array.from({ length: 8 }, (_, j) => one(`/${i + j}`)));
        agent.destroy();
        expect(poisoned).to.equal(0);
        expect(gw.outcomes.every((outcome) => outcome.failure === undefined)).to.equal(true);
      });
    }

    it('sends bytes before a request', async () => {
      const upstream = await rawUpstream((socket) => socket.write(GOOD));
      const gw = await gateway({ upstream: snapshotOf(upstream.port) });
      await expectGood(gw);
      for (const socket of upstream.sockets) socket.write(POISON);
      await until(() => upstream.sockets.size === 0);
      await expectGood(gw);
    });
  });

  it('survives 3,000 random mutations of valid responses', async () => {
    const random = createRandom(42);
    const parts = [
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 204 No\r\n',
      'HTTP/1.1 103 Hints\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'content-length: 5\r\n',
      'transfer-encoding: chunked\r\n',
      'connection: close\r\n',
      'connection: keep-alive\r\n',
      'keep-alive: timeout=0\r\n',
      'upgrade: x\r\nconnection: upgrade\r\n',
      '\r\n',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'hello',
      '\n',
      '\0',
    ];
    const upstream = await rawUpstream((socket) => {
      let answer = 'HTTP/1.1 200 OK\r\n';
      for (let n = random(8); n >= 0; n--) answer += parts[random(parts.length)];
      if (random(3) === 0) answer = answer.slice(0, random(answer.length));
      socket.write(answer, 'latin1');
      const end = random(4);
      if (end === 0) socket.end();
      else if (end === 1) socket.resetAndDestroy();
      else if (end === 2) setImmediate(() => socket.end());
    });
    const gw = await gateway({ upstream: snapshotOf(upstream.port), head: () => ({ timeoutMs: 30 }) });
    const methods = ['GET', 'HEAD', 'POST'];
    for (let i = 0; i < 3000; i += 50) {
      const requests = Array.from({ length: 50 }, () => get(gw.url, { method: methods[random(3)]! }).catch(() => {}));
      await Promise.all(requests);
    }
    await until(() => gw.outcomes.length === 3000 && gw.stat('upstream_rq_active') === 0);
    expect(gw.stat('upstream_cx_active')).to.be.lessThan(60);
    await gw.upstreams.close();
    await until(() => gw.stat('upstream_cx_active') === 0, 'all connections closed');
  });
});

function viaAgent(port: number, path: string, agent: Agent): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request({ port, path, agent }, (res) => {
      let body = '';
      res.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
      res.on('end', () => resolve({ status: res.statusCode!, body }));
      res.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

/** The same numbers in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
