import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { withProperCase, withWrittenCase, writeProperCase } from '../../src/http1/header-case.ts';

describe('header names in title case', () => {
  it('change neither the request line nor values', () => {
    const head = 'GET /a:b HTTP/1.1\r\nhost: a.example:80\r\nx-REQUEST-id: x-a: y\r\nx1a_b.c-2d:\r\n\r\n';
    expect(withProperCase(head)).to.equal(
      'GET /a:b HTTP/1.1\r\nHost: a.example:80\r\nX-Request-Id: x-a: y\r\nX1a_B.C-2d:\r\n\r\n',
    );
  });

  it('apply to a list of response headers', async () => {
    const lines = await responseOf((res) => {
      res.writeHead(200, ['content-length', '2', 'x-a', 'x-b', 'set-cookie', 'a=1', 'set-cookie', 'b=2']).end('ok');
    });
    expect(lines).to.include.members(['Content-Length: 2', 'X-A: x-b', 'Set-Cookie: a=1', 'Set-Cookie: b=2']);
    expect(namesInLowerCase(lines)).to.deep.equal([]);
  });

  it('apply to an object of response headers', async () => {
    const lines = await responseOf((res) => {
      res.setHeader('x-early', '1');
      res.setHeader('set-cookie', ['a=1', 'b=2']);
      res.writeHead(200, 'Fine', { 'content-type': 'text/plain' }).end('ok');
    });
    expect(lines[0]).to.equal('HTTP/1.1 200 Fine');
    expect(lines).to.include.members(['X-Early: 1', 'Set-Cookie: a=1', 'Set-Cookie: b=2', 'Content-Type: text/plain']);
    expect(namesInLowerCase(lines)).to.deep.equal([]);
  });

  it('apply to a response without an explicit head', async () => {
    const lines = await responseOf((res) => {
      res.setHeader('x-early', '1');
      res.end('ok');
    });
    expect(lines).to.include('X-Early: 1');
    expect(namesInLowerCase(lines)).to.deep.equal([]);
  });
});

describe('header names as written by the client', () => {
  it('leave the request line, values and further names unchanged', () => {
    const head = 'GET /x-a:b HTTP/1.1\r\nhost: a.example\r\nx-a: x-b: 1\r\nx-own: 1\r\ncontent-length: 2\r\n\r\n';
    expect(withWrittenCase(head, ['HOST', 'b.example', 'X-a', 'y', 'X-B', '', 'Content-Length', '2'])).to.equal(
      'GET /x-a:b HTTP/1.1\r\nHOST: a.example\r\nX-a: x-b: 1\r\nx-own: 1\r\nContent-Length: 2\r\n\r\n',
    );
  });

  it('use the first of several spellings', () => {
    const head = 'GET / HTTP/1.1\r\nx-a: 1\r\nx-a: 2\r\n\r\n';
    expect(withWrittenCase(head, ['X-a', '1', 'X-A', '2'])).to.equal('GET / HTTP/1.1\r\nX-a: 1\r\nX-a: 2\r\n\r\n');
  });
});

/** Returns the lines of the head of a response, as received over a socket. */
async function responseOf(respond: (res: ServerResponse) => void): Promise<string[]> {
  const server = createServer((_req, res) => {
    writeProperCase(res);
    respond(res);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  try {
    socket.write('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n');
    return (await text(socket)).split('\r\n\r\n')[0]!.split('\r\n');
  } finally {
    socket.destroy();
    server.close();
  }
}

const namesInLowerCase = (lines: readonly string[]): string[] => lines.slice(1).filter((line) => /^[a-z]/.test(line));
