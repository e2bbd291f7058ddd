import { createRequire } from 'node:module';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthConfigSpec } from '@edge-gateway/core/schema';
import { createContext, createLoggers, type AuthMethodKind, type GatewayError, type Handler } from '@edge-gateway/core';
import { expect } from 'chai';
import express from 'express';
import { extauth } from '../src/index.ts';
import { basic, call, secretsOf, start, stopAll, type Call } from './harness.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

const CONFIG: AuthConfigSpec = {
  booleanExpr: 'key || login',
  configs: [
    {
      name: 'key',
      apiKeyAuth: {
        k8sSecretApikeyStorage: { apiKeySecretRefs: [{ name: 'shop', namespace: 'n' }] },
        headersFromMetadataEntry: { 'X-Plan': { name: 'plan' } },
      },
    },
    {
      name: 'login',
      basicAuth: {
        realm: 'r',
        apr: { users: { alice: { salt: 'TYiryv0/', hashedPassword: '8BvzLUO9IfGPGGsPnAgSu1' } } },
      },
    },
  ],
};
const context = createContext({ secrets: secretsOf({ shop: { 'api-key': 'k-1', plan: 'gold' } }) });

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** Tells what a handler behind the middleware sees of a request. */
const seen = (req: IncomingMessage, body: unknown): string =>
  JSON.stringify({ url: req.url, headers: req.headers, raw: req.rawHeaders.map((text) => text.toLowerCase()), body });

function withExpress(make: typeof express): (guard: Handler) => Listener {
  return (guard) => {
    const app = make();
    app.use('/api', guard);
    app.use(make.json());
    app.use('/api', (req, res) => void res.end(seen(req, req.body)));
    app.use((_req, res) => void res.end('open'));
    return app as unknown as Listener;
  };
}

const SERVERS: Readonly<Record<string, (guard: Handler) => Listener>> = {
  'Express 5': withExpress(express),
  'Express 4': withExpress(express4),
  'plain node:http': (guard) => (req, res) => {
    if (!req.url?.startsWith('/api')) return void res.end('open');
    guard(req, res, (error) => {
      if (error) return void res.writeHead(500).end();
      let text = '';
      req.on('data', (chunk: Buffer) => (text += chunk.toString()));
      req.on('end', () => res.end(seen(req, text === '' ? undefined : JSON.parse(text))));
    });
  },
};

for (const [name, serverOf] of Object.entries(SERVERS)) {
  describe(`the middleware in ${name}`, () => {
    let url: string;
    let guard: Handler;
    beforeEach(async () => {
      guard = extauth({ config: CONFIG, settings: { requestBody: { maxRequestBytes: 20 } } }, context);
      url = await start(serverOf(guard));
    });
    afterEach(async () => {
      await guard.close?.();
      await stopAll();
    });

    it('forwards grants, and no client values', async () => {
      const headers = { 'api-key': 'k-1', 'x-user-id': 'root', x_user_id: 'root', 'X-Plan': 'free', X_PLAN: 'free' };
      const { status, body } = await call(`${url}/api/a?b=1`, { headers });
      expect(status).to.equal(200);
      const got = JSON.parse(body) as { headers: Record<string, string>; raw: string[] };
      expect(got.headers).to.include({ 'x-user-id': 'shop', 'x-plan': 'gold' });
      expect(got.headers).not.to.have.any.keys('x_user_id', 'x_plan');
      expect(got.raw.filter((text) => /^x[_-](user|plan)/.test(text))).to.have.members(['x-user-id', 'x-plan']);
    });

    it('responds to denied requests, and ignores other paths', async () => {
      const refused = await call(`${url}/api`, { headers: { authorization: basic('alice', 'wrong') } });
      expect(refused).to.include({ status: 401, body: '' });
      expect(refused.headers['www-authenticate']).to.equal('Basic realm="r"');
      expect(await call(`${url}/`)).to.include({ status: 200, body: 'open' });
      expect((await call(`${url}/api`, { headers: { authorization: basic('alice', 'password') } })).status).to.equal(
        200,
      );
    });

    it('restores the body that it read, and returns 413 for a larger one', async () => {
      const headers = { 'api-key': 'k-1', 'content-type': 'application/json' };
      const asking = { method: 'POST', headers };
      const { body } = await call(`${url}/api`, { ...asking, body: '{"a":[1]}' });
      expect(JSON.parse(body)).to.deep.include({ body: { a: [1] } });
      const long = await call(`${url}/api`, { ...asking, body: JSON.stringify({ a: 'x'.repeat(20) }) });
      expect(long).to.include({ status: 413, body: 'Payload Too Large' });
      expect(long.headers['content-type']).to.equal('text/plain');
    });

    it('rejects an unread body without blocking the connection', async () => {
      const refused = await call(`${url}/api`, { method: 'POST', body: 'x'.repeat(1_000_000) }).catch(
        (error: NodeJS.ErrnoException) => error.code,
      );
      // The client may be cut off while it still sends.
      if (typeof refused === 'object') expect(refused.status).to.be.oneOf([401, 413]);
      else expect(refused).to.be.oneOf(['ECONNRESET', 'EPIPE']);
      expect((await call(`${url}/`)).status).to.equal(200);
    });
  });
}

