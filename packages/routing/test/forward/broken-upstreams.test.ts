import { expect } from 'chai';
import type { Socket } from 'node:net';
import { closeAll, gateway, get, rawUpstream, snapshotOf, type Gateway, type RawUpstream } from './harness.ts';

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
  'a header name that is no token': 'HTTP/1.1 200 OK\r\nx(a): b\r\ncontent-length: 3\r\n\r\nbad',
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
};

describe('forward, with a broken upstream', () => {
  afterEach(closeAll);

  describe('answers 502 and goes on, when the upstream sends', () => {
    for (const [name, bad] of Object.entries(NOT_HTTP)) {
      it(name, async () => {
        const { gw } = await badThenGood(bad);
        const answer = await get(gw.url);
        expect(answer.status, answer.body).to.equal(502);
        expect(answer.body).to.equal('upstream protocol error');
        expect(gw.outcomes[0]).to.include({ flags: 'UPE' });
        await expectGood(gw);
      });
    }
  });

  describe('never gives a complete answer, and goes on, when a chunk has', () => {
    for (const [name, chunks] of Object.entries(BAD_CHUNKS)) {
      it(name, async () => {
        const { gw } = await badThenGood(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`);
        const answer = await get(gw.url).catch(() => undefined);
        expect(answer?.status === 502 || answer?.complete !== true).to.equal(true);
        await expectGood(gw);
      });
    }
  });
});
