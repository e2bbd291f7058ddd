import { expect } from 'chai';
import { createServer as createHttp2Server, type Http2Session } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer } from 'node:net';
import { createContext } from '@edge-gateway/core';
import { prefaceOf, type ClientAddresses } from '../../../src/upstream/connect/proxy-header.ts';
import { closeAll, gateway, get, listen, rawUpstream, snapshotOf, whenDone } from '../../forward/harness.ts';
import { certificates, secretsOf } from '../certificates.ts';
import { keepAliveClient } from './clients.ts';

const V4: ClientAddresses = {
  remoteAddress: '::ffff:192.0.2.7',
  remotePort: 4711,
  localAddress: '203.0.113.9',
  localPort: 443,
};
const V6: ClientAddresses = {
  remoteAddress: '2001:db8::7',
  remotePort: 1,
  localAddress: '2001:db8:0:1::9',
  localPort: 65535,
};
const MIXED: ClientAddresses = { ...V6, localAddress: '203.0.113.9' };
const SIGNATURE = '0d0a0d0a000d0a515549540a';

describe('PROXY header', () => {
  afterEach(closeAll);

  const texts: Record<string, [ClientAddresses | undefined, string]> = {
    'both ends in IPv4, also if the socket is dual-stack': [V4, 'PROXY TCP4 192.0.2.7 203.0.113.9 4711 443\r\n'],
    'both ends in IPv6': [V6, 'PROXY TCP6 2001:db8::7 2001:db8:0:1::9 1 65535\r\n'],
    'no addresses of different families': [MIXED, 'PROXY UNKNOWN\r\n'],
    'no addresses without a client': [undefined, 'PROXY UNKNOWN\r\n'],
  };
  for (const [name, [client, text]] of Object.entries(texts)) {
    it(`of version 1 contains ${name}`, () => {
      expect(prefaceOf('V1', client)?.toString('latin1')).to.equal(text);
    });
  }

  const binary: Record<string, [ClientAddresses | undefined, string]> = {
    'both ends in IPv4': [V4, '2111000cc0000207cb007109126701bb'],
    'both ends in IPv6': [V6, '2121002420010db800000000000000000000000720010db80000000100000000000000090001ffff'],
    'the command LOCAL without a client': [undefined, '20000000'],
  };
  for (const [name, [client, hex]] of Object.entries(binary)) {
    it(`of version 2 contains ${name}`, () => {
      expect(prefaceOf('V2', client)?.toString('hex')).to.equal(SIGNATURE + hex);
    });
  }

  it('is not sent without proxyProtocolVersion', () => {
    expect(prefaceOf(undefined, V4)).to.equal(undefined);
  });

  it('precedes the first request of each connection, with the address of its client', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec: { proxyProtocolVersion: 'V1' } }) });
    const client = await keepAliveClient(gw.port);
    expect([await client.get('/1'), await client.get('/2')]).to.deep.equal(['ok', 'ok']);
    const line = `PROXY TCP4 127.0.0.1 127.0.0.1 ${client.port} ${gw.port}\r\n`;
    expect(upstream.requests[0]).to.match(new RegExp(`^${line}GET /1 HTTP`));
    expect(upstream.requests[1]).to.match(/^GET \/2 HTTP/);
    expect(upstream.connections).to.equal(1);
  });

  it('never lets a client use the connection of another one, even at the limit of connections', async () => {
    const upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    const spec = { proxyProtocolVersion: 'V1' as const, circuitBreakers: { maxConnections: 1 } };
    const gw = await gateway({ upstream: snapshotOf(upstream.port, { spec }) });
    const clients = await Promise.all([keepAliveClient(gw.port), keepAliveClient(gw.port), keepAliveClient(gw.port)]);
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(clients.map((client, i) => client.get(`/${client.port}/${i}`)));
      expect(answers).to.deep.equal(['ok', 'ok', 'ok']);
    }
    expect(upstream.requests).to.have.length(6);
    let announced = '';
    for (const text of upstream.requests) {
      announced = /^PROXY TCP4 \S+ \S+ (\d+)/.exec(text)?.[1] ?? announced;
      expect(/GET \/(\d+)\//.exec(text)![1]).to.equal(announced);
    }
  });

  it('never lets a client use the HTTP/2 connection of another one', async () => {
    const announced = new WeakMap<Http2Session, string>();
    let last = '';
    const http2 = createHttp2Server()
      .on(
        'session',
        (session) =>
          void announced.set(
            session.on('error', () => {}),
            last,
          ),
      )
      .on('stream', (stream) => {
        stream.respond({ ':status': 200 });
        stream.end(announced.get(stream.session!));
      });
    const front = createServer((socket) => {
      whenDone(() => void socket.destroy());
      socket.once('data', (chunk) => {
        const end = chunk.indexOf('\n') + 1;
        last = /^PROXY TCP4 \S+ \S+ (\d+)/.exec(chunk.toString('latin1', 0, end))?.[1] ?? '';
        socket.pause().unshift(chunk.subarray(end));
        http2.emit('connection', socket);
      });
    });
    const port = await listen(front);
    whenDone(() => void front.close());
    const spec = { useHttp2: true, proxyProtocolVersion: 'V1' as const };
    const gw = await gateway({ upstream: snapshotOf(port, { spec }) });
    const clients = await Promise.all([keepAliveClient(gw.port), keepAliveClient(gw.port)]);
    for (let round = 0; round < 2; round++) {
      for (const client of clients) expect(await client.get('/')).to.equal(String(client.port));
    }
    expect(gw.stat('upstream_cx_total')).to.equal(2);
  });

  it('precedes the TLS handshake', async () => {
    const { ca, server } = certificates();
    const secure = createTlsServer(server, (_req, res) => void res.end('safe'));
    const securePort = await listen(secure);
    let header = '';
    const front = createServer((socket) => {
      socket.once('data', (chunk) => {
        header = chunk.toString('latin1', 0, chunk.indexOf('\n') + 1);
        socket.unshift(chunk.subarray(header.length));
        socket.pipe(connect(securePort, '127.0.0.1')).pipe(socket);
      });
    });
    const port = await listen(front);
    whenDone(() => {
      secure.closeAllConnections();
      secure.close();
      front.close();
    });
    const spec = { proxyProtocolVersion: 'V1' as const, sslConfig: { secretRef: { name: 'tls' }, sni: 'localhost' } };
    const context = createContext({ secrets: secretsOf({ tls: { 'ca.crt': ca } }) });
    const gw = await gateway({ upstream: snapshotOf(port, { tls: true, spec }), context });
    expect((await get(gw.url)).body).to.equal('safe');
    expect(header).to.match(/^PROXY TCP4 127.0.0.1 127.0.0.1 \d+ \d+\r\n$/);
  });
});