describe('the middleware with onRefusal: next', () => {
  afterEach(stopAll);

  for (const [what, more, status] of [
    ['a request without credentials', {}, 401],
    ['wrong credentials', { headers: { authorization: basic('alice', 'wrong') } }, 401],
    ['a body that is too long', { method: 'POST', body: 'x'.repeat(50) }, 413],
  ] as const) {
    it(`hides headers that only steps may set from error handlers: ${what}`, async () => {
      const settings = { requestBody: { maxRequestBytes: 20 } };
      const guard = extauth({ config: CONFIG, settings, onRefusal: 'next' }, context);
      const url = await start((req, res) =>
        guard(req, res, (error) =>
          res.end(JSON.stringify([(error as { status?: number }).status, req.headers, req.rawHeaders])),
        ),
      );
      const forged = { 'x-user-id': 'root', X_User_Id: 'root', 'X-Plan': 'gold', x_plan: 'gold', 'x-other': 'kept' };
      const { headers, ...rest }: Call = more;
      const { body } = await call(url, { ...rest, headers: { ...headers, ...forged } });
      const [got, seen, raw] = JSON.parse(body) as [number, Record<string, string>, string[]];
      expect(got).to.equal(status);
      expect(seen).to.include({ 'x-other': 'kept' });
      expect([...Object.keys(seen), ...raw].filter((name) => /^x[-_](?:user|plan)/i.test(name))).to.deep.equal([]);
    });
  }
});

describe('the middleware after a body parser', () => {
  const sent: [type: string, body: string][] = [
    ['application/json', '{"a":[1]}'],
    ['application/x-www-form-urlencoded', 'a=1&a=2&b=%C3%A9'],
    ['text/plain', 'words'],
    ['application/octet-stream', 'bytes'],
  ];
  const config: AuthConfigSpec = { configs: [{ jwt: {} }] };
  const tell: AuthMethodKind = {
    type: 'jwt',
    create: () => ({ authorize: ({ body }) => ({ allowed: false, status: 403, body: String(body), reason: '' }) }),
  };
  afterEach(stopAll);
  for (const [name, make] of Object.entries({ 'Express 5': express, 'Express 4': express4 })) {
    it(`passes the parsed body to its steps: ${name}`, async () => {
      const app = make();
      app.use(make.json(), make.urlencoded({ extended: false }), make.text(), make.raw());
      app.use(extauth({ config, methods: [tell], settings: { requestBody: { maxRequestBytes: 20 } } }));
      const url = await start(app as unknown as Listener);
      for (const [type, body] of [...sent, ['application/x-unread', 'as it is'] as const]) {
        const answer = await call(url, { method: 'POST', headers: { 'content-type': type }, body });
        expect(answer.body, type).to.equal(body);
      }
      const long = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(21) };
      expect((await call(url, long)).status).to.equal(413);
    });
  }

  it('rejects a request whose body was consumed', async () => {
    const guard = extauth({ config, methods: [tell], settings: { requestBody: {}, statusOnError: 500 } });
    const url = await start((req, res) => void req.resume().on('end', () => guard(req, res, () => res.end())));
    expect((await call(url, { method: 'POST', body: 'x' })).status).to.equal(500);
  });
});

