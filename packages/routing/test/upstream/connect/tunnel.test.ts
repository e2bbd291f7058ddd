import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { compileTunnel } from '../../../src/upstream/connect/tunnel.ts';
import { closeAll, gateway, get, httpUpstream, listen, snapshotOf, whenDone } from '../../forward/harness.ts';
import { certificates, secretsOf } from '../certificates.ts';

const { ca, otherCa, server } = certificates();

interface Proxy {
  readonly port: number;
  /** Heads of the CONNECT requests. */
  readonly heads: string[];
}

/** An HTTP proxy that connects to `port` whatever the name, or responds with `answer`. */
async function httpProxy(
  port: number,
  { tls = false, answer = '', status = '200 Connection established' } = {},
): Promise<Proxy> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', (head) => {
      heads.push(head.toString('latin1'));
      if (answer !== '') return void socket.end(answer);
      const origin = connect(port, '127.0.0.1', () => {
        socket.write(`HTTP/1.1 ${status}\r\nvia: test\r\n\r\n`);
        socket.pipe(origin).pipe(socket);
      });
      sockets.add(origin.on('error', () => socket.destroy()));
    });
  };
  const listener: Server = tls ? createTlsServer(server, serve) : createServer(serve);
  listener.on('tlsClientError', () => {});
  const own = await listen(listener);
  whenDone(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return { port: own, heads };
}

async function tlsOrigin(): Promise<number> {
  const origin = createHttpsServer(server, (req, res) => void req.pipe(res));
  const port = await listen(origin);
  whenDone(() => {
    origin.closeAllConnections();
    origin.close();
  });
  return port;
}

const context = () => createContext({ secrets: secretsOf({ tls: { 'ca.crt': ca }, other: { 'ca.crt': otherCa } }) });
const sslConfig = { secretRef: { name: 'tls' } };

const through = (proxy: Proxy, spec: SnapshotUpstream['spec'], parts: Partial<SnapshotUpstream> = {}) =>
  snapshotOf(proxy.port, {
    endpoints: [{ address: 'localhost', port: proxy.port, weight: 1 }],
    spec: { httpProxyHostname: 'api.example.com:443', ...spec },
    ...parts,
  });

describe('httpProxyHostname', () => {
  for (const [name, address, port] of [
    ['api.example.com', 'api.example.com', 80],
    ['api.example.com:80', 'api.example.com', 80],
    ['api.example.com:8443', 'api.example.com', 8443],
    ['[2001:db8::1]', '2001:db8::1', 80],
  ] as const)
    it(`names port ${port} with ${name}`, () => {
      const tunnel = compileTunnel(snapshotOf(1, { spec: { httpProxyHostname: name } }), undefined);
      expect(tunnel?.server).to.deep.equal({ address, port, weight: 1 });
      expect(tunnel?.request).to.equal(`CONNECT ${name} HTTP/1.1\r\nhost: ${name}\r\n\r\n`);
    });
});

describe('an upstream behind an HTTP proxy', () => {
  afterEach(closeAll);

  it('is reached by CONNECT with the given headers, over a connection that is kept', async () => {
    const proxy = await httpProxy(await httpUpstream((req, res) => void res.end(`hello ${req.url}`)));
    const httpConnectHeaders = [{ key: 'Proxy-Authorization', value: 'Basic dXNlcjpwYXNz' }];
    const gw = await gateway({ upstream: through(proxy, { httpConnectHeaders }), context: context() });
    expect([(await get(`${gw.url}/1`)).body, (await get(`${gw.url}/2`)).body]).to.deep.equal(['hello /1', 'hello /2']);
    expect(proxy.heads).to.deep.equal([
      'CONNECT api.example.com:443 HTTP/1.1\r\nhost: api.example.com:443\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n',
    ]);
  });

  it('is verified by its own name, in a tunnel through a proxy with or without TLS', async () => {
    const origin = await tlsOrigin();
    const body = randomBytes(500_000);
    for (const tls of [false, true]) {
      const proxy = await httpProxy(origin, { tls });
      const spec = { sslConfig, ...(tls && { httpConnectSslConfig: sslConfig }) };
      const gw = await gateway({ upstream: through(proxy, spec, { tls: true }), context: context() });
      const response = await fetch(gw.url, { method: 'POST', body });
      expect(response.status).to.equal(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).to.equal(true);
    }
  });

  it('responds with 503 if the origin or the proxy cannot be verified', async () => {
    const proxy = await httpProxy(await tlsOrigin(), { tls: true });
    const other = { secretRef: { name: 'other' } };
    const wrong: SnapshotUpstream['spec'][] = [
      { sslConfig: other, httpConnectSslConfig: sslConfig },
      { sslConfig, httpConnectSslConfig: other },
      { sslConfig, httpConnectSslConfig: { ...sslConfig, sni: 'other.example.com' } },
      { sslConfig, httpConnectSslConfig: sslConfig, httpProxyHostname: 'other.example.com:443' },
    ];
    for (const spec of wrong) {
      const gw = await gateway({ upstream: through(proxy, spec, { tls: true }), context: context() });
      expect((await get(gw.url)).status).to.equal(503);
      expect(gw.outcomes[0]).to.include({ flags: 'UF' });
    }
  });

  it('is reached if the proxy responds with any 2xx', async () => {
    const origin = await httpUpstream((_req, res) => void res.end('hello'));
    const gw = await gateway({
      upstream: through(await httpProxy(origin, { status: '204 No Content' }), {}),
      context: context(),
    });
    expect((await get(gw.url)).body).to.equal('hello');
  });

  const answers: Record<string, readonly [answer: string, cause: string]> = {
    'refuses the tunnel': [
      'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n',
      'the proxy rejected the tunnel with status 407',
    ],
    'does not speak HTTP': ['SSH-2.0-OpenSSH_9.6\r\n\r\n', 'the response of the proxy is invalid'],
    'closes the connection': ['HTTP/1.1 200', 'the proxy closed the connection'],
    'never ends its head': [
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`,
      'the response of the proxy is invalid: the head is too long',
    ],
  };
  for (const [name, [answer, cause]] of Object.entries(answers)) {
    it(`responds with 503 if the proxy ${name}`, async () => {
      const proxy = await httpProxy(0, { answer });
      const gw = await gateway({ upstream: through(proxy, {}), context: context() });
      expect((await get(gw.url)).status).to.equal(503);
      expect(gw.outcomes[0]!.cause).to.contain(cause);
      expect(gw.stat('upstream_cx_connect_fail')).to.equal(1);
    });
  }

  it('responds with 503 if the proxy is silent longer than the connect timeout', async () => {
    const silent = createHttpServer().on('connect', () => {});
    const port = await listen(silent);
    whenDone(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const spec = { connectionConfig: { connectTimeout: '0.1s' } };
    const gw = await gateway({ upstream: through({ port, heads: [] }, spec), context: context() });
    expect((await get(gw.url)).status).to.equal(503);
    expect(gw.outcomes[0]!.cause).to.contain('no connection after 100 ms');
  });
});
