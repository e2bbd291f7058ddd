import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { ServerCredentials, Server as GrpcServer, status } from '@grpc/grpc-js';
import {
  createContext,
  createLoggers,
  type AuthDecision,
  type AuthMethodKind,
  type AuthRequest,
} from '@edge-gateway/core';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import express from 'express';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { clientError } from '../../src/chain/failure.ts';
import { authorization } from '../../src/grpc/protocol.ts';
import { extauth } from '../../src/index.ts';
import { call, guarded, only, start, stopAll, type Call, type Guarded } from '../harness.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

const step = (authorize: (request: AuthRequest) => AuthDecision | Promise<AuthDecision>): AuthMethodKind => ({
  type: 'jwt',
  create: () => ({ authorize }),
});
const config: AuthConfigSpec = { configs: [{ jwt: {} }] };
const settings = { failureModeAllow: true, requestBody: { maxRequestBytes: 200_000 } };
/** Reads the body, and has no opinion of it. */
const pass = step(({ body }) => ({ allowed: true, requestChanges: [{ op: 'set', name: 'x-body', value: `${body}` }] }));

describe('failureModeAllow and a body that a parser has read', () => {
  afterEach(stopAll);

  async function behind(parser: express.RequestHandler): Promise<(more: Call) => Promise<string>> {
    const app = express();
    app.use(parser);
    app.use(extauth({ config, methods: [pass], settings: { ...settings, statusOnError: 503 } }));
    app.use((req, res) => void res.end(`in ${req.headers['x-body']}`));
    const url = await start(app as unknown as Listener);
    return async (more) => {
      const { status: code, body } = await call(url, { method: 'POST', ...more });
      return `${code} ${body}`;
    };
  }
  const typed = (type: string, body: string): Call => ({ headers: { 'content-type': type }, body });

  it('passes a nested form to the steps', async () => {
    const ask = await behind(express.urlencoded({ extended: true }));
    const answer = await ask(typed('application/x-www-form-urlencoded', 'a[b]=c&d=1&d=2'));
    expect(decodeURIComponent(answer)).to.equal('200 in a[b]=c&d=1&d=2');
  });

  it('returns 400 for a body that cannot be serialized again', async () => {
    const parsed = await behind((req, _res, next) => {
      req.resume().on('end', () => next(void (req.body = { a: '1' })));
    });
    expect(await parsed(typed('multipart/form-data; boundary=x', '--x--'))).to.equal('400 Bad Request');
    expect(await parsed(typed('text/odd', 'x'))).to.equal('400 Bad Request');
    const deep = await behind(express.json({ limit: '200kb' }));
    const nested = '['.repeat(40_000) + ']'.repeat(40_000);
    expect(await deep(typed('application/json', nested))).to.equal('400 Bad Request');
    const text = await behind(express.text({ type: () => true }));
    expect(await text(typed('application/json', '"a"'))).to.equal('200 in "a"');
  });

  it('rejects requests whose body other middleware has consumed', async () => {
    const ask = await behind((req, _res, next) => void req.resume().on('end', () => next()));
    expect(await ask({ body: 'x' })).to.equal('503 ');
  });
});

