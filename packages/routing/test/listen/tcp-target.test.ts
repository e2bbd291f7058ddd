import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { createContext, type TcpHost, type TlsConfiguration } from '@edge-gateway/core';
import { client, closeAll, echoServer, talk, tcpGateway, tcpPart, upstreamAt, whenDone } from '../tcp/tcp-gateway.ts';
import { until } from '../tracing/otlp-server.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';
import { startRelay } from './tls/relay.ts';
import { VERSIONS } from './tls/tls-client.ts';
import { leaveHandshakes } from './tls/unfinished-handshake.ts';

const { ca, server, client: pair, otherCa } = certificates();
const REF = { secretRef: { name: 'tls', namespace: 'gw-system' } };
const SECRET = { 'tls.crt': server.cert, 'tls.key': server.key };

type SslConfig = TlsConfiguration['sslConfig'];

/** Serves TLS in front of an echo server. */
async function tlsGateway(
  given: {
    ssl?: Partial<SslConfig>;
    secret?: Record<string, string>;
    proxyProtocol?: boolean;
    format?: string;
    host?: Partial<TcpHost>;
  } = {},
) {
  const { ssl = {}, secret = SECRET, proxyProtocol = false, format, host = {} } = given;
  const secrets = secretsOf({ tls: secret });
  const context = createContext({ secrets });
  const upstreams = [upstreamAt((await echoServer('a')).port)];
  const sslConfigurations = [{ sslConfig: { ...REF, ...ssl }, sniDomains: [] }];
  const part = tcpPart({ sslConfigurations, ...host }, { tls: true });
  const listener = proxyProtocol ? { options: { proxyProtocol: {} } } : {};
  const gateway = await tcpGateway([part], upstreams, { context, listener, ...(format && { format }) });
  return { gateway, secrets, apply: () => gateway.apply([{ ...part }], upstreams) };
}

function open(port: number, options: ConnectionOptions = {}): TLSSocket {
  const socket = connectTls({ port, host: '127.0.0.1', ca, servername: 'api.example.com', ...options });
  socket.on('error', () => {});
  whenDone(() => socket.destroy());
  return socket;
}

/** What an exchange over TLS returns; empty if the connection is closed. */
const ask = (port: number, options: ConnectionOptions = {}): Promise<string> => talk(open(port, options), 'x');

