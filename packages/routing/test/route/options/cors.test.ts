import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createContext, GatewayError, type Concern } from '@edge-gateway/core';
import { cors } from '../../../src/route/options/cors.ts';
import { ask, served, type Answer, type Served } from '../../served.ts';
import { directOf, endpointOf, routeOf, start, upstreamOf } from '../../snapshots.ts';

const ORIGIN = 'https://shop.example';
const POLICY = {
  allowOrigin: [ORIGIN],
  allowOriginRegex: ['https://[a-z]+\\.b\\.example'],
  allowMethods: ['GET', 'PUT'],
  allowHeaders: ['x-a', 'x-b'],
  exposeHeaders: ['x-e'],
  maxAge: '1d',
  allowCredentials: true,
};
const PREFLIGHT = { origin: ORIGIN, 'access-control-request-method': 'PUT' };

function corsOf({ headers }: Answer): Record<string, unknown> {
  const prefix = 'access-control-';
  const own = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
}

const DENY: Concern<object> = {
  name: 'deny',
  option: 'extauth',
  stage: 'extAuth',
  compile: () => (_req, _res, next) => next(new GatewayError('denied', { code: 'ERR_TEST', status: 403 })),
};

describe('cors', () => {
  let gateway: Served;
  afterEach(() => gateway.close());

  it('adds headers to responses for allowed origins', async () => {
    gateway = await served({ options: { cors: POLICY } });
    const response = await gateway.ask('/', { headers: { origin: ORIGIN } });
    expect(response.status).to.equal(200);
    expect(corsOf(response)).to.deep.equal({
      'allow-origin': ORIGIN,
      'allow-credentials': 'true',
      'expose-headers': 'x-e',
    });
    expect(response.headers['vary']).to.equal('Origin');
    expect(gateway.stat('http.http.cors.origin_valid')).to.equal(1);
  });

  for (const [origin, allowed] of [
    ['https://x.b.example', true],
    ['https://x.b.example.evil', false],
    ['http://x.b.example', false],
    ['https://shop.example:8443', false],
    ['HTTPS://SHOP.EXAMPLE', false],
    ['null', false],
  ] as const)
    it(`${allowed ? 'allows' : 'passes without headers'} the origin ${origin}`, async () => {
      gateway = await served({ options: { cors: POLICY } });
      const response = await gateway.ask('/', { headers: { origin } });
      expect([response.status, corsOf(response)['allow-origin']]).to.deep.equal([200, allowed ? origin : undefined]);
      expect(response.headers['vary']).to.equal('Origin');
      expect(gateway.stat('http.http.cors.origin_invalid')).to.equal(allowed ? 0 : 1);
    });

  it('responds to a preflight before auth', async () => {
    gateway = await served({ options: { cors: POLICY, extauth: { disable: false } }, concerns: [DENY] });
    const response = await gateway.ask('/', { method: 'OPTIONS', headers: PREFLIGHT });
    expect([response.status, response.body, response.headers['content-length']]).to.deep.equal([200, '', '0']);
    expect(corsOf(response)).to.deep.equal({
      'allow-origin': ORIGIN,
      'allow-credentials': 'true',
      'allow-methods': 'GET,PUT',
      'allow-headers': 'x-a,x-b',
      'max-age': '1d',
      'expose-headers': 'x-e',
    });
    const denied = await gateway.ask('/', { headers: { origin: ORIGIN } });
    expect([denied.status, corsOf(denied)['allow-origin']]).to.deep.equal([403, ORIGIN]);
  });

  it('does not respond to preflights of other origins, which meet the policies', async () => {
    gateway = await served({ options: { cors: POLICY, extauth: { disable: false } }, concerns: [DENY] });
    const headers = { ...PREFLIGHT, origin: 'https://evil.example' };
    const response = await gateway.ask('/', { method: 'OPTIONS', headers });
    expect([response.status, corsOf(response)]).to.deep.equal([403, {}]);
  });

  it('forwards requests of other methods, whatever their headers', async () => {
    gateway = await served({ options: { cors: POLICY } });
    const response = await gateway.ask('/', { headers: PREFLIGHT });
    expect(JSON.parse(response.body)).to.include({ method: 'GET' });
    expect(response.headers).not.to.have.property('access-control-allow-methods');
  });

  it('forwards OPTIONS requests that are not preflights', async () => {
    gateway = await served({ options: { cors: POLICY } });
    expect(JSON.parse((await gateway.ask('/', { method: 'OPTIONS', headers: { origin: ORIGIN } })).body)).to.include({
      method: 'OPTIONS',
    });
  });

  it('treats two origins as a foreign one', async () => {
    gateway = await served({ options: { cors: POLICY } });
    expect(corsOf(await gateway.ask('/', { headers: { origin: `${ORIGIN}, ${ORIGIN}` } }))).to.deep.equal({});
  });

  it('replaces the headers of the upstream', async () => {
    const responseHeadersToAdd = [{ header: { key: 'access-control-allow-origin', value: '*' } }];
    gateway = await served({ options: { cors: POLICY, headerManipulation: { responseHeadersToAdd } } });
    expect(corsOf(await gateway.ask('/', { headers: { origin: ORIGIN } }))['allow-origin']).to.equal(ORIGIN);
  });

  it("'*' allows every origin, but without credentials", async () => {
    const options = { cors: { ...POLICY, allowOrigin: ['*'], allowMethods: ['*'], allowHeaders: ['*'] } };
    gateway = await served({ options });
    const headers = { ...PREFLIGHT, origin: 'https://any.example', 'access-control-request-headers': 'x-q, x-r' };
    const preflight = corsOf(await gateway.ask('/', { method: 'OPTIONS', headers }));
    expect(preflight).to.deep.equal({
      'allow-origin': 'https://any.example',
      'allow-methods': 'PUT',
      'allow-headers': 'x-q, x-r',
      'max-age': '1d',
      'expose-headers': 'x-e',
    });
    const named = corsOf(await gateway.ask('/', { headers: { origin: 'https://x.b.example' } }));
    expect(named['allow-credentials']).to.equal('true');
  });

  it("'*' does not extend what the upstream allows its own origins", async () => {
    const { port } = await start((_req, res) => {
      res.setHeader('access-control-allow-origin', ORIGIN).setHeader('access-control-allow-credentials', 'true').end();
    });
    gateway = await served({ options: { cors: { allowOrigin: ['*'] } }, upstreams: [upstreamOf([endpointOf(port)])] });
    const response = await gateway.ask('/', { headers: { origin: 'https://evil.example' } });
    expect(corsOf(response)).to.deep.equal({ 'allow-origin': 'https://evil.example' });
    expect(response.headers['vary']).to.equal('Origin');
  });

  it('fields of the route replace those of the virtual host', async () => {
    const route = { allowOrigin: ['https://other.example'], exposeHeaders: ['x-r'], allowCredentials: false };
    gateway = await served({ options: { cors: route }, host: { cors: POLICY } });
    const headers = { ...PREFLIGHT, origin: 'https://other.example' };
    expect(corsOf(await gateway.ask('/', { method: 'OPTIONS', headers }))).to.deep.equal({
      'allow-origin': 'https://other.example',
      'allow-methods': 'GET,PUT',
      'allow-headers': 'x-a,x-b',
      'max-age': '1d',
      'expose-headers': 'x-r',
    });
    for (const origin of [ORIGIN, 'https://x.b.example'])
      expect(corsOf(await gateway.ask('/', { headers: { origin } }))).to.deep.equal({});
  });

  it('corsPolicyMergeSettings: merges exposed headers', async () => {
    const host = { cors: POLICY, corsPolicyMergeSettings: { exposeHeaders: 'UNION' } } as const;
    gateway = await served({ options: { cors: { ...POLICY, exposeHeaders: ['x-r', 'x-e'] } }, host });
    expect(corsOf(await gateway.ask('/', { headers: { origin: ORIGIN } }))['expose-headers']).to.equal('x-e,x-r');
  });

  it('disableForRoute: disables the policy of the virtual host', async () => {
    const off = routeOf({ matchers: [{ prefix: '/off' }], options: { cors: { disableForRoute: true } } });
    gateway = await served({ routes: [off, routeOf()], host: { cors: POLICY } });
    expect(corsOf(await gateway.ask('/off', { headers: { origin: ORIGIN } }))).to.deep.equal({});
    expect(corsOf(await gateway.ask('/', { headers: { origin: ORIGIN } }))['allow-origin']).to.equal(ORIGIN);
  });

  it('applies to direct responses', async () => {
    gateway = await served({ routes: [directOf('hello', { options: { cors: POLICY } })] });
    const response = await gateway.ask('/', { headers: { origin: ORIGIN } });
    expect([response.body, corsOf(response)['allow-origin']]).to.deep.equal(['hello', ORIGIN]);
    const preflight = await gateway.ask('/', { method: 'OPTIONS', headers: PREFLIGHT });
    expect([preflight.status, preflight.body, corsOf(preflight)['allow-methods']]).to.deep.equal([200, '', 'GET,PUT']);
  });

  it('does not serve a route whose policy would break the head of responses', async () => {
    gateway = await served({ options: { cors: { ...POLICY, maxAge: '1\r\nx: y' } } });
    expect((await gateway.ask('/')).status).to.equal(500);
  });
});

describe('cors as a middleware', () => {
  let server: Server;
  afterEach(() => server.close());

  async function serve(options: Parameters<typeof cors>[0]): Promise<number> {
    const handler = cors(options, createContext());
    server = createServer((req, res) => handler(req, res, () => res.end('served')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  it('responds to preflights and adds headers', async () => {
    const port = await serve(POLICY);
    const preflight = await ask(port, '/', { method: 'OPTIONS', headers: PREFLIGHT });
    expect([preflight.status, preflight.body, corsOf(preflight)['allow-methods']]).to.deep.equal([200, '', 'GET,PUT']);
    const response = await ask(port, '/', { headers: { origin: ORIGIN } });
    expect([response.body, corsOf(response)['allow-origin'], response.headers['vary']]).to.deep.equal([
      'served',
      ORIGIN,
      'Origin',
    ]);
    const foreign = await ask(port, '/', { headers: { origin: 'https://evil.example' } });
    expect([foreign.body, corsOf(foreign)]).to.deep.equal(['served', {}]);
  });

  it('throws for an invalid expression', () => {
    server = createServer();
    expect(() => cors({ allowOriginRegex: ['('] })).to.throw();
  });
});
