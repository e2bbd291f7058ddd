import { once } from 'node:events';
import {
  createServer,
  get,
  IncomingMessage,
  request,
  ServerResponse,
  type RequestListener,
  type Server,
} from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server, performServerHandshake } from 'node:http2';
import { connect, createServer as createNetServer, Socket, type AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { until } from '../../../test/parts/until.ts';
import { canWriteDirectly, writeText } from '../src/http1/write-text.ts';
import { canReadDirectly, readInto } from '../src/listen/http1/user-buffer.ts';
import { setProxied } from '../src/format/proxied.ts';
import { hasEnded } from '../src/tcp/has-ended.ts';
import { certificates } from './upstream/certificates.ts';

/** Behavior of Node beyond its documentation that the gateway relies on: docs/decisions/010-internals-of-node.md. */
describe('internals of Node', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function listen(server: Server | ReturnType<typeof createNetServer>): Promise<number> {
    server.listen(0, '127.0.0.1');
    closers.push(() => server.close());
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Sends bytes to a server; resolves with everything that it sends until it closes. */
  async function exchange(port: number, text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    closers.push(() => socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.write(text);
    await once(socket, 'close');
    return received;
  }

  async function serving(listener: RequestListener): Promise<number> {
    return listen(createServer(listener));
  }

  it('IncomingMessage.push: the parser passes the body and its end through it (listen/body-watch.ts)', async () => {
    const pushed: (string | null)[] = [];
    const port = await serving((req, res) => {
      const push = req.push.bind(req);
      req.push = (chunk: Buffer | null) => {
        pushed.push(chunk && chunk.toString());
        return push(chunk);
      };
      req.resume().on('end', () => res.end());
    });
    await exchange(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n',
    );
    expect(pushed).to.deep.equal(['hello', null]);
  });

  it('IncomingMessage.push: trailers are known when the end is pushed (listen/body-watch.ts)', async () => {
    let trailers: string[] = [];
    const port = await serving((req, res) => {
      const push = req.push.bind(req);
      req.push = (chunk: Buffer | null) => {
        if (chunk === null) trailers = [...req.rawTrailers];
        return push(chunk);
      };
      req.resume().on('end', () => res.end());
    });
    await exchange(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx-sum: 1\r\n\r\n',
    );
    expect(trailers).to.deep.equal(['x-sum', '1']);
  });

  it('IncomingMessage._read: called when the body is first read, not before (listen/body-watch.ts)', async () => {
    let reads = 0;
    let before = -1;
    const server = createServer();
    server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
      const read = req._read.bind(req);
      req._read = (size) => {
        if (reads++ === 0) res.writeContinue();
        read(size);
      };
      setImmediate(() => {
        before = reads;
        req.resume().on('end', () => res.end('done'));
      });
    });
    const port = await listen(server);
    const req = request({ port, host: '127.0.0.1', method: 'POST', headers: { expect: '100-continue' }, agent: false });
    req.flushHeaders();
    await once(req, 'continue');
    req.end('body');
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.resume();
    await once(res, 'end');
    expect(before).to.equal(0);
    expect(reads).to.be.greaterThan(0);
  });

  it('ServerResponse.shouldKeepAlive: false closes the connection with the response (listen/connection.ts)', async () => {
    const port = await serving((_req, res) => {
      expect(res.shouldKeepAlive).to.equal(true);
      res.shouldKeepAlive = false;
      res.end('x');
    });
    expect(await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).to.match(/\r\nconnection: close\r\n/i);
  });

  it('Socket.destroySoon: how a server closes a connection after its last response (core, http/lingering-close.ts)', async () => {
    let calls = 0;
    const port = await serving((_req, res) => {
      const socket = res.socket!;
      const destroySoon = socket.destroySoon.bind(socket);
      socket.destroySoon = () => {
        calls++;
        destroySoon();
      };
      res.writeHead(200, { connection: 'close' }).end('x');
    });
    await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(calls).to.equal(1);
  });

  it('Socket.destroy: called with the error of a failed write (upstream/failed-writes.ts)', async () => {
    const port = await listen(createNetServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    // It reads nothing, so that it learns of the reset by a write.
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => {});
    const errors: (NodeJS.ErrnoException | undefined)[] = [];
    const destroy = socket.destroy.bind(socket);
    socket.destroy = (error) => {
      errors.push(error);
      return destroy(error);
    };
    const write = (): void => {
      if (socket.destroyed) return;
      socket.write('x');
      setImmediate(write);
    };
    socket.once('connect', write);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(errors[0]?.code).to.be.oneOf(['EPIPE', 'ECONNRESET']);
    expect(errors[0]?.syscall).to.equal('write');
  });

  it('Server "listening": starts the timeouts of a server that does not listen itself (listen/front.ts)', async () => {
    const server = createServer({ headersTimeout: 30, connectionsCheckingInterval: 10 });
    const failed = once(server, 'clientError') as Promise<[NodeJS.ErrnoException, Socket]>;
    server.emit('listening');
    closers.push(() => server.close());
    const port = await listen(createNetServer((socket) => void server.emit('connection', socket)));
    const client = connect(port, '127.0.0.1');
    closers.push(() => client.destroy());
    client.write('GET / HTTP/1.1\r\n');
    const [error, socket] = await failed;
    socket.destroy();
    expect(error.code).to.equal('ERR_HTTP_REQUEST_TIMEOUT');
  });

  it('clientError: parser errors have HPE_ codes, a reason and the packet (listen/reject/client-error.ts)', async () => {
    const server = createServer((req, res) => void req.resume().on('end', () => res.end()));
    const errors: (Error & { code?: string; reason?: string; rawPacket?: Buffer })[] = [];
    server.on('clientError', (error, socket) => {
      errors.push(error);
      socket.destroy();
    });
    const port = await listen(server);
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const inputs = {
      HPE_INVALID_METHOD: 'NOPE / HTTP/1.1\r\n\r\n',
      HPE_HEADER_OVERFLOW: `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
      HPE_CHUNK_EXTENSIONS_OVERFLOW: `${chunked}1;${'x'.repeat(16_385)}\r\na\r\n`,
      HPE_INVALID_CHUNK_SIZE: `${chunked}x\r\n`,
      HPE_INVALID_HEADER_TOKEN: 'GET / HTTP/1.1\r\nHost: a\r\nb c: d\r\n\r\n',
      HPE_INVALID_VERSION: 'GET / HTTP/9.9\r\n\r\n',
    };
    for (const text of Object.values(inputs)) await exchange(port, text);
    expect(errors.map(({ code }) => code)).to.deep.equal(Object.keys(inputs));
    for (const { reason, rawPacket } of errors) {
      expect(reason).to.be.a('string');
      expect(rawPacket).to.be.instanceOf(Buffer);
    }
  });

  it('Readable._readableState.ended: false lets a received body be replaced in chunks (core, body/filtered-request.ts)', async () => {
    const port = await serving((req, res) => {
      setImmediate(async () => {
        const { _readableState: state } = req as IncomingMessage & { _readableState: { ended: boolean } };
        expect(state.ended).to.equal(true);
        state.ended = false;
        while (req.readableLength > 0) req.read();
        setImmediate(() => {
          req.push('new');
          req.push(null);
        });
        let body = '';
        for await (const chunk of req) body += String(chunk);
        res.end(body);
      });
    });
    const text = await exchange(
      port,
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nold',
    );
    expect(text).to.match(/new/).and.not.match(/old/);
  });

  it('ServerResponse.assignSocket and detachSocket: a response on the socket of an upgrade (core, middleware/upgrade-response.ts)', async () => {
    const server = createServer();
    server.on('upgrade', (req: IncomingMessage, socket: Socket) => {
      const res = new ServerResponse(req);
      res.shouldKeepAlive = false;
      res.assignSocket(socket);
      res.once('finish', () => {
        res.detachSocket(socket);
        expect(res.socket).to.equal(null);
        socket.end();
      });
      res.writeHead(403, ['content-length', '2']).end('no');
    });
    const port = await listen(server);
    const text = await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(text)
      .to.match(/^HTTP\/1\.1 403 Forbidden\r\n/)
      .and.match(/\r\n\r\nno$/);
  });

  it('getpeername and getsockname of a handle: the addresses of TLS above it (format/proxied.ts)', async () => {
    const { server: pair } = certificates();
    const server = createTlsServer({ ...pair }, ({ socket }, res) => {
      res.end(`${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`);
    });
    const port = await listen(
      createNetServer((socket) => {
        const source = { address: '192.0.2.7', port: 4711 };
        const destination = { address: '203.0.113.9', port: 443 };
        const peer = { address: '127.0.0.1', port: 1 };
        setProxied(socket, { peer, metadata: new Map() }, { source, destination });
        server.emit('connection', socket);
      }),
    );
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    closers.push(() => socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(received).to.contain('192.0.2.7 4711 203.0.113.9 443');
  });

  it('ServerResponse._onPendingData: resumes the writer of a response on the socket of an upgrade (listen/turn.ts)', async () => {
    const server = createServer();
    let drained = 0;
    server.on('request', (_req, res: ServerResponse & { _onPendingData(bytes: number): void }) => {
      const socket = res.socket!;
      const chunk = Buffer.alloc(1 << 20);
      while (res.write(chunk));
      res.once('drain', () => {
        drained++;
        expect(res.writableNeedDrain).to.equal(false);
        socket.destroy();
      });
      server.once('connect', () => socket.once('drain', () => res._onPendingData(0)));
    });
    const port = await listen(server);
    await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    expect(drained).to.equal(1);
  });

  it('ServerResponse.chunkedEncoding: true for a body without a length (forward/forward-exchange.ts)', async () => {
    const seen: boolean[] = [];
    const port = await serving((req, res) => {
      res.writeHead(200, req.url === '/length' ? ['content-length', '1'] : []);
      res.write('x');
      seen.push(res.chunkedEncoding);
      res.end();
    });
    for (const path of ['/', '/length']) {
      const [res] = (await once(get({ port, host: '127.0.0.1', path, agent: false }), 'response')) as [IncomingMessage];
      res.resume();
      await once(res, 'end');
    }
    expect(seen).to.deep.equal([true, false]);
  });

  it('HPE_PAUSED_H2_UPGRADE: bytesParsed is the end of the preface, and a session reads what is put back (listen/http2/take-over.ts)', async () => {
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const server = createServer();
    const taken = Promise.withResolvers<[number, boolean]>();
    server.on('clientError', (error: Error & { bytesParsed?: number; rawPacket?: Buffer }, socket) => {
      const { parser } = socket as Socket & { parser?: { remove?: unknown } };
      socket
        .on('data', () => {})
        .removeAllListeners('data')
        .pause();
      closers.push(() => socket.destroy());
      socket.unshift(Buffer.concat([Buffer.from(preface), error.rawPacket!.subarray(error.bytesParsed)]));
      const session = performServerHandshake(socket).on('error', () => {});
      session.on('remoteSettings', () => taken.resolve([error.bytesParsed!, typeof parser?.remove === 'function']));
    });
    const client = connect(await listen(server), '127.0.0.1').on('error', () => {});
    closers.push(() => client.destroy());
    client.write(Buffer.concat([Buffer.from(preface), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]));
    expect(await taken.promise).to.deep.equal([24, true]);
  });

  it('Http2Stream.push: data that nobody reads passes through it (listen/http2/http2-request.ts)', async () => {
    const pushed = Promise.withResolvers<string>();
    const server = createHttp2Server();
    server.on('stream', (stream) => {
      const { push } = stream;
      stream.push = (chunk: Buffer | null) => {
        if (chunk) pushed.resolve(String(chunk));
        return push.call(stream, chunk);
      };
    });
    const port = await listen(server as unknown as Server);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    closers.push(() => session.destroy());
    session
      .request({ ':method': 'POST' })
      .on('error', () => {})
      .write('hello');
    expect(await pushed.promise).to.equal('hello');
  });

  it('Http2Stream.close: calls end first, which would complete an upload (upstream/http2/client-session.ts)', async () => {
    const received = Promise.withResolvers<readonly [isComplete: boolean, code: number]>();
    const server = createHttp2Server();
    server.on('stream', (stream) => {
      let isComplete = false;
      stream.on('error', () => {}).on('aborted', () => (isComplete = false));
      stream.on('end', () => (isComplete = !stream.aborted)).resume();
      stream.once('data', () => upload.close(8));
      stream.on('close', () => received.resolve([isComplete, stream.rstCode]));
    });
    const port = await listen(server as unknown as Server);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    closers.push(() => session.destroy());
    const upload = session.request({ ':method': 'POST' }).on('error', () => {});
    let ends = 0;
    upload.end = () => {
      ends++;
      return upload;
    };
    upload.write('a part');
    expect(await received.promise).to.deep.equal([false, 8]);
    expect(ends).to.equal(1);
  });

  it('_readableState.ended of a connection: true behind data that nobody reads (tcp/has-ended.ts)', async () => {
    const accepted = Promise.withResolvers<Socket>();
    const port = await listen(createNetServer({ pauseOnConnect: true, allowHalfOpen: true }, accepted.resolve));
    closers.push(() => client.destroy());
    const client = connect(port, '127.0.0.1', () => client.end('unread'));
    const socket = await accepted.promise;
    closers.push(() => socket.destroy());
    await until(() => {
      socket.read(0);
      return hasEnded(socket);
    });
    expect([socket.readableEnded, String(socket.read())]).to.deep.equal([false, 'unread']);
  });

  it('Http2Session.setLocalWindowSize: a smaller window is not granted again (listen/http2/connection-window.ts)', async () => {
    const server = createHttp2Server();
    let received = 0;
    server.on('session', (session) => session.setLocalWindowSize(0));
    server.on('stream', (stream) => stream.on('data', (chunk: Buffer) => (received += chunk.length)));
    const port = await listen(server as unknown as Server);
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    closers.push(() => session.destroy());
    await once(session, 'remoteSettings');
    session
      .request({ ':method': 'POST' })
      .on('error', () => {})
      .write(Buffer.alloc(200_000));
    session
      .request({ ':method': 'POST' })
      .on('error', () => {})
      .write(Buffer.alloc(200_000));
    await until(() => received >= 65_535);
    await new Promise<void>((resolve) => session.ping(() => resolve()));
    expect([received, session.state.remoteWindowSize]).to.deep.equal([65_535, 0]);
  });

  it('onread of an accepted socket: its data goes to the callback, and can be put into the stream (listen/http1/user-buffer.ts)', async () => {
    expect(canReadDirectly).to.equal(process.platform !== 'win32');
    const read: string[] = [];
    const closed = Promise.withResolvers<string>();
    const port = await listen(
      createNetServer((socket) => {
        readInto(socket, (length, bytes) => {
          const text = Buffer.from(bytes.subarray(0, length));
          if (read.push(text.toString()) === 1) {
            socket.on('data', (chunk) => closed.resolve(String(chunk)));
            return true;
          }
          return socket.push(text);
        });
      }),
    );
    const socket = connect(port, '127.0.0.1');
    closers.push(() => socket.destroy());
    socket.write('one');
    while (read.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.write('two');
    expect(await closed.promise).to.equal('two');
    expect(read).to.deep.equal(['one', 'two']);
  });

  it('IncomingMessage._addHeaderLines: sets the headers of a request (listen/http1/plain-request.ts)', () => {
    const req = new IncomingMessage(new Socket()) as IncomingMessage & {
      _addHeaderLines(raw: string[], n: number): void;
    };
    req._addHeaderLines(['A', '1', 'a', '2'], 4);
    expect([req.headers, req.rawHeaders]).to.deep.equal([{ a: '1, 2' }, ['A', '1', 'a', '2']]);
  });

  it('Socket._httpMessage: only this response writes to a connection (listen/http1/plain-connection.ts)', async () => {
    type Carrier = Socket & { _httpMessage?: ServerResponse | null };
    const seen: boolean[] = [];
    const port = await serving((_req, res) => {
      const socket: Carrier = res.socket!;
      seen.push(socket._httpMessage === res);
      socket._httpMessage = null;
      res.writeHead(200, ['content-length', '2']).end('no');
      seen.push(socket.bytesWritten === 0 && socket.writableLength === 0);
      socket.destroy();
    });
    expect(await exchange(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).to.equal('');
    expect(seen).to.deep.equal([true, true]);
  });

  it('Socket._handle.writeLatin1String: writes at once, and otherwise queues (http1/write-text.ts)', async () => {
    expect(canWriteDirectly).to.equal(true);
    const queued: unknown[] = [];
    const port = await listen(
      createNetServer((socket) => {
        queued.push(writeText(socket, 'small'), socket.bytesWritten);
        queued.push(writeText(socket, 'x'.repeat(16 * 1024 * 1024), { onWritten: () => socket.destroy() }));
      }),
    );
    expect((await exchange(port, '')).length).to.equal(5 + 16 * 1024 * 1024);
    expect(queued).to.deep.equal([true, 5, false]);
  });

  it('Socket._write, _writev, _final, _destroy: called for all data, and for the end (http1/queued-messages.ts)', async () => {
    const calls: string[] = [];
    class Recorded extends Socket {
      override _write(...args: Parameters<Socket['_write']>): void {
        calls.push('write');
        super._write(...args);
      }
      override _writev(...args: Parameters<NonNullable<Socket['_writev']>>): void {
        calls.push('writev');
        super._writev!(...args);
      }
      override _final(...args: Parameters<Socket['_final']>): void {
        calls.push('final');
        super._final(...args);
      }
      override _destroy(...args: Parameters<Socket['_destroy']>): void {
        calls.push('destroy');
        super._destroy(...args);
      }
    }
    const port = await listen(
      createNetServer((socket) => {
        Object.setPrototypeOf(socket, Recorded.prototype);
        socket.write('a');
        socket.cork();
        socket.write('b');
        socket.write('c');
        socket.uncork();
        socket.destroySoon();
      }),
    );
    expect(await exchange(port, '')).to.equal('abc');
    expect(calls).to.deep.equal(['write', 'writev', 'final', 'destroy']);
  });

  it('Socket._paused: true while a server does not parse because responses wait (listen/http1/feed-parser.ts)', async () => {
    const requests: ServerResponse[] = [];
    const port = await serving((_req, res) => {
      if (requests.push(res) > 1) res.writeHead(200, ['content-length', '1000000']).end(Buffer.alloc(1_000_000));
    });
    const socket = connect(port, '127.0.0.1');
    closers.push(() => socket.destroy());
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    socket.write(request);
    while (requests.length < 1) await new Promise((resolve) => setImmediate(resolve));
    const served = requests[0]!.socket as Socket & { readonly _paused?: boolean };
    expect(served._paused).to.equal(false);
    socket.write(request + request);
    while (!served._paused) await new Promise((resolve) => setImmediate(resolve));
    expect(requests.length).to.be.lessThan(4);
  });
});
