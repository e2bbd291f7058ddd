import { expect } from 'chai';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { WebSocket, WebSocketServer } from 'ws';
import { factsOf, GatewayError, protect, type Handler } from '@edge-gateway/core';
import { forwardTo, type ForwardToOptions } from '../../src/forward/forward-to.ts';
import { closeAll, get, httpUpstream, listen, whenDone, type Answer } from './harness.ts';
import { certificatePath, certificates } from '../upstream/certificates.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

/** What the echoing target saw. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function echo(req: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    req.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    req.on('end', () => resolve(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body })));
  });
}

const echoTarget = (): Promise<number> => httpUpstream((req, res) => void echo(req).then((text) => res.end(text)));
const seen = (answer: Answer): Seen => JSON.parse(Buffer.from(answer.body, 'latin1').toString()) as Seen;

async function serve(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await httpUpstream(listener)}`;
}

/** Reads a body of one chunk, notes it and puts it back. */
const putBack: Handler = (req, _res, next) => {
  req.once('readable', () => {
    const bytes = (req.read() as Buffer | null) ?? Buffer.alloc(0);
    if (bytes.length > 0) req.unshift(bytes);
    factsOf(req).body = { bytes, whole: true };
    next();
  });
};

function forwarder(options: ForwardToOptions): Handler {
  const handler = forwardTo(options);
  whenDone(() => handler.close?.());
  return handler;
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('forwardTo', () => {
  afterEach(closeAll);

  for (const [version, make] of Object.entries({ 'Express 5': express, 'Express 4': express4 })) {
    it(`forwards nothing past a guard of ${version} that an escaped letter hides`, async () => {
      const paths: string[] = [];
      const target = await httpUpstream((req, res) => {
        paths.push(req.url!);
        res.end();
      });
      const app = make();
      app.use('/admin', (_req, res) => void res.status(403).end());
      app.use(forwarder({ target: `http://127.0.0.1:${target}` }));
      const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.status(error.status).send(error.code);
      app.use(onError);
      const url = await serve(app);
      const answerTo = async (path: string): Promise<unknown> => {
        const { status, body } = await get(url + path);
        return [status, body];
      };
      expect(await answerTo('/admin')).to.deep.equal([403, '']);
      expect(await answerTo('/%61dmin')).to.deep.equal([400, 'ERR_ROUTING_NOT_CANONICAL']);
      expect(await answerTo('/open%2fadmin')).to.deep.equal([200, '']);
      expect(paths).to.deep.equal(['/open%2fadmin']);
    });

    describe(`in ${version}`, () => {
      /** An app that answers errors as JSON and forwards behind the given parsers. */
      async function app(...parsers: RequestHandler[]): Promise<string> {
        const target = await echoTarget();
        const server = make();
        for (const parser of parsers) server.use(parser);
        server.use('/api', forwarder({ target: `http://127.0.0.1:${target}/base/` }) as unknown as RequestHandler);
        server.use(((error: GatewayError, _req: unknown, res: any, _next: unknown) =>
          res.status(error.status).json({ code: error.code, message: error.message })) as unknown as RequestHandler);
        return serve(server as unknown as RequestListener);
      }

      it('forwards below the path it is mounted at', async () => {
        const url = await app();
        const answer = await get(`${url}/api/items/7?x=%20y`);
        expect(answer.status).to.equal(200);
        expect(seen(answer)).to.include({ method: 'GET', url: '/base/items/7?x=%20y' });
      });

      it('streams an unread body', async () => {
        const url = await app();
        expect(seen(await get(`${url}/api/`, { method: 'POST', body: 'raw' })).body).to.equal('raw');
      });

      it('streams a body that was read and put back, as the access check does, with or without a parser after it', async () => {
        for (const body of ['{ "a": 1 }', '']) {
          for (const parsers of [[], [make.json()]]) {
            const url = await app(putBack as unknown as RequestHandler, ...parsers);
            const headers = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
            const answer = await get(`${url}/api/`, { method: 'POST', headers, body });
            expect(seen(answer).body.replaceAll(' ', '')).to.equal(body.replaceAll(' ', ''));
          }
        }
      });

      it('sends a JSON body again after express.json()', async () => {
        const url = await app(make.json());
        const answer = await get(`${url}/api/`, { method: 'POST', headers: JSON_TYPE, body: '{ "a": [1, "ü"] }' });
        expect(Buffer.from(seen(answer).body, 'latin1').toString()).to.equal('{"a":[1,"ü"]}');
        expect(seen(answer).headers).to.include({ 'content-length': '14', 'content-type': 'application/json' });
      });

      it('sends a body changed by a handler before it', async () => {
        const change: RequestHandler = (req, _res, next) => {
          req.body.added = true;
          next();
        };
        const url = await app(make.json(), change);
        const answer = await get(`${url}/api/`, { method: 'PUT', headers: JSON_TYPE, body: '{"a":1}' });
        expect(seen(answer).body).to.equal('{"a":1,"added":true}');
      });

      it('sends a urlencoded body again, nested and repeated names too', async () => {
        const url = await app(make.urlencoded({ extended: true }));
        const body = 'a=1&b[c]=x%26y&b[d][0]=z&list=1&list=2&empty=';
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const answer = await get(`${url}/api/`, { method: 'POST', headers, body });
        expect(decodeURIComponent(seen(answer).body)).to.equal('a=1&b[c]=x&y&b[d][0]=z&list=1&list=2&empty=');
      });

      it('sends text and raw bodies again byte for byte', async () => {
        const url = await app(make.text(), make.raw());
        const text = await get(`${url}/api/`, {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: ' a ',
        });
        expect(seen(text).body).to.equal(' a ');
        const headers = { 'content-type': 'application/octet-stream' };
        expect(seen(await get(`${url}/api/`, { method: 'POST', headers, body: '\0\x01' })).body).to.equal('\0\x01');
      });

      it('sends a JSON body that was read as text unchanged', async () => {
        const url = await app(make.text({ type: 'application/json' }));
        const answer = await get(`${url}/api/`, { method: 'POST', headers: JSON_TYPE, body: '{ "a" : 1 }' });
        expect(seen(answer).body).to.equal('{ "a" : 1 }');
      });

      it('sends a parsed JSON string as JSON', async () => {
        const url = await app(make.json({ strict: false }));
        const answer = await get(`${url}/api/`, { method: 'POST', headers: JSON_TYPE, body: '"text"' });
        expect(seen(answer).body).to.equal('"text"');
      });

      it('streams a body whose content type the parser leaves alone', async () => {
        const url = await app(make.json());
        const answer = await get(`${url}/api/`, { method: 'POST', headers: { 'content-type': 'a/b' }, body: 'as is' });
        expect(seen(answer).body).to.equal('as is');
      });

      it('does not hang on requests without a body after express.json()', async () => {
        const url = await app(make.json());
        expect(seen(await get(`${url}/api/`, { headers: JSON_TYPE })).body).to.equal('');
        const empty = await get(`${url}/api/`, { method: 'POST', headers: { ...JSON_TYPE, 'content-length': '0' } });
        expect(seen(empty).headers['content-length']).to.equal('0');
      });

      it('prefers the bytes kept in req.rawBody', async () => {
        const verify = (req: unknown, _res: unknown, bytes: Buffer): void =>
          void Object.assign(req as object, { rawBody: bytes });
        const url = await app(make.json({ verify }));
        const answer = await get(`${url}/api/`, { method: 'POST', headers: JSON_TYPE, body: '{ "a" : 1 }' });
        expect(seen(answer).body).to.equal('{ "a" : 1 }');
      });

      const drained: RequestHandler = (req, _res, next) => void req.resume().on('end', () => next());
      const refusals: Record<string, [RequestHandler, Record<string, string>, string | Buffer]> = {
        'a stream that somebody has read': [drained, { 'content-type': 'text/plain' }, 'gone'],
        'a consumed multipart body': [
          (req, res, next) => drained(req, res, () => next(void (req.body = { field: 'x' }))),
          { 'content-type': 'multipart/form-data; boundary=x' },
          '--x--',
        ],
        'a body that was inflated': [make.json(), { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync('{"a":1}')],
        'a charset that was decoded': [
          make.json(),
          { 'content-type': 'application/json; charset=utf-16le' },
          Buffer.from('{"a":1}', 'utf16le'),
        ],
      };
      for (const [name, [parser, headers, body]] of Object.entries(refusals)) {
        it(`rejects ${name} loudly`, async () => {
          const url = await app(parser);
          const answer = await fetch(`${url}/api/`, { method: 'POST', headers, body: body as string });
          const problem = (await answer.json()) as { code: string; message: string };
          expect(answer.status).to.equal(500);
          expect(problem.code).to.equal('ERR_ROUTING_BODY_CONSUMED');
          expect(problem.message).to.contain('Mount forwardTo before the body parser');
        });
      }

      it('passes a refused connection to the error handler', async () => {
        const server = make();
        const closed = createServer();
        const port = await listen(closed);
        closed.close();
        server.set('env', 'test');
        server.use(forwarder({ target: `http://127.0.0.1:${port}` }) as unknown as RequestHandler);
        const url = await serve(server as unknown as RequestListener);
        const answer = await get(url);
        expect(answer.status).to.equal(503);
      });
    });
  }

  it('works in plain node:http', async () => {
    const target = await echoTarget();
    const handler = forwarder({ target: `http://127.0.0.1:${target}` });
    const url = await serve((req, res) => handler(req, res, () => void res.writeHead(500).end()));
    expect(seen(await get(`${url}/a?b`, { method: 'DELETE' }))).to.include({ method: 'DELETE', url: '/a?b' });
  });

  it('works in a Connect-style chain and passes errors to next', async () => {
    const target = await httpUpstream(() => {});
    const chain: Handler[] = [
      (_req, _res, next) => next(),
      forwarder({ target: `http://127.0.0.1:${target}`, timeoutMs: 1000 }),
    ];
    const url = await serve((req, res) => {
      const run = (i: number, error?: unknown): void => {
        if (error instanceof GatewayError) res.writeHead(error.status).end(error.code);
        else chain[i]!(req, res, (failed) => run(i + 1, failed));
      };
      run(0);
    });
    expect(await get(url)).to.include({ status: 504, body: 'ERR_ROUTING_UPSTREAM_TIMEOUT' });
  });

  it("sends the target's host, and headers with the origin of the request", async () => {
    const target = await echoTarget();
    const handler = forwarder({ target: `http://127.0.0.1:${target}` });
    const url = await serve((req, res) => handler(req, res, () => {}));
    const spoofed = {
      'x-forwarded-for': '1.2.3.4',
      x_forwarded_for: '1.2.3.4',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil',
    };
    const { headers } = seen(await get(url, { headers: { ...spoofed, connection: 'close, x-hop', 'x-hop': '1' } }));
    expect(headers).to.include({
      host: `127.0.0.1:${target}`,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': url.slice('http://'.length),
    });
    expect(headers).to.not.have.any.keys('x-hop', 'x_forwarded_for');
  });

  it('appends to trusted forwarded headers, and keeps the host if configured', async () => {
    const target = await echoTarget();
    const handler = forwarder({ target: `http://127.0.0.1:${target}`, trustForwarded: true, keepHost: true });
    const url = await serve((req, res) => handler(req, res, () => {}));
    const { headers } = seen(
      await get(url, { headers: { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https' } }),
    );
    expect(headers).to.include({
      host: url.slice('http://'.length),
      'x-forwarded-for': '1.2.3.4, 127.0.0.1',
      'x-forwarded-proto': 'https',
    });
  });

  it('sets and removes request headers', async () => {
    const target = await echoTarget();
    const headers = { 'X-Key': 'k', cookie: null, host: 'inner.example' };
    const handler = forwarder({ target: `http://127.0.0.1:${target}`, headers });
    const url = await serve((req, res) => handler(req, res, () => {}));
    const answer = seen(await get(url, { headers: { cookie: 'a=b', 'x-key': 'client' } }));
    expect(answer.headers).to.include({ 'x-key': 'k', host: 'inner.example' });
    expect(answer.headers).to.not.have.property('cookie');
  });

  for (const path of ['/../admin', '/a/%2e%2e/admin', '/%61dmin', '/a\\..\\admin', '/%00', '/%zz']) {
    it(`rejects the path ${path}`, async () => {
      const target = await echoTarget();
      const handler = forwarder({ target: `http://127.0.0.1:${target}/base` });
      const errors: unknown[] = [];
      const server = createServer((req, res) => {
        req.url = path;
        handler(req, res, (error) => {
          errors.push(error);
          res.writeHead((error as GatewayError).status).end();
        });
      });
      const port = await listen(server);
      whenDone(() => server.close());
      expect((await get(`http://127.0.0.1:${port}/`)).status).to.equal(400);
      expect(errors[0]).to.be.instanceOf(GatewayError);
    });
  }

  it('forwards TE: trailers, and nothing else of TE', async () => {
    const target = await echoTarget();
    const handler = forwarder({ target: `http://127.0.0.1:${target}` });
    const url = await serve((req, res) => handler(req, res, () => res.destroy()));
    const { headers } = seen(await get(url, { headers: { te: 'gzip, trailers', connection: 'te' } }));
    expect(headers).to.include({ te: 'trailers', connection: 'TE' });
    expect(seen(await get(url, { headers: { te: 'gzip', connection: 'te' } })).headers).not.to.have.property('te');
  });

  it('forwards a path that begins with two slashes unchanged', async () => {
    const target = await echoTarget();
    for (const [base, expected] of [
      ['', '//evil/x?y=//z'],
      ['/base', '/base//evil/x?y=//z'],
    ]) {
      const handler = forwarder({ target: `http://127.0.0.1:${target}${base}` });
      const url = await serve((req, res) => {
        req.url = '//evil/x?y=//z';
        handler(req, res, () => res.destroy());
      });
      expect(seen(await get(url)).url).to.equal(expected);
    }
  });

  it('forwards WebSockets by its upgrade', async () => {
    const upstream = createServer();
    const sockets = new WebSocketServer({ server: upstream });
    sockets.on('connection', (socket, req) => socket.send(req.url!));
    const target = await listen(upstream);
    const handler = forwarder({ target: `http://127.0.0.1:${target}/base` });
    const server = createServer();
    server.on('upgrade', protect(handler).upgrade);
    const port = await listen(server);
    const client = new WebSocket(`ws://127.0.0.1:${port}/chat`);
    const [data] = await once(client, 'message');
    expect(String(data)).to.equal('/base/chat');
    client.terminate();
    for (const each of sockets.clients) each.terminate();
    server.close();
    upstream.close();
  });

  const HANDSHAKE = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const BAD_UPGRADES: readonly (readonly [what: string, status: number, method: string, headers: object])[] = [
    ['to HTTP/2', 400, 'GET', { upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }],
    ['to a choice of protocols', 400, 'GET', { upgrade: 'websocket, h2c' }],
    ['by another method', 400, 'POST', {}],
    ['with a body', 400, 'GET', { 'content-length': '3' }],
    ['without a key', 400, 'GET', { 'sec-websocket-key': 'x' }],
    ['of another version', 426, 'GET', { 'sec-websocket-version': '12' }],
  ];
  for (const [what, status, method, headers] of BAD_UPGRADES) {
    it(`rejects an upgrade ${what}, so that nothing passes its guards`, async () => {
      let connections = 0;
      const upstream = createNetServer(() => connections++);
      const target = await listen(upstream);
      const server = createServer();
      server.on('upgrade', protect(forwarder({ target: `http://127.0.0.1:${target}` })).upgrade);
      const port = await listen(server);
      const asked = request({ port, method, headers: { ...HANDSHAKE, ...headers } });
      asked.end(method === 'GET' && 'content-length' in headers ? 'abc' : '');
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      expect(response.statusCode).to.equal(status);
      expect(connections).to.equal(0);
      response.resume();
      asked.destroy();
      server.close();
      upstream.close();
    });
  }

  it('verifies an https target, against the given roots', async () => {
    const { server } = certificates();
    const upstream = createHttpsServer(server, (_req, res) => res.end('secret'));
    const port = await listen(upstream as unknown as NetServer);
    whenDone(() => upstream.close());
    const target = `https://localhost:${port}`;
    const trusted = forwarder({ target, rootCaFile: certificatePath('ca.crt') });
    const untrusted = forwarder({ target });
    const url = await serve((req, res) =>
      (req.url === '/trusted' ? trusted : untrusted)(req, res, (error) =>
        res.writeHead((error as GatewayError).status).end((error as GatewayError).code),
      ),
    );
    expect(await get(`${url}/trusted`)).to.include({ status: 200, body: 'secret' });
    expect(await get(`${url}/untrusted`)).to.include({ status: 503, body: 'ERR_ROUTING_UPSTREAM_CONNECT' });
  });

  it('rejects root certificates that cannot be read', () => {
    const target = 'https://localhost:1';
    const missing = certificatePath('missing.crt');
    expect(() => forwardTo({ target, rootCaFile: missing }))
      .to.throw(`rootCaFile: ${missing} cannot be read: no such file`)
      .with.property('code', 'ERR_ROUTING_FORWARD_OPTIONS');
    const key = certificatePath('server.key');
    expect(() => forwardTo({ target, rootCaFile: key })).to.throw('does not contain a readable PEM certificate');
  });

  for (const scheme of ['http', 'https']) {
    it(`allows the process to exit after the server closed, although a connection to the target is idle (${scheme})`, async () => {
      const sockets = new Set<Socket>();
      const onRequest: RequestListener = (req, res) => void res.end(`over ${sockets.add(req.socket).size}`);
      const target = scheme === 'http' ? createServer(onRequest) : createHttpsServer(certificates().server, onRequest);
      target.keepAliveTimeout = 0;
      whenDone(() => target.close());
      whenDone(() => sockets.forEach((socket) => socket.destroy()));
      const url = `${scheme}://localhost:${await listen(target as unknown as NetServer)}`;
      const script = new URL('idle-child.ts', import.meta.url).pathname;
      const options = scheme === 'http' ? [] : [certificatePath('ca.crt')];
      const child = await promisify(execFile)(process.execPath, ['--conditions=source', script, url, ...options]);
      expect(child.stdout).to.equal('over 1\nover 1\n');
    });
  }

  const wrong: Record<string, ForwardToOptions> = {
    'no URL': { target: '127.0.0.1:80' },
    'another scheme': { target: 'ftp://a' },
    credentials: { target: 'http://user:pass@a' },
    'a query': { target: 'http://a?b' },
    'a negative time limit': { target: 'http://a', timeoutMs: -1 },
    'a header with a line break': { target: 'http://a', headers: { 'x-a': 'b\r\nc: d' } },
    'a framing header': { target: 'http://a', headers: { 'transfer-encoding': 'chunked' } },
  };
  for (const [name, options] of Object.entries(wrong)) {
    it(`rejects options with ${name}`, () => {
      expect(() => forwardTo(options))
        .to.throw(GatewayError)
        .with.property('code', 'ERR_ROUTING_FORWARD_OPTIONS');
    });
  }
});
