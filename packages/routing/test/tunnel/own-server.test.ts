import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { expect } from 'chai';
import { protect, type Handler, type Route } from '@edge-gateway/core';
import { createRouter } from '../../src/index.ts';
import { closeAll, listen, until, whenDone } from '../forward/harness.ts';
import { endpointOf, hostOf, routeOf, snapshotOf, upstreamOf } from '../snapshots.ts';
import { CONNECT_REQUEST, connectRoute, FORWARDED, http1Client, http1Request, TARGET, tcpServer } from './gateway.ts';

/** Starts a server of `node:http` whose CONNECT requests a router serves, behind other handlers. */
async function ownServer(port: number, routes: readonly Partial<Route>[], ...guards: readonly Handler[]) {
  const router = createRouter({ accessLog: 'none' });
  const named = routes.map((route, i) => routeOf({ name: `route-${i}`, ...route }));
  const host = { ...hostOf(named), domains: [TARGET] };
  router.apply(snapshotOf([host], [upstreamOf([endpointOf(port)])]));
  const handler = guards.length > 0 ? protect(...guards, router) : router;
  const server = createServer((req, res) => router(req, res, () => res.destroy()))
    .on('connect', handler.upgrade!)
    .on('upgrade', handler.upgrade!);
  whenDone(async () => {
    server.closeAllConnections();
    server.close();
    await router.close();
  });
  return listen(server);
}

describe('CONNECT in a server of node:http', () => {
  afterEach(closeAll);

  it('opens a tunnel, with what the client sent early', async () => {
    const upstream = await tcpServer(({ socket }) => socket.on('data', (data: Buffer) => socket.write(`<${data}>`)));
    const port = await ownServer(upstream.port, [connectRoute()]);
    const client = await http1Request(port, `${CONNECT_REQUEST}early`);
    expect(client.head).to.match(/^HTTP\/1.1 200 OK/);
    await until(() => client.text === '<early>', 'the echo');
    client.socket.end();
    await until(() => upstream.ends[0]!.ended, 'the end of the client');
    upstream.ends[0]!.socket.end();
    await until(() => client.ended, 'the end of the upstream');
  });

  it('routes and forwards the target, also if Host lacks the port', async () => {
    const proxy = await tcpServer((end) => {
      end.socket.once('data', () => end.socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    });
    const port = await ownServer(proxy.port, [FORWARDED]);
    const client = await http1Request(port, `CONNECT ${TARGET} HTTP/1.1\r\nHost: db.example\r\n\r\n`);
    expect(client.head).to.match(/^HTTP\/1.1 200 OK/);
    expect(proxy.ends[0]!.text).to.match(/^CONNECT db.example:5432 HTTP\/1.1\r\nhost: db.example:5432\r\n/i);
  });

  for (const [name, request, status] of [
    ['a host that is not the target', `CONNECT other.example:1 HTTP/1.1\r\nHost: ${TARGET}\r\n\r\n`, 400],
    ['two hosts', `CONNECT ${TARGET} HTTP/1.1\r\nHost: ${TARGET}\r\nHost: ${TARGET}\r\n\r\n`, 400],
    ['a target without a port', 'CONNECT db.example HTTP/1.1\r\nHost: db.example:5432\r\n\r\n', 400],
    ['a body', `CONNECT ${TARGET} HTTP/1.1\r\nHost: ${TARGET}\r\nContent-Length: 3\r\n\r\nabc`, 400],
    ['chunks', `CONNECT ${TARGET} HTTP/1.1\r\nHost: ${TARGET}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['HTTP/1.0', `CONNECT ${TARGET} HTTP/1.0\r\nHost: ${TARGET}\r\n\r\n`, 505],
    ['a target without a route', 'CONNECT other.example:1 HTTP/1.1\r\nHost: other.example:1\r\n\r\n', 405],
  ] as const) {
    it(`rejects ${name}, and closes the connection`, async () => {
      const upstream = await tcpServer();
      const port = await ownServer(upstream.port, [connectRoute()]);
      const client = await http1Request(port, request);
      expect(client.head).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      await until(() => client.ended, 'the end of the connection');
      expect(upstream.ends).to.be.empty;
    });
  }

  it('rejects what no route allows', async () => {
    const upstream = await tcpServer();
    const port = await ownServer(upstream.port, [{ matchers: [{ connectMatcher: {} }] }]);
    expect((await http1Request(port)).head).to.match(/^HTTP\/1.1 403 /);
    expect(upstream.ends).to.be.empty;
  });

  it('is guarded by the handlers of a chain', async () => {
    const upstream = await tcpServer();
    const guard: Handler = function guard(req, res, next) {
      if (req.headers['proxy-authorization'] === 'Basic YTpi') return next();
      res.writeHead(407, { 'proxy-authenticate': 'Basic' }).end();
    };
    const port = await ownServer(upstream.port, [connectRoute()], guard);
    expect((await http1Request(port)).head).to.match(/^HTTP\/1.1 407 /);
    expect(upstream.ends).to.be.empty;
    const withPassword = CONNECT_REQUEST.replace('\r\n\r\n', '\r\nProxy-Authorization: Basic YTpi\r\n\r\n');
    expect((await http1Request(port, withPassword)).head).to.match(/^HTTP\/1.1 200 /);
  });

  it('closes a tunnel whose client resets its connection', async () => {
    const upstream = await tcpServer();
    const port = await ownServer(upstream.port, [connectRoute()]);
    const client = http1Client(port, CONNECT_REQUEST);
    await until(() => client.text.includes('200'), 'the tunnel');
    client.socket.resetAndDestroy();
    await until(() => upstream.ends[0]!.closed, 'the end of the upstream');
  });

  it('gets 505 in a server of node:http2', async () => {
    const router = createRouter({ accessLog: 'none' });
    const server = createHttp2Server(router as never).on('connect', router.upgrade as never);
    const port = await listen(server as unknown as Parameters<typeof listen>[0]);
    const session = connect(`http://127.0.0.1:${port}`);
    whenDone(async () => {
      session.destroy();
      server.close();
      await router.close();
    });
    const stream = session.request({ ':method': 'CONNECT', ':authority': TARGET });
    const [head] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(head[':status']).to.equal(505);
  });
});
