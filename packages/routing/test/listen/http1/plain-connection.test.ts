import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type { Handler } from '@edge-gateway/core';
import type { ListenLimits } from '../../../src/index.ts';
import { PlainRequest } from '../../../src/listen/http1/plain-request.ts';
import { open, serve, type Serving } from '../serving.ts';

const get = (path: string, lines = ''): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const EVENTS = [
  'aborted',
  'data',
  'end',
  'close',
  'error',
  'finish',
  'prefinish',
  'drain',
  'pipe',
  'unpipe',
  'timeout',
];

/** Logs the events of a request and its response. */
function logged(req: IncomingMessage, res: ServerResponse, log: string[]): void {
  for (const event of ['aborted', 'end', 'close', 'error']) req.on(event, () => log.push(`request ${event}`));
  for (const event of EVENTS) res.on(event, () => log.push(`response ${event}`));
}

/** Returns true if the text ends with a complete response. */
function isComplete(text: string): boolean {
  const final = text.slice(Math.max(text.search(/HTTP\/1\.1 [2-5]/), 0));
  const bodyStart = final.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)/i.exec(final)?.[1];
  if (bodyStart < 4) return false;
  return length === undefined ? /\r\n0\r\n(?:.+\r\n)*\r\n$/.test(final) : final.length >= bodyStart + Number(length);
}

/** Waits until more of the connection was read. */
async function moreRead({ socket }: IncomingMessage): Promise<void> {
  for (const before = socket.bytesRead; socket.bytesRead === before;) await wait(1);
}

const without = (text: string): string => text.replaceAll(/\r\ndate: [^\r]*/gi, '');

