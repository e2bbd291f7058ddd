import { expect } from 'chai';
import { createServer } from 'node:https';
import type { TlsOptions, TLSSocket } from 'node:tls';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import { closeAll, gateway, get, listen, snapshotOf, whenDone } from '../forward/harness.ts';
import { certificates, secretsOf } from './certificates.ts';

type SslConfig = NonNullable<SnapshotUpstream['spec']['sslConfig']>;

async function tlsGateway(sslConfig: SslConfig, options: TlsOptions = {}) {
  const { ca, server } = certificates();
  const sockets: TLSSocket[] = [];
  const upstream = createServer({ ...server, ...options }, (req, res) => {
    const socket = req.socket as TLSSocket;
    res.end(`${socket.getCipher().name} ${String(socket.alpnProtocol)}`);
  });
  upstream.on('secureConnection', (socket: TLSSocket) => sockets.push(socket)).on('tlsClientError', () => {});
  const port = await listen(upstream);
  whenDone(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const spec = { sslConfig: { secretRef: { name: 'tls' }, sni: 'api.example.com', ...sslConfig } };
  const context = createContext({ secrets: secretsOf({ tls: { 'ca.crt': ca } }) });
  const gw = await gateway({ upstream: snapshotOf(port, { tls: true, spec }), context });
  return { gw, sockets };
}

const TLS12 = { maximumProtocolVersion: 'TLSv1_2' as const };

describe('TLS parameters of an upstream', () => {
  afterEach(closeAll);

  it('offer only the given cipher suites', async () => {
    const cipherSuites = ['[ECDHE-RSA-AES256-GCM-SHA384|ECDHE-ECDSA-AES256-GCM-SHA384]'];
    const { gw } = await tlsGateway({ parameters: { ...TLS12, cipherSuites } });
    expect((await get(gw.url)).body).to.match(/^ECDHE-(RSA|ECDSA)-AES256-GCM-SHA384 /);
    const ciphers = 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256';
    const other = await tlsGateway({ parameters: { ...TLS12, cipherSuites } }, { ciphers });
    expect((await get(other.gw.url)).status).to.equal(503);
  });

  it('offer only the given curves', async () => {
    const same = await tlsGateway({ parameters: { ecdhCurves: ['P-384'] } }, { ecdhCurve: 'P-384' });
    expect((await get(same.gw.url)).status).to.equal(200);
    const other = await tlsGateway({ parameters: { ecdhCurves: ['P-384'] } }, { ecdhCurve: 'X25519' });
    expect((await get(other.gw.url)).status).to.equal(503);
  });

  it('offer http/1.1 by default, the given protocols without h2, or none', async () => {
    const ALPNProtocols = ['h2', 'custom', 'http/1.1'];
    const chosen = async (alpnProtocols?: string[]) => {
      const { gw } = await tlsGateway({ alpnProtocols }, { ALPNProtocols });
      return (await get(gw.url)).body.split(' ')[1];
    };
    expect(await chosen()).to.equal('http/1.1');
    expect(await chosen(['h2', 'custom'])).to.equal('custom');
    expect(await chosen(['allow_empty'])).to.equal('false');
  });

  it('never let the server renegotiate, even with allowRenegotiation', async () => {
    const { gw, sockets } = await tlsGateway({ parameters: TLS12, allowRenegotiation: true });
    expect((await get(gw.url)).status).to.equal(200);
    const socket = sockets[0]!;
    const outcome = new Promise<string>((resolve) => {
      socket.once('error', () => resolve('rejected')).once('close', () => resolve('rejected'));
      socket.renegotiate({}, (error) => resolve(error ? 'rejected' : 'renegotiated'));
    });
    expect(await outcome).to.equal('rejected');
    expect((await get(gw.url)).status).to.equal(200);
  });
});
