import { expect } from 'chai';
import { HeadCache } from '../../src/http1/head-cache.ts';
import type { ResponseHead } from '../../src/http1/response-head.ts';
import { ResponseParser } from '../../src/http1/response-parser.ts';

interface Seen {
  head?: ResponseHead;
  body: string;
  ended: boolean;
  alone: boolean;
  /** Bytes that did not belong to the answer. */
  left: string;
}

const heads = new HeadCache();

/** Reads an answer that comes in these pieces. */
function read(pieces: readonly string[], { method = 'GET', closed = false } = {}): Seen {
  const seen: Seen = { body: '', ended: false, alone: false, left: '' };
  const add = (buffer: Buffer, start: number, end: number): void =>
    void (seen.body += buffer.toString('latin1', start, end));
  const parser = new ResponseParser(
    {
      onHead: (head) => (seen.head = head),
      onHeadAlone: () => (seen.alone = true),
      onBody: add,
      onEnd(buffer, start, end) {
        add(buffer, start, end);
        seen.ended = true;
      },
    },
    heads,
  );
  parser.expect(method);
  for (const piece of pieces) {
    if (piece === '') continue;
    // As in a connection: one buffer for all, with what was read before still behind it.
    const buffer = Buffer.alloc(piece.length + 50, 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nold\r\n\r\n');
    buffer.write(piece, 'latin1');
    const used = parser.idle ? 0 : parser.read(buffer, piece.length);
    seen.left += piece.slice(used);
  }
  if (closed) parser.end();
  return seen;
}

const ANSWERS: Readonly<
  Record<string, { text: string; status: number; body: string; method?: string; closed?: boolean }>
> = {
  'a length': { text: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello', status: 200, body: 'hello' },
  'no body': { text: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', status: 200, body: '' },
  chunks: {
    text: 'HTTP/1.1 201 Created\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2;x\r\nlo\r\n0\r\nx-t: 1\r\n\r\n',
    status: 201,
    body: 'hello',
  },
  'the end of the connection': {
    text: 'HTTP/1.1 200 OK\r\nx-a: b\r\n\r\nhello',
    status: 200,
    body: 'hello',
    closed: true,
  },
  'a HEAD': { text: 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n', status: 200, body: '', method: 'HEAD' },
  'a HEAD in chunks': {
    text: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    status: 200,
    body: '',
    method: 'HEAD',
  },
  '204': { text: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '' },
  '304 with a length': { text: 'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n', status: 304, body: '' },
  'no reason phrase': { text: 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx', status: 200, body: 'x' },
  'interim answers': {
    text: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno',
    status: 404,
    body: 'no',
  },
};

describe('a response parser', () => {
  for (const [name, { text, status, body, method, closed }] of Object.entries(ANSWERS)) {
    it(`reads ${name} at once, byte by byte and split anywhere`, () => {
      const cuts = Array.from({ length: text.length }, (_, i) => [text.slice(0, i), text.slice(i)]);
      for (const pieces of [[text], [...text], ...cuts]) {
        const seen = read(pieces, { method, closed });
        expect(seen.head?.status).to.equal(status);
        expect(seen).to.include({ body, ended: true, left: '' });
      }
    });
  }

  it('drops the headers that two Connection fields name, and applies both', () => {
    const { head } = read([
      'HTTP/1.1 200 OK\r\nconnection: x-a, close\r\nx-a: 1\r\nx-b: 2\r\nConnection: X-B\r\nx-c: 3\r\ncontent-length: 0\r\n\r\n',
    ]);
    expect(head!.headers).to.deep.equal(['x-c', '3', 'content-length', '0']);
    expect(head!.keepAlive).to.equal(false);
  });

  it('returns headers with their names, order and repetitions, with trimmed values', () => {
    const text =
      'HTTP/1.1 200 OK\r\nX-A:1\r\nset-cookie: a=b\r\nSet-Cookie:\t c=d \t\r\nx-e:\r\nContent-Length: 0\r\n\r\n';
    expect(read([text]).head!.headers).to.deep.equal([
      'X-A',
      '1',
      'set-cookie',
      'a=b',
      'Set-Cookie',
      'c=d',
      'x-e',
      '',
      'Content-Length',
      '0',
    ]);
  });

  it('leaves the bytes after a response', () => {
    expect(read(['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200']).left).to.equal('HTTP/1.1 200');
    expect(read(['HTTP/1.1 204 No\r\n\r\n', 'more']).left).to.equal('more');
  });

  it('reports that the body did not arrive with the head', () => {
    const [head, body] = ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n', 'ok'];
    expect(read([head, body]).alone).to.equal(true);
    expect(read([head + body]).alone).to.equal(false);
    expect(read([head + body[0]!, body[1]!]).alone).to.equal(false);
  });

  it('ends a body at the end of the connection only without other framing', () => {
    for (const text of [
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n',
      'HTTP/1.1 200 OK\r\ncontent-len',
    ]) {
      expect(read([text], { closed: true }).ended, text).to.equal(false);
    }
  });

  it('reports whether the connection can be reused', () => {
    const keeps = (version: string, ...lines: string[]): boolean =>
      read([[`HTTP/${version} 200 OK`, ...lines, 'content-length: 0', '', ''].join('\r\n')]).head!.keepAlive;
    expect(keeps('1.1')).to.equal(true);
    expect(keeps('1.1', 'connection: close')).to.equal(false);
    expect(keeps('1.1', 'connection: x-a', 'Connection: keep-alive, Close')).to.equal(false);
    expect(keeps('1.0')).to.equal(false);
    expect(keeps('1.0', 'connection: Keep-Alive')).to.equal(true);
    expect(keeps('1.0', 'connection: Keep-Alive, close')).to.equal(false);
  });

  it('does not reuse the connection of an old server that sends chunks (RFC 9112 6.1)', () => {
    const keeps = (version: string): boolean =>
      read([`HTTP/${version} 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`]).head!
        .keepAlive;
    expect([keeps('1.1'), keeps('1.0')]).to.deep.equal([true, false]);
  });

  it('reads how long the server keeps a connection', () => {
    const hint = (value: string): number | undefined =>
      read([`HTTP/1.1 200 OK\r\nkeep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`]).head!.keepAliveSeconds;
    expect(hint('timeout=5')).to.equal(5);
    expect(hint('max=100, timeout=20')).to.equal(20);
    expect(hint('timeout=86400')).to.equal(86_400);
    expect(hint('Timeout=0')).to.equal(0);
    expect(hint('max=5')).to.equal(undefined);
    expect(hint('timeout=-1')).to.equal(undefined);
    expect(hint('xtimeout=5')).to.equal(undefined);
  });

  it('rejects immediately what cannot become a response', () => {
    for (const text of [
      'SSH-2.0',
      'H2',
      'HTTP/2',
      '\x15\x03\x01',
      'HTTP/1.1 200 OK\n',
      '\r\nHTTP/1.1 200 OK',
      ' HTTP/1.1',
    ]) {
      expect(() => read([text]), JSON.stringify(text))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_UPSTREAM_PROTOCOL');
    }
  });

  it('rejects a head without end, however slowly it arrives', () => {
    const line = `x-a: ${'a'.repeat(1000)}\r\n`;
    expect(() => read(['HTTP/1.1 200 OK\r\n', ...Array.from({ length: 70 }, () => line)])).to.throw(
      'the head is too long',
    );
    expect(() => read([`HTTP/1.1 200 OK\r\n${line.repeat(70)}\r\n`])).to.throw('the head is too long');
  });

  it('reads a head of 64 KiB, but no longer one', () => {
    const head = (bytes: number): string => {
      const lines = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-a: ';
      return `${lines}${'a'.repeat(bytes - lines.length)}\r\n\r\n`;
    };
    expect(read([head(65_536)])).to.include({ ended: true });
    expect(() => read([head(65_537)])).to.throw('the head is too long');
  });

  it('reads up to 16 interim responses before each final one', () => {
    const hint = 'HTTP/1.1 103 Hints\r\n\r\n';
    const last = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
    expect(read([hint.repeat(16) + last])).to.include({ ended: true });
    expect(() => read([hint.repeat(17) + last])).to.throw('too many interim responses');
    const statuses: number[] = [];
    const nothing = (): void => {};
    const sink = { onHead: ({ status }: ResponseHead) => void statuses.push(status) };
    const parser = new ResponseParser({ ...sink, onHeadAlone: nothing, onBody: nothing, onEnd: nothing }, heads);
    for (const response of [hint.repeat(16) + last, hint.repeat(16) + last]) {
      parser.expect('GET');
      parser.read(Buffer.from(response), response.length);
    }
    expect(statuses).to.deep.equal([200, 200]);
  });

  it('opens a tunnel for CONNECT with a status of success only', () => {
    const text = (status: string): string => `HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\nno`;
    expect(read([text('200 OK')], { method: 'CONNECT' })).to.include({ body: 'no', ended: false });
    expect(read([text('299 Fine')], { method: 'CONNECT' })).to.include({ ended: false });
    expect(read([text('300 Many')], { method: 'CONNECT' })).to.include({ body: 'no', ended: true });
    expect(read([text('407 Log in')], { method: 'CONNECT' })).to.include({ body: 'no', ended: true });
  });

  it('reads lengths of 15 digits, and rejects longer ones', () => {
    const text = (length: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`;
    expect(read([text('9'.repeat(15))]).head!.framing).to.equal(999_999_999_999_999);
    expect(() => read([text('1'.repeat(16))])).to.throw('content-length is repeated or not a number');
  });

  it('drops the length of 204, which has no body', () => {
    const { head, ended } = read(['HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nx-a: b\r\n\r\n']);
    expect(head!.headers).to.deep.equal(['x-a', 'b']);
    expect(ended).to.equal(true);
  });

  it('drops headers of the connection in any case', () => {
    const names = ['TE', 'Upgrade', 'Trailer', 'Keep-Alive', 'HTTP2-Settings', 'Proxy-Connection'];
    const authentication = ['Proxy-Authenticate', 'PROXY-AUTHORIZATION'];
    const lines = [...names, ...authentication].map((name) => `${name}: a\r\n`).join('');
    const { head } = read([`HTTP/1.1 200 OK\r\n${lines}x-a: b\r\nContent-Length: 0\r\n\r\n`]);
    expect(head!.headers).to.deep.equal(['x-a', 'b', 'Content-Length', '0']);
  });

  it('rejects a bare line feed as soon as it arrives, also as the first byte of a read', () => {
    expect(() => read(['HTTP/1.1 200 OK\r\nx-a: b', '\n'])).to.throw('the head has a bare line feed');
    expect(read(['HTTP/1.1 200 OK\r', '\nx-a: b\r', '\n']).head).to.equal(undefined);
  });

  it('finds the end of a head at the beginning of a large read', () => {
    const body = 'b'.repeat(60_000);
    const text = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect(read([text])).to.include({ body, ended: true });
    expect(read([text.slice(0, 20), text.slice(20)])).to.include({ body, ended: true });
    const unfinished = `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(40_000)}`;
    expect(read([unfinished, `\r\ncontent-length: 1\r\n\r\nx`])).to.include({ body: 'x', ended: true });
  });
});
