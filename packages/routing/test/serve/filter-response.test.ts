import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import {
  applyHeaderChanges,
  asMiddleware,
  GatewayError,
  headerIn,
  type ActionKind,
  type Concern,
  type ResponseFilter,
  type Stage,
} from '@edge-gateway/core';
import { createRouter, type Router } from '../../src/router.ts';
import { directOf, echo, endpointOf, hostOf, routeOf, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';

import { ask as askServer, listenOn, type Answer, type Asked } from '../served.ts';

type Hosts = Parameters<typeof snapshotOf>[0];

const upper = (chunk: Buffer): Buffer => Buffer.from(chunk.toString('latin1').toUpperCase(), 'latin1');

const streamed: ResponseFilter = {
  onHead: () => ({
    async *stream(chunks) {
      for await (const chunk of chunks) yield upper(chunk);
    },
  }),
};
const whole: ResponseFilter = { onHead: () => ({ maxBytes: 1000, transform: upper }) };
const late: ResponseFilter = {
  async onHead(head) {
    await turn();
    head.headers = [...head.headers, 'x-late', 'yes'];
    return undefined;
  },
};

/** A concern whose handler filters responses; `deny` rejects requests to `/deny`. */
function filtering(filter: ResponseFilter, { name = 'filter', stage = 'rbac' as Stage } = {}): Concern<object> {
  return {
    name,
    option: 'filters',
    stage,
    compile: () =>
      Object.assign((_req: unknown, _res: unknown, next: () => void) => next(), { filterResponse: () => filter }),
  };
}

const denying: Concern = {
  name: 'denying',
  option: 'filters',
  stage: 'jwtBeforeExtAuth',
  compile: () =>
    function deny(req, _res, next) {
      if (!req.url!.startsWith('/deny')) return next();
      const reply = { body: 'not you', details: 'denied_here', flags: 'UAEX' };
      return next(new GatewayError('denied', { code: 'ERR_TEST', status: 403, reply }));
    },
};

/** Bytes that an upstream sends, and whether it then closes the connection. */
const FRAMINGS: Readonly<Record<string, string>> = {
  chunked: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n',
  'a length': 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nabcdefg',
  close: 'HTTP/1.0 200 OK\r\n\r\nabcdefg',
};

function ask(port: number, { path = '/', ...asked }: Asked & { readonly path?: string } = {}): Promise<Answer> {
  return askServer(port, path, asked);
}

describe('response filters', () => {
  let directory: string;
  const routers: Router[] = [];
  const raw: Server[] = [];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'filters-'));
  });
  afterEach(async () => {
    await Promise.all(routers.splice(0).map((router) => router.close()));
    for (const server of raw.splice(0)) server.close();
    await stopAll();
    await rm(directory, { recursive: true });
  });

  /** Serves hosts in front of an upstream; returns the port of the gateway. */
  async function serve(hosts: Hosts, upstreamPort: number, concerns: readonly Concern[], actions: ActionKind[] = []) {
    const router = createRouter({ concerns, actions });
    routers.push(router);
    const fileSink = {
      path: join(directory, 'log'),
      stringFormat: '%RESPONSE_CODE% %BYTES_SENT% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\n',
    };
    const options = { accessLoggingService: { accessLog: [{ fileSink }] } };
    router.apply(snapshotOf(hosts, [upstreamOf([endpointOf(upstreamPort)])], { options }));
    return await listenOn(router);
  }

  const guarded = (parts = {}) => [hostOf([routeOf({ options: { filters: {} } as never, ...parts })])];

  /** An upstream that sends bytes for every connection. */
  async function upstream(talk: (socket: Socket) => void): Promise<number> {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => talk(socket));
    });
    raw.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  async function logged(lines = 1): Promise<string[]> {
    for (;;) {
      const text = await readFile(join(directory, 'log'), 'utf8').catch(() => '');
      const all = text.split('\n').slice(0, -1);
      if (all.length >= lines) return all;
      await turn();
    }
  }

  for (const [framing, bytes] of Object.entries(FRAMINGS)) {
    it(`streams a body with framing ${framing} through a filter`, async () => {
      const port = await serve(guarded(), await upstream((socket) => void socket.end(bytes)), [filtering(streamed)]);
      const { body, headers } = await ask(port);
      expect(body).to.equal('ABCDEFG');
      expect(headers).to.include({ 'transfer-encoding': 'chunked' }).and.not.have.property('content-length');
      expect(await logged()).to.deep.equal(['200 7 - via_upstream']);
    });

    it(`reads a whole body with framing ${framing}, and sends its new length`, async () => {
      const longer: ResponseFilter = {
        onHead: () => ({ maxBytes: 7, transform: (body) => Buffer.concat([body, body]) }),
      };
      const port = await serve(guarded(), await upstream((socket) => void socket.end(bytes)), [filtering(longer)]);
      const { body, headers } = await ask(port);
      expect(body).to.equal('abcdefgabcdefg');
      expect(headers).to.include({ 'content-length': '14' }).and.not.have.property('transfer-encoding');
      expect(await logged()).to.deep.equal(['200 14 - via_upstream']);
    });

    it(`leaves a body with framing ${framing} unchanged if the filter only changes the head later`, async () => {
      const port = await serve(guarded(), await upstream((socket) => void socket.end(bytes)), [filtering(late)]);
      const { body, headers } = await ask(port);
      expect(body).to.equal('abcdefg');
      expect(headers).to.include({ 'x-late': 'yes' });
      expect(await logged()).to.deep.equal(['200 7 - via_upstream']);
    });
  }

  it('passes responses through filters in the reverse order of requests', async () => {
    const add = (text: string): ResponseFilter => ({
      onHead(head) {
        head.headers = applyHeaderChanges(head.headers, [{ op: 'append', name: 'x-order', value: text }]);
        return { maxBytes: 100, transform: (body) => Buffer.from(`${body.toString()}${text}`) };
      },
    });
    const concerns = [
      filtering(add('1'), { stage: 'extAuth' }),
      filtering(add('2')),
      filtering(add('3'), { stage: 'regularTransformation' }),
    ];
    const port = await serve([hostOf([directOf('-', { options: { filters: {} } as never })])], 1, concerns);
    const { body, headers } = await ask(port);
    expect(body).to.equal('-321');
    expect(headers['x-order']).to.equal('3, 2, 1');
  });

  it('filters local replies of handlers in front', async () => {
    const seen: object[] = [];
    const note: ResponseFilter = {
      onHead({ status, isLocalReply, details, flags }) {
        seen.push({ status, isLocalReply, details, flags });
        return { maxBytes: 100, transform: upper };
      },
    };
    const port = await serve(guarded(), 1, [denying, filtering(note)]);
    const { status, body, headers } = await ask(port, { path: '/deny' });
    expect({ status, body }).to.deep.equal({ status: 403, body: 'NOT YOU' });
    expect(headers).to.include({ 'content-length': '7', 'content-type': 'text/plain' });
    expect(seen).to.deep.equal([{ status: 403, isLocalReply: true, details: 'denied_here', flags: 'UAEX' }]);
    expect(await logged()).to.deep.equal(['403 7 UAEX denied_here']);
  });

  it('filters the replacement for a failed upstream', async () => {
    const recover: ResponseFilter = {
      onHead(head) {
        head.status = 200;
        return { maxBytes: 1000, transform: () => Buffer.from(`was local: ${head.isLocalReply}`) };
      },
    };
    const port = await serve(guarded(), await upstream((socket) => socket.destroy()), [filtering(recover)]);
    const { status, body } = await ask(port);
    expect({ status, body }).to.deep.equal({ status: 200, body: 'was local: true' });
    expect((await logged())[0]).to.match(/^200 15 UC /);
  });

  it('filters the responses of responders', async () => {
    const responder: ActionKind = {
      action: 'graphql',
      compile: () =>
        function respond({ res, writeHead }) {
          writeHead(200, ['content-type', 'text/plain', 'content-length', '4']);
          res.write('ab');
          res.end('cd');
        },
    };
    const action = { type: 'graphql', api: { name: 'a', namespace: 'gw-system' } };
    for (const filter of [streamed, whole]) {
      const port = await serve(guarded({ action }), 1, [filtering(filter)], [responder]);
      expect((await ask(port)).body).to.equal('ABCD');
    }
    expect((await logged(2)).map((line) => line.slice(0, 5))).to.deep.equal(['200 4', '200 4']);
  });

  it('applies headers of filters to HEAD and to statuses without a body, and sends no body', async () => {
    const adding: ResponseFilter = {
      onHead(head) {
        head.headers = [...head.headers, 'x-body', String(head.hasBody)];
        return { maxBytes: 10, transform: (body) => Buffer.from(`${body.length} bytes`) };
      },
    };
    const { port: plain } = await start((req, res) => {
      res.statusCode = req.method === 'HEAD' ? 200 : Number(req.url!.slice(1));
      if (req.method === 'HEAD') res.setHeader('content-length', 5);
      res.end();
    });
    for (const filter of [adding, streamed]) {
      const port = await serve(guarded(), plain, [filtering(filter)]);
      const head = await ask(port, { method: 'HEAD' });
      expect(head.status).to.equal(200);
      expect(head.headers).to.not.have.property('content-length');
      for (const status of [204, 304]) {
        const { body, headers, ...rest } = await ask(port, { path: `/${status}` });
        expect({ status: rest.status, body }).to.deep.equal({ status, body: '' });
        expect(headers).to.not.have.any.keys('content-length', 'transfer-encoding');
        if (filter === adding) expect(headers).to.include({ 'x-body': 'false' });
      }
    }
  });

  it('sends a body that a filter gives to an empty response', async () => {
    const filling: ResponseFilter = {
      onHead(head) {
        head.status = 200;
        return { maxBytes: 10, transform: (body) => Buffer.from(`${body.length} bytes`) };
      },
    };
    const { port: empty } = await start((req, res) => void res.writeHead(req.url === '/none' ? 204 : 200).end());
    const port = await serve(guarded(), empty, [filtering(filling)]);
    for (const path of ['/', '/none']) {
      const { status, body, headers } = await ask(port, { path });
      expect({ status, body, length: headers['content-length'] }).to.deep.equal({
        status: 200,
        body: '0 bytes',
        length: '7',
      });
    }
  });

  it('responds with an error of a filter, at the head or in the body, and keeps the connection usable', async () => {
    const failures: readonly ResponseFilter[] = [
      {
        onHead() {
          throw new GatewayError('bad head', { code: 'ERR_TEST', status: 400, headers: { 'x-why': 'head' } });
        },
      },
      {
        onHead: () => ({
          maxBytes: 100,
          transform: () => Promise.reject(new GatewayError('bad body', { code: 'ERR_TEST', status: 400 })),
        }),
      },
    ];
    for (const filter of failures) {
      const port = await serve(guarded(), await upstream((socket) => void socket.write(FRAMINGS['a length']!)), [
        filtering(filter),
      ]);
      const { status, body } = await ask(port);
      expect(status).to.equal(400);
      expect(JSON.parse(body)).to.include({ code: 'ERR_TEST' });
    }
    expect((await logged(2)).map((line) => line.split(' ')[0])).to.deep.equal(['400', '400']);
  });

  it('responds with 500 if a filter sets a header that cannot be sent', async () => {
    const breaking: ResponseFilter = {
      onHead(head) {
        head.headers = [...head.headers, 'x-broken', 'a\r\nb: c'];
        return undefined;
      },
    };
    const port = await serve(guarded(), await upstream((socket) => void socket.write(FRAMINGS['a length']!)), [
      filtering(breaking),
    ]);
    const { status, headers } = await ask(port);
    expect(status).to.equal(500);
    expect(headers).to.not.have.any.keys('x-broken', 'b');
  });

  it('rejects a body that is larger than the limit, and closes the connection to the upstream', async () => {
    let closed!: () => void;
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const endless = await upstream((socket) => {
      socket.on('close', () => closed());
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = (): void => {
        if (!socket.destroyed && socket.write('3e8\r\n' + 'x'.repeat(1000) + '\r\n')) setImmediate(more);
      };
      socket.on('drain', more);
      more();
    });
    const port = await serve(guarded(), endless, [filtering(whole)]);
    const { status, body } = await ask(port);
    expect(status).to.equal(500);
    expect(JSON.parse(body)).to.include({ code: 'ERR_CORE_RESPONSE_TOO_LARGE' });
    await gone;
    expect((await logged())[0]).to.match(/^500 \d+ - /);
  });

  it('aborts the connection if a filter fails during the body', async () => {
    const failing: ResponseFilter = {
      onHead: () => ({
        async *stream(chunks) {
          for await (const chunk of chunks) {
            yield chunk;
            throw new Error('broken');
          }
        },
      }),
    };
    const port = await serve(guarded(), await upstream((socket) => void socket.write(FRAMINGS['chunked']!)), [
      filtering(failing),
    ]);
    const error = await ask(port).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
    expect((await logged())[0]).to.match(/^200 \d+ DC /);
  });

  it('ends a body for a client of HTTP/1.0 by closing the connection, and resets it if the body is incomplete', async () => {
    const receive = async (port: number): Promise<string> => {
      const client = connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.0\r\nhost: a\r\n\r\n'));
      let received = '';
      client.on('data', (data: Buffer) => (received += data.toString()));
      await once(client, 'close');
      return received;
    };
    const plain = await upstream((socket) => void socket.end(FRAMINGS['chunked']!));
    const received = await receive(await serve(guarded(), plain, [filtering(streamed)]));
    expect(received)
      .to.match(/ABCDEFG$/)
      .and.not.match(/transfer-encoding/i);
    const cut = await upstream((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
    const cutChunks = await upstream((socket) => void socket.end(FRAMINGS['chunked']!.slice(0, -5)));
    const incomplete: [number, Concern[]][] = [
      [cut, [filtering(streamed)]],
      [cutChunks, [filtering(streamed)]],
      [cutChunks, []],
    ];
    for (const [from, concerns] of incomplete) {
      const error = await receive(await serve(guarded(), from, concerns)).catch((reason: unknown) => reason);
      expect(error).to.have.property('code', 'ECONNRESET');
    }
  });

  it('aborts the connection if the upstream ends in the middle of a body', async () => {
    for (const filter of [streamed, whole]) {
      const cut = await upstream((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
      const port = await serve(guarded(), cut, [filtering(filter)]);
      expect(await ask(port).catch((reason: unknown) => reason)).to.be.instanceOf(Error);
    }
    for (const line of await logged(2)) expect(line).to.match(/^200 \d+ UC /);
  });

  it('releases everything when the client disconnects', async () => {
    for (const when of ['head', 'stream'] as const) {
      const decided = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      const filter: ResponseFilter = {
        async onHead({ signal }) {
          signal.addEventListener('abort', () => aborted.resolve());
          decided.resolve();
          if (when === 'head') await once(signal, 'abort');
          return streamed.onHead({} as never);
        },
        onClose: () => closed.resolve(),
      };
      const silent = await upstream((socket) => {
        socket.on('close', () => left.resolve());
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n');
      });
      const port = await serve(guarded(), silent, [filtering(filter)]);
      const client = connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
      if (when === 'stream') await once(client, 'data');
      else await decided.promise;
      client.destroy();
      await Promise.all([left.promise, aborted.promise, closed.promise]);
    }
  });

  it('reads no more from the upstream than a slow client takes', async () => {
    let sent = 0;
    const fast = await upstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const chunk = '10000\r\n' + 'x'.repeat(65_536) + '\r\n';
      const more = (): void => {
        while (!socket.destroyed && sent < 64 * 1024 * 1024) {
          sent += 65_536;
          if (!socket.write(chunk)) return;
        }
        socket.end('0\r\n\r\n');
      };
      socket.on('drain', more);
      more();
    });
    const port = await serve(guarded(), fast, [filtering(streamed)]);
    const client = connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
    await once(client, 'data');
    client.pause();
    let before = -1;
    // Sent bytes stop increasing once all buffers are full.
    while (before !== sent) {
      before = sent;
      for (let i = 0; i < 200; i++) await turn();
    }
    expect(sent).to.be.lessThan(32 * 1024 * 1024);
    let received = 0;
    client.on('data', (data: Buffer) => (received += data.length)).resume();
    await new Promise<void>((resolve) => client.on('data', (data: Buffer) => data.includes('0\r\n\r\n') && resolve()));
    expect(received).to.be.greaterThan(60 * 1024 * 1024);
    client.destroy();
  });

  it('sends the head of an unfinished stream at once', async () => {
    const events = await upstream(
      (socket) =>
        void socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'),
    );
    const port = await serve(guarded(), events, [filtering(streamed)]);
    const client = connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
    const [data] = (await once(client, 'data')) as [Buffer];
    expect(data.toString()).to.include('text/event-stream');
    client.destroy();
  });

  it('sets the server header after the filters', async () => {
    const removing: ResponseFilter = {
      onHead(head) {
        expect(headerIn(head.headers, 'server')).to.equal(undefined);
        head.headers = [...head.headers, 'server', 'mine'];
        return undefined;
      },
    };
    const port = await serve([hostOf([directOf('a', { options: { filters: {} } as never })])], 1, [
      filtering(removing),
    ]);
    expect((await ask(port)).headers.server).to.not.equal('mine');
  });
});