describe('the middleware', () => {
  afterEach(stopAll);

  it('propagates errors of the next handler, and calls it once', async () => {
    const allow: AuthMethodKind = { type: 'jwt', create: () => ({ authorize: () => ({ allowed: true }) }) };
    const settings = { failureModeAllow: true };
    const guard = extauth({ config: { configs: [{ jwt: {} }] }, methods: [allow], settings });
    const thrown: unknown[] = [];
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', (reason) => void thrown.push(reason));
    const mine = new Error('mine');
    let calls = 0;
    const url = await start((req, res) => {
      guard(req, res, () => {
        calls++;
        setImmediate(() => res.end('late'));
        throw mine;
      });
    });
    expect((await call(url)).body).to.equal('late');
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
    expect([calls, thrown]).to.deep.equal([1, [mine]]);
  });

  it('forwards nothing when the client disconnects during a step, even with failureModeAllow', async () => {
    const asked = Promise.withResolvers<void>();
    const step: AuthMethodKind = {
      type: 'jwt',
      create: () => ({
        authorize: ({ signal }) =>
          new Promise((_resolve, reject) => {
            signal!.addEventListener('abort', () => reject(new Error('left')));
            asked.resolve();
          }),
      }),
    };
    const lines: string[] = [];
    const log = createLoggers({ destination: { write: (line: string) => void lines.push(line) } });
    const settings = { failureModeAllow: true, requestTimeout: '60s' };
    const guard = extauth({ config: { configs: [{ jwt: {} }] }, methods: [step], settings }, createContext({ log }));
    const gone = Promise.withResolvers<void>();
    let calls = 0;
    const url = await start((req, res) => {
      res.on('close', () => setImmediate(gone.resolve));
      guard(req, res, () => calls++);
    });
    const hangUp = new AbortController();
    const answer = fetch(url, { method: 'POST', body: 'x', signal: hangUp.signal }).catch(() => undefined);
    await asked.promise;
    hangUp.abort();
    await answer;
    await gone.promise;
    expect([calls, lines]).to.deep.equal([0, []]);
  });

  it('passes denials to next(error) with onRefusal: next, with the headers and without the reason', async () => {
    const deny: AuthMethodKind = {
      type: 'jwt',
      create: () => ({
        authorize: () => ({
          allowed: false,
          status: 401,
          headers: ['WWW-Authenticate', 'Custom', 'set-cookie', 'a=1', 'set-cookie', 'b=2'],
          body: 'who are you',
          reason: 'a-secret-reason',
        }),
      }),
    };
    const guard = extauth({ config: { configs: [{ jwt: {} }] }, methods: [deny], onRefusal: 'next' });
    let passed: GatewayError | undefined;
    const url = await start((req, res) => {
      guard(req, res, (error) => {
        passed = error as GatewayError;
        res.writeHead(418).end();
      });
    });
    const answer = await call(url);
    expect([answer.status, answer.headers['set-cookie']]).to.deep.equal([418, ['a=1', 'b=2']]);
    expect(passed).to.include({ code: 'ERR_EXTAUTH_DENIED', status: 401, message: 'Unauthorized' });
    expect(passed!.headers).to.deep.equal({ 'www-authenticate': 'Custom' });
    expect(passed!.reply!.body).to.equal('who are you');
  });

  it('sends a redirect also with onRefusal: next', async () => {
    const headers = ['location', 'https://id.example.com/'];
    const deny: AuthMethodKind = {
      type: 'jwt',
      create: () => ({ authorize: () => ({ allowed: false, status: 302, headers, reason: '' }) }),
    };
    const guard = extauth({ config: { configs: [{ jwt: {} }] }, methods: [deny], onRefusal: 'next' });
    const url = await start((req, res) => guard(req, res, () => res.writeHead(418).end()));
    const answer = await call(url);
    expect([answer.status, answer.headers.location]).to.deep.equal([302, 'https://id.example.com/']);
  });

  it('throws for an invalid chain or invalid settings', () => {
    const appUrl = 'https://app.example.com';
    const oidcAuthorizationCode = {
      clientId: 'a',
      issuerUrl: 'https://id.example.com',
      appUrl,
      callbackPath: '/callback',
    };
    const broken: [AuthConfigSpec, object, string][] = [
      [{ configs: [] }, {}, 'ERR_EXTAUTH_CONFIG'],
      [{ configs: [{ pluginAuth: { name: 'a', config: {} } }] }, {}, 'ERR_EXTAUTH_CONFIG'],
      [{ configs: [{}] }, {}, 'ERR_EXTAUTH_CONFIG'],
      [{ configs: [{ oauth2: { oidcAuthorizationCode } }] }, {}, 'ERR_EXTAUTH_METHOD'],
      [{ configs: [{ name: 'a', jwt: {} }], booleanExpr: 'a &&' }, {}, 'ERR_CORE_EXPRESSION'],
      [CONFIG, { statusOnError: 599 }, 'ERR_EXTAUTH_CONFIG'],
      [CONFIG, { statusOnError: 100 }, 'ERR_EXTAUTH_CONFIG'],
      [CONFIG, { requestTimeout: 'soon' }, 'ERR_EXTAUTH_CONFIG'],
    ];
    for (const [config, settings, code] of broken) {
      expect(() => extauth({ config, settings }, context), JSON.stringify([config, settings]))
        .to.throw()
        .with.property('code', code);
    }
  });
});

describe('the middleware at a mount path', () => {
  afterEach(stopAll);
  const tell: AuthMethodKind = {
    type: 'jwt',
    create: () => ({ authorize: ({ path }) => ({ allowed: false, status: 403, body: path, reason: '' }) }),
  };
  const guard = extauth({ config: { configs: [{ jwt: {} }] }, methods: [tell] });
  const strip: Listener = (req, res) => {
    Object.assign(req, { originalUrl: req.url, url: req.url?.replace('/api', '') });
    guard(req, res, () => res.end());
  };
  for (const [name, listener] of Object.entries({
    'Express 5': withExpress(express)(guard),
    'Express 4': withExpress(express4)(guard),
    Connect: strip,
  })) {
    it(`passes the path of the client to its steps: ${name}`, async () => {
      expect((await call(`${await start(listener)}/api/pets?a=1`)).body).to.equal('/api/pets?a=1');
    });
  }
});
