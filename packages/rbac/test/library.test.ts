import { createServer, request, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import express from 'express';
import { createContext, type GatewayError, type Handler } from '@edge-gateway/core';
import { jwt, rbac } from '../src/index.ts';
import { createIssuer, ISSUER, NOW, type Issuer } from './issuer.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

interface Seen {
  readonly url: string;
  readonly email: string | undefined;
  readonly token: boolean;
}

/** An app whose `/api` is protected; everything else is open. */
type MakeApp = (guards: readonly Handler[]) => RequestListener;

const answer = (url: string, headers: NodeJS.Dict<string | string[]>): string =>
  JSON.stringify({ url, email: headers['x-email'], token: 'authorization' in headers });

const onExpress =
  (framework: typeof express): MakeApp =>
  (guards) => {
    const app = framework();
    const api = framework.Router();
    api.use((req: express.Request, res: express.Response) => {
      res.send(answer(req.url, req.headers));
    });
    app.use('/api', ...guards, api);
    app.get('/open', (req, res) => {
      res.send(answer(req.url, req.headers));
    });
    app.use((error: GatewayError, _req: express.Request, res: express.Response, _next: express.NextFunction) => {
      res.status(error.status).set(error.headers).send(error.message);
    });
    return app as unknown as RequestListener;
  };

const onPlainHttp: MakeApp = (guards) => (req, res) => {
  if (req.url === '/open') return void res.end(answer(req.url, req.headers));
  req.url = req.url!.slice('/api'.length);
  const step =
    (i: number) =>
    (error?: unknown): void => {
      if (error) {
        const { status, headers, message } = error as GatewayError;
        res.writeHead(status, { ...headers }).end(message);
      } else if (i < guards.length) guards[i]!(req, res, step(i + 1));
      else res.end(answer(req.url!, req.headers));
    };
  step(0)();
};

describe('jwt and rbac in your own server', () => {
  let issuer: Issuer;
  let server: Server;
  before(async () => {
    issuer = await createIssuer();
  });
  afterEach(() => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))));

  function guards(): Handler[] {
    const context = createContext({ now: () => NOW });
    return [
      jwt(
        {
          providers: {
            main: {
              issuer: ISSUER,
              jwks: { local: { key: issuer.keySet } },
              claimsToHeaders: [{ claim: 'email', header: 'x-email' }],
            },
          },
          onRefusal: 'next',
        },
        context,
      ),
      rbac(
        {
          policies: {
            admins: {
              principals: [{ jwtPrincipal: { claims: { email: 'admin@example.com' } } }],
              permissions: { methods: ['GET'], pathPrefix: '/pets' },
            },
          },
          onRefusal: 'next',
        },
        context,
      ),
    ];
  }

  async function start(makeApp: MakeApp): Promise<void> {
    server = createServer(makeApp(guards()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }

  async function ask(path: string, claims?: Record<string, unknown>) {
    const { port } = server.address() as AddressInfo;
    const headers = {
      host: 'shop.test',
      'x-email': 'forged',
      x_email: 'forged',
      ...(claims && { authorization: `Bearer ${await issuer.sign(claims)}` }),
    };
    return new Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
      request({ port, path, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (body += chunk));
        response.on('end', () => resolve({ status: response.statusCode!, body, headers: response.headers }));
      })
        .on('error', reject)
        .end();
    });
  }

  for (const [name, makeApp] of [
    ['Express 5', onExpress(express)],
    ['Express 4', onExpress(express4)],
    ['plain node:http', onPlainHttp],
  ] as const) {
    it(`${name}: allows whom the policies name, and replaces client values with the claim`, async () => {
      await start(makeApp);
      const { status, body } = await ask('/api/pets/1?a=b', { email: 'admin@example.com' });
      expect(status, body).to.equal(200);
      expect(JSON.parse(body) as Seen).to.deep.equal({ url: '/pets/1?a=b', email: 'admin@example.com', token: false });
      expect(JSON.parse((await ask('/open')).body)).to.include({ email: 'forged' });
    });

    it(`${name}: removes the token from the query`, async () => {
      await start(makeApp);
      const token = await issuer.sign({ email: 'admin@example.com' });
      const { body } = await ask(`/api/pets?access_token=${token}&b=1`);
      expect((JSON.parse(body) as Seen).url).to.equal('/pets?b=1');
    });

    it(`${name}: rejects other requests through the error handler`, async () => {
      await start(makeApp);
      const missing = await ask('/api/pets?x=1');
      expect(missing).to.include({ status: 401, body: 'Jwt is missing' });
      expect(missing.headers['content-type']).to.match(/^text\/plain/);
      const realm = name === 'plain node:http' ? '/pets?x=1' : '/api/pets?x=1';
      expect(missing.headers['www-authenticate']).to.equal(`Bearer realm="http://shop.test${realm}"`);
      const other = { status: 403, body: 'RBAC: access denied' };
      expect(await ask('/api/pets', { email: 'user@example.com' })).to.include(other);
      expect(await ask('/api/owners', { email: 'admin@example.com' })).to.include(other);
    });

    it(`${name}: rejects paths that later handlers could interpret differently`, async () => {
      await start(makeApp);
      for (const path of [
        '/pets/../owners',
        '/pets/%2e%2e/owners',
        '/pets/%252e%252e/owners',
        '/pets/..%2fowners',
        '/pets/..;/owners',
        '/pets/..\\owners',
        '/pets%5c..%5cowners',
        '/pets/.',
        '/pets//owners',
      ]) {
        const { status, body } = await ask(`/api${path}`, { email: 'admin@example.com' });
        expect(status, `${path}: ${body}`).to.equal(403);
      }
      for (const path of ['/pets/.well-known/a..b', '/pets/a.b?c=/../d', '/pets/...']) {
        expect((await ask(`/api${path}`, { email: 'admin@example.com' })).status, path).to.equal(200);
      }
    });
  }

  for (const before of [false, true]) {
    it(`changes the lists of header values as well, ${before ? 'which were read' : 'which were not read'} before`, async () => {
      await start((handlers) => (req, res) => {
        if (before) void req.headersDistinct;
        handlers[0]!(req, res, () => res.end(JSON.stringify(req.headersDistinct)));
      });
      const lists = JSON.parse((await ask('/', { email: 'admin@example.com' })).body) as object;
      expect(lists).to.deep.include({ 'x-email': ['admin@example.com'], host: ['shop.test'] });
      expect(lists).to.not.have.any.keys('authorization', 'x_email');
      const none = JSON.parse((await ask('/', {})).body) as object;
      expect(none).to.not.have.any.keys('authorization', 'x-email', 'x_email');
    });
  }

  it('removes forged claim headers even if a handler continues after a rejection', async () => {
    await start((handlers) => (req, res) => {
      handlers[0]!(req, res, (error) => {
        const { headers, rawHeaders } = req;
        res.end(JSON.stringify({ refused: error !== undefined, headers, raw: rawHeaders }));
      });
    });
    const { refused, headers, raw } = JSON.parse((await ask('/')).body) as Record<string, object>;
    expect(refused).to.equal(true);
    expect(headers).to.not.have.any.keys('x-email', 'x_email');
    expect(raw).to.not.include('forged');
  });
});