describe('response filters in your own server', () => {
  afterEach(stopAll);

  const upperCase = asMiddleware(filtering(streamed));
  const measured = asMiddleware(filtering(whole));

  it('filters what the application writes, in all forms', async () => {
    const writers: readonly ((res: ServerResponse) => void)[] = [
      (res) => void res.end('abc'),
      (res) => void res.writeHead(200, { 'content-length': 3 }).end('abc'),
      (res) => void res.writeHead(200, 'Fine', ['x-a', '1']).end(Buffer.from('abc')),
      (res) => {
        res.setHeader('set-cookie', ['a=1', 'b=2']);
        res.write('a', 'latin1');
        res.end('bc', () => {});
      },
      (res) => {
        res.setHeader('content-length', '3');
        res.flushHeaders();
        setImmediate(() => res.end('abc'));
      },
    ];
    for (const [i, write] of writers.entries()) {
      for (const middleware of [upperCase({}), measured({})]) {
        const { port } = await start((req, res) => middleware(req, res, () => write(res)));
        const { body, headers } = await ask(port);
        expect(body, `writer ${i}`).to.equal('ABC');
        if (i === 3) expect(headers['set-cookie']).to.deep.equal(['a=1', 'b=2']);
      }
    }
  });

  it('applies the filters of several middlewares in reverse order', async () => {
    const add = (text: string) =>
      asMiddleware(
        filtering({ onHead: () => ({ maxBytes: 100, transform: (body) => Buffer.from(body.toString() + text) }) }),
      )({});
    const [first, second] = [add('1'), add('2')];
    const { port } = await start((req, res) => first(req, res, () => second(req, res, () => res.end('-'))));
    expect((await ask(port)).body).to.equal('-21');
  });

  it('responds with the error of a filter', async () => {
    const failing = asMiddleware(filtering({ onHead: () => Promise.reject(new Error('secret')) }))({});
    const { port } = await start((req, res) => failing(req, res, () => echo(req, res)));
    const { status, body } = await ask(port);
    expect(status).to.equal(500);
    expect(body).to.include('ERR_CORE_HANDLER').and.not.include('secret');
  });
});