describe('TCP over TLS', () => {
  afterEach(closeAll);

  it('is forwarded only for clients with the required certificate', async () => {
    const { gateway } = await tlsGateway({ secret: { ...SECRET, 'ca.crt': ca } });
    expect(await ask(gateway.port, pair)).to.equal('a:x');
    expect(await ask(gateway.port)).to.equal('');
    expect(gateway.stat('listener.[__]_8080.ssl.fail_verify_no_cert')).to.equal(1);
    const other = await tlsGateway({ secret: { ...SECRET, 'ca.crt': otherCa } });
    expect(await ask(other.gateway.port, pair)).to.equal('');
    expect(gateway.stat('cluster.up_gw-system.upstream_cx_total')).to.equal(1);
    expect(other.gateway.stat('cluster.up_gw-system.upstream_cx_total')).to.equal(0);
  });

  it('negotiates only the configured protocols, and counts failed handshakes', async () => {
    const { gateway } = await tlsGateway({ ssl: { alpnProtocols: ['db'] } });
    const socket = open(gateway.port, { ALPNProtocols: ['other', 'db'] });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).to.equal('db');
    expect(await ask(gateway.port, { ALPNProtocols: ['other'] })).to.equal('');
    await until(() => gateway.stat('listener.[__]_8080.ssl.connection_error') === 1);
  });

  it('has the client of the PROXY header in its log', async () => {
    const { gateway } = await tlsGateway({
      proxyProtocol: true,
      format: '%DOWNSTREAM_REMOTE_ADDRESS% %DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%\n',
    });
    const socket = await client(gateway.port);
    socket.write('PROXY TCP4 192.0.2.7 203.0.113.9 4711 443\r\n');
    expect(await ask(gateway.port, { socket, port: undefined, host: undefined })).to.equal('a:x');
    await until(() => gateway.log().length === 1);
    expect(gateway.log()[0]).to.equal('192.0.2.7:4711 127.0.0.1');
  });

  it('is not served without a valid certificate, other parts are', async () => {
    const context = createContext({ secrets: secretsOf({}) });
    const sslConfigurations = [{ sslConfig: REF, sniDomains: [] }];
    const upstreams = [upstreamAt((await echoServer('a')).port)];
    const plain = tcpPart();
    const gateway = await tcpGateway([plain], upstreams, { context });
    await gateway.apply([tcpPart({ sslConfigurations }, { tls: true }), plain], upstreams).catch(() => {});
    expect(await ask(gateway.port)).to.equal('');
    expect(await talk(await client(gateway.port), 'plain')).to.equal('a:plain');
  });

  it('is served with the last certificate while the new one is invalid', async () => {
    const { gateway, secrets, apply } = await tlsGateway();
    expect(await ask(gateway.port)).to.equal('a:x');
    secrets.set('tls', { 'tls.crt': 'x', 'tls.key': 'x' });
    await apply().catch(() => {});
    expect(await ask(gateway.port)).to.equal('a:x');
  });

  it('ends for clients that leave during the handshake', async () => {
    const { gateway } = await tlsGateway();
    await leaveHandshakes(gateway.port, 'api.example.com');
    await until(() => gateway.stat('listener.[__]_8080.downstream_cx_active') === 0);
    expect(await ask(gateway.port)).to.equal('a:x');
  });

  for (const maxVersion of VERSIONS) {
    it(`is not forwarded if client certificates are required before the end of the handshake (${maxVersion})`, async () => {
      const { gateway, secrets, apply } = await tlsGateway();
      const gate = Promise.withResolvers<void>();
      const relay = await startRelay(gateway.port, { held: gate.promise });
      whenDone(() => relay.close());
      const answer = ask(relay.port, { maxVersion });
      await until(() => relay.received() > 0);
      secrets.set('tls', { ...SECRET, 'ca.crt': ca });
      await apply();
      gate.resolve();
      expect(await answer).to.equal('');
      await until(() => gateway.stat('listener.[__]_8080.downstream_cx_active') === 0);
      expect(gateway.stat('cluster.up_gw-system.upstream_cx_total')).to.equal(0);
      expect(await ask(gateway.port, { ...pair, maxVersion })).to.equal('a:x');
    });
  }

  for (const maxVersion of VERSIONS) {
    it(`is forwarded to the cluster that a returning client names (${maxVersion})`, async () => {
      const { gateway } = await tlsGateway({ host: { forwardsServerName: true, destinations: [] } });
      const options = { servername: 'up_gw-system', rejectUnauthorized: false, maxVersion };
      let session: Buffer | undefined;
      const first = open(gateway.port, options).on('session', (each: Buffer) => (session = each));
      expect(await talk(first, 'x')).to.equal('a:x');
      expect(await ask(gateway.port, { ...options, session })).to.equal('a:x');
    });
  }

  it('continues for a client that has ended its side after the handshake', async () => {
    const context = createContext({ secrets: secretsOf({ tls: SECRET }) });
    const late = createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.resume().on('end', () => socket.end('late'));
    }).listen(0, '127.0.0.1');
    whenDone(() => late.close());
    await once(late, 'listening');
    const part = tcpPart({ sslConfigurations: [{ sslConfig: REF, sniDomains: [] }] }, { tls: true });
    const { port } = late.address() as AddressInfo;
    const gateway = await tcpGateway([part], [upstreamAt(port)], { context });
    const socket = open(gateway.port, { allowHalfOpen: true } as ConnectionOptions);
    await once(socket, 'secureConnect');
    socket.end('x');
    expect(String(await once(socket, 'data'))).to.equal('late');
  });
});