describe('plain requests of listeners', () => {
  const servings: Serving[] = [];
  afterEach(async () => {
    for (const each of servings.splice(0)) await each.close();
  });

  async function start(handler: Handler, limits: Partial<ListenLimits> = {}): Promise<number> {
    const serving = await serve(handler, { limits });
    servings.push(serving);
    return serving.port;
  }

  /** Expects the same text and events with both parsers; returns the text. */
  async function compare(
    handler: (req: IncomingMessage, res: ServerResponse, log: string[]) => unknown,
    use: (port: number) => Promise<string>,
    limits: Partial<ListenLimits> = {},
  ): Promise<string> {
    const seen = [];
    for (const http1Parser of ['plain', 'node'] as const) {
      const log: string[] = [];
      const kinds = new Set<boolean>();
      const listener: Handler = (req, res) => {
        kinds.add(req instanceof PlainRequest);
        logged(req, res, log);
        void handler(req, res, log);
      };
      const text = without(await use(await start(listener, { ...limits, http1Parser })));
      expect(kinds.has(true)).to.equal(http1Parser === 'plain');
      seen.push({ text, log });
    }
    expect(seen[0]).to.deep.equal(seen[1]);
    return seen[0]!.text;
  }

  /** Sends requests one after the other, the last with `Connection: close`. */
  const send =
    (...requests: string[]) =>
    async (port: number): Promise<string> => {
      const { socket, text, closed } = await open(port);
      for (const request of requests) {
        const before = text().length;
        socket.write(request);
        while (!isComplete(text().slice(before)) && !socket.destroyed)
          await Promise.race([once(socket, 'data'), closed]);
      }
      await closed;
      return text();
    };

  const last = get('/last', 'Connection: close\r\n');

  it('have the events of node:http', async () => {
    const text = await compare((req, res) => res.end(req.url), send(get('/1'), get('/2'), last));
    expect(text.match(/HTTP\/1\.1 200 OK/g)).to.have.length(3);
  });

  it('have a body that handlers read at once, late, by pipe, or not at all', async () => {
    await compare(
      async (req, res) => {
        if (req.url === '/late') await wait(20);
        if (req.url === '/pipe') return void pipeline(req, res);
        if (req.url === '/unread') return void res.end('unread');
        let body = '';
        for await (const chunk of req) body += String(chunk);
        res.end(`${body} ${String(req.complete)} ${String(req.readableEnded)}`);
      },
      send(
        post('/now', 'abc'),
        post('/late', 'def'),
        post('/pipe', 'ghi'),
        post('/unread', 'jkl'),
        post('/', ''),
        last,
      ),
    );
  });

  it('have every method of a response', async () => {
    const text = await compare(
      async (req, res, log) => {
        if (req.url === '/last') return void res.end();
        res.writeContinue();
        res.writeProcessing();
        res.writeEarlyHints({ link: '</a>; rel=preload' });
        res.setHeader('X-A', ['1', '2']).appendHeader('x-a', '3').removeHeader('X-None');
        res.statusCode = 201;
        res.setHeader('trailer', 'x-sum');
        res.flushHeaders();
        log.push(`${res.headersSent} ${res.writableEnded} ${res.writableFinished} ${String(res.getHeader('x-a'))}`);
        res.write('one');
        await wait(5);
        res.addTrailers({ 'x-sum': '1' });
        res.end('two', () => log.push(`ended ${res.writableFinished}`));
        log.push(`${res.writableEnded} ${res.finished} ${res.writableLength}`);
      },
      send(get('/'), last),
    );
    expect(text).to.contain('HTTP/1.1 100 Continue').and.contain('HTTP/1.1 103').and.contain('x-sum: 1');
  });

  it('have the properties of node:http', async () => {
    await compare(
      (req, res, log) => {
        const { httpVersion, httpVersionMajor, httpVersionMinor, headers, headersDistinct, rawHeaders, rawTrailers } =
          req;
        const { upgrade, aborted, destroyed, readable, readableFlowing, readableHighWaterMark } =
          req as IncomingMessage & {
            upgrade: unknown;
          };
        log.push(
          JSON.stringify({ httpVersion, httpVersionMajor, httpVersionMinor, headers, headersDistinct, rawHeaders }),
        );
        log.push(
          JSON.stringify({
            rawTrailers,
            upgrade,
            aborted,
            destroyed,
            readable,
            readableFlowing,
            readableHighWaterMark,
          }),
        );
        const { shouldKeepAlive, sendDate, writableHighWaterMark, statusCode, chunkedEncoding } = res;
        log.push(JSON.stringify({ shouldKeepAlive, sendDate, writableHighWaterMark, statusCode, chunkedEncoding }));
        log.push(`${req.complete} ${req.socket === res.socket} ${req.connection === req.socket} ${res.req === req}`);
        res.end();
      },
      send(get('/', 'Cookie: a\r\nCookie: b\r\nX: 1\r\nx: 2\r\n'), post('/', 'abc'), last),
    );
  });

  it('get `drain` when the client reads slowly', async () => {
    const size = 8 << 20;
    for (const http1Parser of ['plain', 'node'] as const) {
      let drains = 0;
      const listener: Handler = async (_req, res) => {
        res.writeHead(200, ['content-length', String(size)]);
        for (let sent = 0; sent < size; sent += 1 << 20) {
          if (res.write(Buffer.alloc(1 << 20))) continue;
          expect(res.writableNeedDrain).to.equal(true);
          await once(res, 'drain');
          drains++;
          expect([res.writableNeedDrain, res.writableLength]).to.deep.equal([false, 0]);
        }
        res.end();
      };
      const { socket, text, closed } = await open(await start(listener, { http1Parser }));
      socket.pause();
      socket.write(last);
      await wait(20);
      socket.resume();
      await closed;
      expect(text().length).to.be.greaterThan(size);
      expect(drains).to.be.greaterThan(0);
    }
  });

  it('are aborted when the client disconnects', async () => {
    await compare(
      (_req, _res, log) => void log.push('received'),
      async (port) => {
        const { socket, closed } = await open(port);
        socket.write(get('/'));
        await wait(50);
        socket.destroy();
        await closed;
        await wait(50);
        return '';
      },
    );
  });

  it('are served in order when the client does not wait', async () => {
    const text = await compare(
      async (req, res) => {
        if (req.url === '/slow') await moreRead(req);
        res.end(`<${req.url}>`);
      },
      async (port) => {
        const { socket, until, closed } = await open(port);
        socket.write(get('/slow'));
        await wait(20);
        socket.write(get('/second'));
        await until('<');
        socket.write(get('/slow') + get('/fourth'));
        await wait(20);
        socket.write(get('/fifth'));
        await until('</fifth>');
        socket.write(last);
        const text = await until('</last>');
        await closed;
        return text;
      },
    );
    expect(text.match(/<.*?>/g)?.join('')).to.equal('</slow></second></slow></fourth></fifth></last>');
  });

  it('are followed by others while the client does not read a large response', async () => {
    const size = 16 << 20;
    for (const http1Parser of ['plain', 'node'] as const) {
      const listener: Handler = async (req, res) => {
        let body = '';
        for await (const chunk of req) body += String(chunk);
        res.end(req.url === '/large' ? Buffer.alloc(size, 'x') : `<${req.url} ${body}>`);
      };
      const { socket, text, closed } = await open(await start(listener, { http1Parser }));
      socket.pause();
      socket.write(get('/large'));
      await wait(50);
      socket.write(post('/1', 'abc') + post('/2', 'def') + get('/3'));
      await wait(50);
      socket.write(post('/4', 'ghi') + last);
      await wait(50);
      socket.resume();
      await closed;
      const received = text();
      expect(received.match(/<.*?>/g)?.join('')).to.equal('</1 abc></2 def></3 ></4 ghi></last >');
      expect(received.length).to.be.greaterThan(size);
    }
  });

  it('reject what follows invalidly as node:http does, during a response and after it', async () => {
    for (const during of [true, false]) {
      await compare(
        async (req, res) => {
          if (during) await moreRead(req);
          res.end('ok');
        },
        async (port) => {
          const { socket, text, until, closed } = await open(port);
          socket.write(get('/'));
          if (during) await wait(20);
          else await until('ok');
          // Its events come first.
          await wait(20);
          socket.write('\0\r\n\r\n');
          await closed;
          return text().replaceAll(/"requestId":"[^"]*"|x-request-id: [^\r]*/g, '');
        },
      );
    }
  });

  it('leave the connection to node:http with the first other request', async () => {
    const kinds: boolean[] = [];
    const listener: Handler = async (req, res) => {
      kinds.push(req instanceof PlainRequest);
      let body = '';
      for await (const chunk of req) body += String(chunk);
      res.end(`<${body}>`);
    };
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    const text = await send(get('/'), post('/', 'xyz'), chunked, last)(await start(listener, { http1Parser: 'plain' }));
    expect(kinds).to.deep.equal([true, true, false, false]);
    expect(text.match(/<\w*>/g)).to.deep.equal(['<>', '<xyz>', '<abc>', '<>']);
  });

  it('close after the idle timeout, and restart it with each request', async () => {
    const limits: Partial<ListenLimits> = { http1Parser: 'plain', idleTimeoutMs: 100 };
    for (const streamIdleTimeoutMs of [50, 5_000]) {
      const port = await start((_req, res) => void res.end('ok'), { ...limits, streamIdleTimeoutMs });
      const { socket, closed } = await open(port);
      socket.write(get('/'));
      await wait(800);
      socket.write(get('/'));
      const since = performance.now();
      await closed;
      expect(performance.now() - since).to.be.within(1_000, 5_000);
    }
  }).timeout(30_000);

  it('respond with 408 without a first request in time', async () => {
    const port = await start((_req, res) => void res.end('ok'), { http1Parser: 'plain', headTimeoutMs: 60 });
    const { text, closed } = await open(port);
    await closed;
    expect(text()).to.match(/^HTTP\/1\.1 408 /);
  });

  it('may come later than that on a connection whose first request was in time', async () => {
    const port = await start((_req, res) => void res.end('ok'), { http1Parser: 'plain', headTimeoutMs: 500 });
    const { socket, text, closed } = await open(port);
    socket.write(get('/'));
    await wait(1_000);
    socket.write(last);
    await closed;
    expect(text().match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('are reported to the channels of node:diagnostics_channel', async () => {
    const seen: string[] = [];
    const listeners = ['http.server.request.start', 'http.server.response.finish'].map((name) => {
      const listener = (message: unknown): void => {
        const { request } = message as { request: IncomingMessage };
        if (request instanceof PlainRequest) seen.push(`${name} ${request.url}`);
      };
      subscribe(name, listener);
      return () => unsubscribe(name, listener);
    });
    try {
      await send(last)(await start((_req, res) => void res.end('ok'), { http1Parser: 'plain' }));
    } finally {
      for (const stop of listeners) stop();
    }
    expect(seen).to.deep.equal(['http.server.request.start /last', 'http.server.response.finish /last']);
  });
});