describe('failureModeAllow and failures caused by the client', () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) each.close();
    await stopAll();
  });
  const guardedBy = (method: AuthMethodKind) => guarded(config, { methods: [method], settings });

  it('allows requests when a server failed', async () => {
    const failures = [new Error('connection reset'), new TypeError('fetch failed', { cause: new Error('reset') })];
    for (const error of failures)
      expect((await (await guardedBy(step(() => Promise.reject(error)))).ask()).status, error.message).to.equal(200);
  });

  it('returns the status of an error caused by the client, also if negated', async () => {
    for (const [status, retryAfter] of [
      [400, undefined],
      [429, '1'],
      [431, undefined],
    ] as const) {
      const method = step(() => Promise.reject(clientError('the client did it', status)));
      const { ask } = await guarded({ ...config, booleanExpr: '!config_0' }, { methods: [method], settings });
      const answer = await ask();
      expect([answer.status, answer.body, answer.headers['retry-after']]).to.deep.equal([status, '', retryAfter]);
    }
  });

  it('forwards nothing when the client disconnects while a step is waiting', async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const method = step(() => (started.resolve(), new Promise(() => {})));
    let forwarded = 0;
    const write = (line: string): void => void (line.includes('took longer') && setImmediate(ended.resolve));
    const context = createContext({ log: createLoggers({ level: 'warn', destination: { write } }) });
    const guard = extauth({ config, methods: [method], settings: { ...settings, requestTimeout: '300ms' } }, context);
    const url = await start((req, res) => guard(req, res, () => void forwarded++));
    const leaving = new AbortController();
    const asking = fetch(url, { signal: leaving.signal }).catch(() => undefined);
    await started.promise;
    leaving.abort();
    await Promise.all([asking, ended.promise]);
    expect(forwarded).to.equal(0);
  });

  it('rejects the request when a step throws', async () => {
    const invalid = Object.assign(new Error('invalid header'), { code: 'UND_ERR_INVALID_ARG' });
    for (const error of [new TypeError('x is undefined'), new RangeError('stack'), new URIError('%'), invalid])
      expect((await (await guardedBy(step(() => Promise.reject(error)))).ask()).status, error.message).to.equal(403);
  });

  it('rejects the request when a grant cannot be sent', async () => {
    const inject = step(() => ({ allowed: true, requestChanges: [{ op: 'set', name: 'x-a', value: 'a\r\nb: c' }] }));
    expect((await (await guardedBy(inject)).ask()).status).to.equal(403);
    const user = step(() => ({ allowed: true, userId: 'a\nb' }));
    expect((await (await guardedBy(user)).ask()).status).to.equal(403);
  });

  it('rejects when the response of a rejection cannot be sent', async () => {
    const reflect = step(() => ({ allowed: false, status: 401, headers: ['location', '/\r\nx: y'], reason: 'no' }));
    expect((await (await guardedBy(reflect)).ask()).status).to.equal(403);
  });

  const own = (url: string): AuthConfigSpec =>
    only({
      passThroughAuth: { failureModeAllow: true, http: { url, request: { allowedHeaders: ['x-told', 'cookie'] } } },
    });
  const long = { headers: { cookie: 'c'.repeat(9_000) } };
  async function statuses({ ask }: Guarded): Promise<number[]> {
    return [(await ask()).status, (await ask('/', long)).status];
  }
  async function cutting(): Promise<string> {
    const server: Server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.destroy()));
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('rejects headers that exceed the limit of the auth server', async () => {
    expect(await statuses(await guarded(own(await cutting())))).to.deep.equal([200, 431]);
  });

  it('denies the request when the denial of the auth server is truncated or too long', async () => {
    const early = await start((_req, res) => {
      res.writeHead(402, { 'content-length': '100' }).write('x');
      setTimeout(() => res.destroy(), 20);
    });
    const endless = await start((_req, res) => void res.writeHead(402).end('x'.repeat(300_000)));
    for (const url of [early, endless]) expect((await (await guarded(own(url))).ask()).status).to.equal(402);
  });

  it('treats gRPC codes that reject a request as denials, not failures', async () => {
    let code: number = status.UNAVAILABLE;
    const server = new GrpcServer();
    server.addService(authorization().service, {
      Check: (_call: unknown, reply: (error: object) => void) => reply({ code, details: 'no' }),
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    open.push({ close: () => server.forceShutdown() });
    const grpc = { address: `127.0.0.1:${port}` };
    const { ask } = await guarded(only({ passThroughAuth: { failureModeAllow: true, grpc } }));
    const { UNAVAILABLE, INTERNAL, RESOURCE_EXHAUSTED, INVALID_ARGUMENT, PERMISSION_DENIED } = status;
    const got: number[] = [];
    for (code of [UNAVAILABLE, INTERNAL, RESOURCE_EXHAUSTED, INVALID_ARGUMENT, PERMISSION_DENIED])
      got.push((await ask()).status);
    expect(got).to.deep.equal([200, 200, 403, 403, 403]);
  });

  const bearer = (token: string): Call => ({ headers: { authorization: `Bearer ${token}` } });
  const failOpen = { settings: { failureModeAllow: true } };

  it('rejects a token that the introspection endpoint rejects', async () => {
    let code = 500;
    const introspectionUrl = await start((_req, res) => void res.writeHead(code).end());
    const { ask } = await guarded(
      only({ oauth2: { accessTokenValidation: { introspection: { introspectionUrl } } } }),
      failOpen,
    );
    const got: number[] = [];
    for (code of [500, 400, 401, 413, 429]) got.push((await ask('/', bearer(`t${code}`))).status);
    expect(got).to.deep.equal([200, 403, 403, 403, 403]);
  });

  it('rejects a token that is too long for the user info endpoint', async () => {
    const introspectionUrl = await start((_req, res) => void res.end('{"active":true}'));
    const spec = { introspection: { introspectionUrl }, userinfoUrl: await cutting() };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: spec } }), failOpen);
    const [short, long] = [await ask('/', bearer('t')), await ask('/', bearer('t'.repeat(9_000)))];
    expect([short.status, long.status]).to.deep.equal([200, 403]);
  });

  it('rejects a token with an invented key id while the key server is unavailable', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
    const sign = (kid: string) => new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
    let now = Date.now();
    let served: 'keys' | 'nothing' | 'error' = 'keys';
    const url = await start((_req, res) => {
      if (served === 'keys') res.end(JSON.stringify({ keys: [key] }));
      else if (served === 'error') res.writeHead(500).end();
    });
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt: { remoteJwks: { url } } } } }), {
      settings: { failureModeAllow: true, requestTimeout: '1s' },
      context: createContext({ now: () => now }),
    });
    const status = async (kid: string) => (await ask('/', bearer(await sign(kid)))).status;
    expect(await status('k1')).to.equal(200);
    for (served of ['error', 'nothing'] as const) {
      now += 31_000;
      expect(await status('k2'), served).to.equal(403);
      expect(await status('k1'), served).to.equal(200);
    }
  });
});
