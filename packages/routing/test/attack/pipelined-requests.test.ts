import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { connectionOf, isIdle, suspendIdleTimeout } from '../../src/listen/connection.ts';
import { describeParsers, open, parserLimits, serve, type Serving } from '../listen/serving.ts';
import { http2Gateway, type Http2Gateway } from '../listen/http2/gateway.ts';
import { until, untilStill } from '../../../../test/parts/until.ts';

const get = (path: string, lines = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
const GET = get('/');
const LAST = get('/last', 'Connection: close\r\n');
const CHUNKED = 'POST /chunked HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const MAX_WAITING = 1_024;

const statusesOf = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!);

describeParsers('requests of a client that does not wait for responses', () => {
  let serving: Serving;
  let held: ServerResponse[];
  let served: string[];
  let aborted: number;
  let isHeld: boolean;

  beforeEach(async () => {
    held = [];
    served = [];
    aborted = 0;
    isHeld = true;
    serving = await serve((req, res) => {
      if (req.url === '/other') return void res.end('other');
      served.push(req.url!);
      if (!isHeld) return void respond(req, res);
      held.push(res);
      res.on('close', () => (aborted += res.writableFinished ? 0 : 1));
    });
  });
  afterEach(() => serving.close());

  /** Responds with the body of the request. */
  function respond(req: IncomingMessage, res: ServerResponse): void {
    let body = '';
    if (req.method === 'GET') return void res.end(`<${req.url}>`);
    req.on('data', (chunk: Buffer) => (body += chunk.toString())).on('error', () => {});
    req.on('end', () => res.end(`<${req.url}${body}>`));
  }

  /** Lets the gateway read what has arrived: it serves a request of another client. */
  async function otherRequest(): Promise<void> {
    const { socket, until: receive } = await open(serving.port);
    socket.write(get('/other'));
    await receive('other');
    socket.destroy();
  }

  /** Waits until the gateway has read this many bytes from the client of the first held response. */
  const untilRead = (bytes: number): Promise<unknown> => until(() => held[0]!.req.socket.bytesRead >= bytes);

  it('are served one after the other', async () => {
    const { socket, text, until: receive, closed } = await open(serving.port);
    const requests = get('/1') + get('/2') + get('/3') + LAST;
    socket.write(requests);
    for (const [i, path] of ['/1', '/2', '/3', '/last'].entries()) {
      await until(() => held.length > i);
      await untilRead(requests.length);
      await otherRequest();
      expect(served).to.deep.equal(['/1', '/2', '/3', '/last'].slice(0, i + 1));
      held[i]!.end(`<${path}>`);
      await receive(`<${path}>`);
    }
    await closed;
    expect(statusesOf(text())).to.deep.equal(['200', '200', '200', '200']);
    expect(text().match(/connection: close/gi)).to.have.length(1);
  });

  it('are served completely, however they arrive', async () => {
    isHeld = false;
    const post = (i: number): string => `POST /${i} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`;
    const chunked = `${CHUNKED}3\r\ndef\r\n0\r\n\r\n`;
    const all =
      Array.from({ length: 20 }, (_, i) => get(`/${i}`) + post(i) + (i % 5 === 4 ? chunked : '')).join('') + LAST;
    const expected = Array.from({ length: 20 }, (_, i) => `</${i}></${i}abc>${i % 5 === 4 ? '</chunkeddef>' : ''}`);
    for (const size of [7, 100, all.length]) {
      const { socket, text, closed } = await open(serving.port);
      for (let at = 0; at < all.length; at += size) {
        socket.write(all.slice(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await closed;
      expect(
        text()
          .match(/<[^>]*>/g)
          ?.join(''),
      ).to.equal(`${expected.join('')}</last>`);
    }
  });

  it('are served up to a limit behind one that takes long, and without loss', async () => {
    const count = MAX_WAITING + 100;
    const isPlain = parserLimits().http1Parser === 'plain';
    const { socket, text, closed } = await open(serving.port);
    socket.write(GET.repeat(count));
    await until(() => held.length === 1);
    await untilRead(count * GET.length);
    isHeld = false;
    held[0]!.end('</>');
    // The parser of `node:http` has read all of them: the connection closes with the last one that waits. The others wait unread.
    if (isPlain) socket.write(LAST);
    await closed;
    expect(statusesOf(text())).to.have.length(isPlain ? count + 1 : MAX_WAITING + 1);
    expect(text().match(/connection: close/gi)).to.have.length(1);
  });

  it('leave the connection idle after the last response', async () => {
    const { socket, until: receive } = await open(serving.port);
    socket.write(get('/1') + get('/2'));
    await until(() => held.length === 1);
    const connection = connectionOf(held[0]!.req.socket)!;
    await untilRead(2 * get('/1').length);
    expect(isIdle(connection)).to.equal(false);
    isHeld = false;
    held[0]!.end('</1>');
    await receive('</2>');
    await until(() => isIdle(connection));
    socket.destroy();
  });

  it('have the timeout of the listener, although the one before had none', async () => {
    const own: ServerResponse[] = [];
    const timed = await serve(
      (req, res) => {
        if (req.url === '/1') suspendIdleTimeout(req, res);
        own.push(res);
      },
      {
        limits: { ...parserLimits(), idleTimeoutMs: 60_000, streamIdleTimeoutMs: 77_000 },
      },
    );
    const { socket } = await open(timed.port);
    socket.write(get('/1') + get('/2'));
    for (const [i, timeout] of [0, 77_000].entries()) {
      await until(() => own.length > i);
      expect(own[i]!.req.socket.timeout).to.equal(timeout);
      own[i]!.end();
    }
    socket.destroy();
    await timed.close();
  });

  it('are served up to the maximum of a connection', async () => {
    const limited = await serve((req, res) => void res.end(`<${req.url}>`), {
      limits: { maxRequestsPerConnection: 3 },
    });
    const { socket, text, closed } = await open(limited.port);
    socket.write(get('/1') + get('/2') + get('/3') + get('/4') + get('/5'));
    await closed;
    expect(text().match(/<[^>]*>/g)).to.deep.equal(['</1>', '</2>', '</3>']);
    expect(text().match(/connection: close/gi)).to.have.length(1);
    await limited.close();
  });

  it('do not occupy the process: many more are not read, or the client is disconnected', async () => {
    const { socket, closed } = await open(serving.port);
    socket.write(GET.repeat(100_000));
    await until(() => held.length === 1);
    if (parserLimits().http1Parser === 'plain') {
      const { socket: accepted } = held[0]!.req;
      await untilStill(() => accepted.bytesRead);
      expect(accepted.bytesRead).to.be.lessThan(256 * 1024);
      socket.destroy();
      held[0]!.destroy();
    }
    await closed;
    await until(() => aborted === 1);
    expect(held).to.have.length(1);
  });

  it('may be any number in sequence', async () => {
    const { socket, text } = await open(serving.port);
    isHeld = false;
    for (let i = 0; i < MAX_WAITING + 10; i++) {
      socket.write(GET);
      await once(socket, 'data');
    }
    expect(served).to.have.length(MAX_WAITING + 10);
    expect(text()).not.to.match(/connection: close/i);
    socket.destroy();
  });

  it('are not served after the client has left', async () => {
    const { socket } = await open(serving.port);
    socket.write(get('/1') + get('/2'));
    await until(() => held.length === 1);
    socket.destroy();
    await until(() => aborted === 1);
    await otherRequest();
    expect(served).to.deep.equal(['/1']);
  });

  it('are not served behind a response that closes the connection', async () => {
    const { socket, text, closed } = await open(serving.port);
    const requests = LAST + get('/2') + get('/3');
    socket.write(requests);
    await until(() => held.length === 1);
    await untilRead(requests.length);
    held[0]!.end('x'.repeat(100_000));
    await closed;
    await otherRequest();
    expect(served).to.deep.equal(['/last']);
    // The response is complete although more was sent than is read.
    expect(text().endsWith('x'.repeat(100_000))).to.equal(true);
  });

  for (const [name, bytes, code] of [
    ['bytes that are no request', '\0\r\n\r\n', 'ERR_ROUTING_BAD_METHOD'],
    ['a body with a malformed chunk', `${CHUNKED}x\r\n`, 'ERR_ROUTING_BAD_BODY'],
    ['a body with a forbidden trailer', `${CHUNKED}0\r\nhost: b\r\n\r\n`, 'ERR_ROUTING_BAD_TRAILER'],
    ['two hosts', get('/2', 'Host: b\r\n'), 'ERR_ROUTING_BAD_HOST'],
  ] as const)
    it(`are rejected in their turn: ${name}`, async () => {
      const { socket, text, closed } = await open(serving.port);
      const requests = get('/1') + get('/1') + bytes + get('/never');
      socket.write(requests);
      for (const i of [0, 1]) {
        await until(() => held.length > i);
        await untilRead(requests.length);
        await otherRequest();
        expect(statusesOf(text())).to.have.length(i);
        held[i]!.end('ok');
      }
      await closed;
      expect(statusesOf(text())).to.deep.equal(['200', '200', '400']);
      expect(text()).to.include(code);
      expect(served).to.deep.equal(['/1', '/1']);
    });

  it('are served before the connection closes when the listener drains', async () => {
    const { socket, text, closed } = await open(serving.port);
    const requests = GET.repeat(3);
    socket.write(requests);
    await until(() => held.length === 1);
    await untilRead(requests.length);
    const drained = serving.listeners.drain(5_000);
    // The port is released when the connections know.
    await until(async () => (await open(serving.port)).socket.destroyed);
    isHeld = false;
    held[0]!.end('</>');
    await Promise.all([closed, drained]);
    // Those that were not parsed are sent again by the client, which knows that they were not served.
    const count = parserLimits().http1Parser === 'plain' ? 1 : 3;
    expect(statusesOf(text())).to.have.length(count);
    expect(served).to.have.length(count);
    expect(text().match(/connection: close/gi)).to.have.length(1);
  });
});

describeParsers('requests that the parser of node:http receives behind others', () => {
  /** The other parser leaves requests with a tab to it. */
  const post = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX: a\tb\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  it('are served before bytes that are no request are rejected, whenever a response ends', async () => {
    const serving = await serve((req, res) => {
      let ticks = req.url === '/0' ? 0 : Number(req.url!.slice(1));
      const wait = (): void => void (ticks-- > 0 ? queueMicrotask(() => process.nextTick(wait)) : res.end(req.url));
      wait();
    });
    for (let ticks = 0; ticks < 40; ticks++) {
      const { socket, text, closed } = await open(serving.port);
      socket.write(`${post(`/${ticks}`, 'abc')}${post('/0', 'abc')}\0\r\n\r\n`);
      await closed;
      expect(statusesOf(text()), `${ticks} ticks`).to.deep.equal(['200', '200', '400']);
    }
    await serving.close();
  });

  it('wait in memory up to a limit, with their bodies', async () => {
    let first: ServerResponse | undefined;
    let count = 0;
    const serving = await serve((req, res) => {
      count++;
      if (first) return void req.resume().on('end', () => res.end());
      first = res;
    });
    const { socket, text, closed } = await open(serving.port);
    socket.write(post('/first', '') + post('/', 'x'.repeat(60_000)).repeat(100));
    await until(() => first);
    const { socket: accepted } = first!.req;
    await untilStill(() => accepted.bytesRead);
    first!.end();
    await closed;
    expect(count).to.be.within(10, 40);
    expect(statusesOf(text())).to.have.length(count);
    expect(text().match(/connection: close/gi)).to.have.length(1);
    await serving.close();
  });
});

describeParsers('pipelined requests to an upstream', () => {
  let gateway: Http2Gateway;
  afterEach(() => gateway.close());

  it('reach it in order, each after the response to the one before', async () => {
    const events: string[] = [];
    let finish: (() => void) | undefined;
    gateway = await http2Gateway({
      limits: parserLimits(),
      respond: (req, res) => {
        events.push(`${req.method} begins`);
        res.on('finish', () => events.push(`${req.method} ends`));
        req.resume();
        if (req.method === 'GET') finish = () => res.end('read');
        else req.on('end', () => res.end('changed'));
      },
    });
    const { socket, until: receive, text } = await open(gateway.port);
    socket.write(`${GET}DELETE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await until(() => finish);
    const other = await open(gateway.port);
    other.socket.write('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    await other.until('changed');
    other.socket.destroy();
    expect(events).to.deep.equal(['GET begins', 'PUT begins', 'PUT ends']);
    finish!();
    await receive('changed');
    expect(events.slice(3)).to.deep.equal(['GET ends', 'DELETE begins', 'DELETE ends']);
    expect(text().indexOf('read')).to.be.lessThan(text().indexOf('changed'));
  });
});

describe('requests behind one in progress (plain parser)', () => {
  let serving: Serving;
  let held: ServerResponse[];
  let isHeld: boolean;

  beforeEach(async () => {
    held = [];
    isHeld = true;
    serving = await serve((_req, res) => void (isHeld ? held.push(res) : res.end()), {
      limits: { http1Parser: 'plain' },
    });
  });
  afterEach(() => serving.close());

  it('are all served, also those that were not read during the response before them', async () => {
    // The gateway reads 64 KiB ahead, and at most one part of this size more.
    const count = 5_000;
    const { socket, text, closed } = await open(serving.port);
    socket.write(GET.repeat(count) + LAST);
    await until(() => held.length === 1);
    const accepted = held[0]!.req.socket;
    await untilStill(() => accepted.bytesRead);
    expect(accepted.bytesRead).to.be.within(64 * 1024, 128 * 1024);
    isHeld = false;
    held[0]!.end('</>');
    await closed;
    expect(statusesOf(text())).to.have.length(count + 1);
  });

  it('are read in at most 64 parts during a response, and the others after it', async () => {
    const { socket, text, closed } = await open(serving.port);
    socket.write(GET);
    await until(() => held.length === 1);
    const accepted = held[0]!.req.socket;
    for (let i = 2; i <= 65; i++) {
      socket.write(GET);
      await until(() => accepted.bytesRead === i * GET.length);
    }
    socket.write(LAST);
    await untilStill(() => accepted.bytesRead);
    expect(accepted.bytesRead).to.equal(65 * GET.length);
    isHeld = false;
    held[0]!.end();
    await closed;
    expect(statusesOf(text())).to.have.length(66);
  });
});
