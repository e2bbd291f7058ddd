import { expect } from 'chai';
import { createConnection } from 'node:net';
import type { Listener } from '@edge-gateway/core';
import { numberedUpstream } from '../../numbered.ts';
import { served, type Served } from '../../served.ts';
import { directOf, routeOf, start, upstreamOf, endpointOf } from '../../snapshots.ts';

const cookieBased = { cookie: { name: 'session', path: '/shop', ttl: '120s' } };

describe('statefulSession', () => {
  let gateway: Served;
  let ports: readonly number[];
  afterEach(() => gateway.close());

  const serve = async (statefulSession: Listener['httpOptions']['statefulSession'], http = {}): Promise<void> => {
    const upstream = await numberedUpstream(3);
    ports = upstream.endpoints.map(({ port }) => port);
    const routes = [directOf('direct', { matchers: [{ exact: '/direct' }] }), routeOf()];
    gateway = await served({ routes, upstreams: [upstream], http: { ...http, statefulSession } });
  };
  const named = (port: number | undefined): string => Buffer.from(`127.0.0.1:${port}`).toString('base64');

  it('binds a client to its host by a cookie', async () => {
    await serve({ cookieBased });
    const first = await gateway.ask('/shop/cart');
    const value = named(ports[Number(first.body)]);
    expect(first.headers['set-cookie']).to.deep.equal([`session="${value}"; Max-Age=120; Path=/shop; HttpOnly`]);
    for (let i = 0; i < 4; i++) {
      const next = await gateway.ask('/shop', { headers: { cookie: `session="${value}"` } });
      expect(next.body).to.equal(first.body);
      expect(next.headers).not.to.have.property('set-cookie');
    }
    const several = `session="${value}"; session="${named(1)}"`;
    const { body } = await gateway.ask('/shop', { headers: { cookie: several } });
    expect(body, 'the first value, as in Envoy').to.equal(first.body);
  });

  it('has no session outside of the path of the cookie, and none on responses of the gateway', async () => {
    await serve({ cookieBased });
    const cookie = `session=${named(ports[2])}`;
    const bodies = new Set<string>();
    for (let i = 0; i < 3; i++) {
      const { headers, body } = await gateway.ask('/shopping', { headers: { cookie } });
      expect(headers).not.to.have.property('set-cookie');
      bodies.add(body);
    }
    expect(bodies.size).to.equal(3);
    expect((await gateway.ask('/direct')).headers).not.to.have.property('set-cookie');
  });

  it('binds a client to its host by a header', async () => {
    await serve({ headerBased: { headerName: 'X-Host' } });
    const first = await gateway.ask('/');
    expect(first.headers['x-host']).to.equal(named(ports[Number(first.body)]));
    for (let i = 0; i < 4; i++) {
      const next = await gateway.ask('/', { headers: { 'x-host': named(ports[1]) } });
      expect(next.body).to.equal('1');
      expect(next.headers).not.to.have.property('x-host');
    }
  });

  it('chooses another host for one that is gone, or returns 503 if it is strict', async () => {
    for (const strict of [false, true]) {
      await serve({ cookieBased: { cookie: { name: 'session', ttl: '0s' } }, strict });
      const gone = await gateway.ask('/', { headers: { cookie: `session=${named(1)}` } });
      expect(gone.status).to.equal(strict ? 503 : 200);
      if (!strict) expect(gone.headers['set-cookie']![0]).to.match(/^session="[^"]+"; HttpOnly$/);
      expect((await gateway.ask('/')).status).to.equal(200);
      for (const value of ['%%%', '', 'AAAA', named(70_000)]) {
        const { status } = await gateway.ask('/', { headers: { cookie: `session=${value}` } });
        expect(status, value).to.equal(strict && value !== '' ? 503 : 200);
      }
      if (!strict) await gateway.close();
    }
  });

  it('names the host in the response to an upgrade', async () => {
    const { port, server } = await start((_req, res) => res.end());
    server.on('upgrade', (_req, socket) => {
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      );
    });
    gateway = await served({
      upstreams: [upstreamOf([endpointOf(port)])],
      http: { statefulSession: { headerBased: { headerName: 'x-host' } } },
    });
    const socket = createConnection(gateway.port, '127.0.0.1');
    const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13';
    socket.write(`GET / HTTP/1.1\r\nhost: a.example\r\nconnection: upgrade\r\nupgrade: websocket\r\n${key}\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).to.match(/^HTTP\/1\.1 101 /);
    expect(text.toLowerCase()).to.contain(`x-host: ${named(port).toLowerCase()}\r\n`);
  });
});
