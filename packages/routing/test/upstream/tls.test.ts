import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createServer, type ServerOptions } from 'node:https';
import type { Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createContext, type SnapshotUpstream } from '@edge-gateway/core';
import {
  closeAll,
  gateway,
  get,
  httpUpstream,
  listen,
  snapshotOf,
  until,
  whenDone,
  type Gateway,
} from '../forward/harness.ts';
import { certificatePath, certificates, secretsOf } from './certificates.ts';

const { ca, otherCa, server, client, expired } = certificates();
const sslConfig = { secretRef: { name: 'tls' } };

/** Answers with the server name it was asked for and the subject of the client's certificate. */
async function tlsUpstream(options: ServerOptions = {}): Promise<{ port: number; connections(): number }> {
  let connections = 0;
  const upstream = createServer({ ...server, ...options }, (req, res) => {
    const socket = req.socket as TLSSocket;
    const subject = socket.getPeerCertificate()?.subject?.CN ?? 'nobody';
    res.end(`${socket.servername || 'no name'} from ${subject} by ${socket.getProtocol()}`);
  });
  upstream.on('secureConnection', () => connections++).on('tlsClientError', () => {});
  const port = await listen(upstream as unknown as Server);
  whenDone(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  return { port, connections: () => connections };
}

type Parts = Partial<SnapshotUpstream> & { readonly sni?: string; readonly address?: string };

function tlsSnapshot(port: number, { sni, address = '127.0.0.1', ...parts }: Parts = {}): SnapshotUpstream {
  return snapshotOf(port, { tls: true, endpoints: [{ address, port, weight: 1, sni }], spec: { sslConfig }, ...parts });
}

async function tlsGateway(upstream: SnapshotUpstream, secret: Record<string, string> | undefined): Promise<Gateway> {
  const secrets = secretsOf({});
  secrets.set('tls', secret);
  return gateway({ upstream, context: createContext({ secrets }) });
}

const REFUSED = 'upstream connect error or disconnect/reset before headers. reset reason: remote connection failure';

describe('upstream TLS', () => {
  afterEach(closeAll);

  it("verifies the server against the secret's root, asking for the endpoint's server name", async () => {
    const { port } = await tlsUpstream();
    const gw = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), { 'ca.crt': ca });
    expect((await get(gw.url)).body).to.match(/^api.example.com from nobody by TLSv1.3$/);
  });

  it("uses an endpoint's own TLS, and only fails that endpoint without its secret", async () => {
    const { port } = await tlsUpstream();
    const plain = await httpUpstream((_req, res) => void res.end('plain'));
    const own = { secretRef: { name: 'own' }, sni: 'api.example.com' };
    const endpoints = [
      { address: '127.0.0.1', port: plain, weight: 1 },
      { address: '127.0.0.1', port, weight: 1, sslConfig: own },
    ];
    const secrets = secretsOf({});
    const upstream = snapshotOf(0, { endpoints, spec: {} });
    const gw = await gateway({ upstream, context: createContext({ secrets }) });
    const bodies = async () => [(await get(gw.url)).body, (await get(gw.url)).body].sort();
    const [failed, served] = await bodies();
    expect(served).to.equal('plain');
    expect(failed).not.to.contain('api.example.com');
    secrets.set('own', { 'ca.crt': ca });
    gw.upstreams.apply([upstream]);
    expect(await bodies()).to.deep.equal(['api.example.com from nobody by TLSv1.3', 'plain']);
    secrets.set('own', { 'ca.crt': otherCa });
    gw.upstreams.apply([upstream]);
    expect((await bodies())[1]).not.to.contain('api.example.com');
  });

  it('carries large bodies both ways, unharmed', async () => {
    const body = randomBytes(2_000_000);
    const upstream = createServer(server, (req, res) => void req.pipe(res));
    const port = await listen(upstream as unknown as Server);
    whenDone(() => {
      upstream.closeAllConnections();
      upstream.close();
    });
    const gw = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), { 'ca.crt': ca });
    const echo = async (): Promise<boolean> => {
      const response = await fetch(gw.url, { method: 'POST', body });
      return Buffer.from(await response.arrayBuffer()).equals(body);
    };
    expect(await Promise.all([echo(), echo(), echo(), echo()])).to.deep.equal([true, true, true, true]);
  });

  it('resumes the session of an earlier connection to the same endpoint', async () => {
    const resumed: boolean[] = [];
    const upstream = createServer(server, (req, res) => {
      resumed.push((req.socket as TLSSocket).isSessionReused());
      res.setHeader('connection', 'close').end('ok');
    });
    const port = await listen(upstream as unknown as Server);
    whenDone(() => void upstream.close());
    const gw = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), { 'ca.crt': ca });
    for (let i = 0; i < 3; i++) expect((await get(gw.url)).status).to.equal(200);
    expect(resumed).to.deep.equal([false, true, true]);
    const other = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), { 'ca.crt': otherCa });
    expect((await get(other.url)).status).to.equal(503);
  });

  it('sends the server name of sslConfig, or of the endpoint', async () => {
    const { port } = await tlsUpstream();
    const spec = { sslConfig: { ...sslConfig, sni: 'api.example.com' } };
    const named = await tlsGateway(tlsSnapshot(port, { spec }), { 'ca.crt': ca });
    expect((await get(named.url)).body).to.match(/^api.example.com /);
    const own = await tlsGateway(tlsSnapshot(port, { address: 'localhost' }), { 'ca.crt': ca });
    expect((await get(own.url)).body).to.match(/^localhost /);
  });

  it('sends no server name without autoSniRewrite, and still verifies the name', async () => {
    const { port } = await tlsUpstream();
    const spec = { sslConfig, static: { autoSniRewrite: false } };
    const gw = await tlsGateway(tlsSnapshot(port, { address: 'localhost', spec }), { 'ca.crt': ca });
    expect((await get(gw.url)).body).to.match(/^no name /);
  });

  it("never reads the server name from a request's Host header", async () => {
    const { port, connections } = await tlsUpstream();
    const gw = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), { 'ca.crt': ca });
    for (const host of ['evil.example', 'localhost', 'api.example.com']) {
      expect((await get(gw.url, { headers: { host } })).body).to.match(/^api.example.com /);
    }
    expect(connections()).to.equal(1);
  });

  const refused: Record<string, [Parts, Record<string, string> | undefined, string, ServerOptions?]> = {
    'a server of another root': [{ sni: 'api.example.com' }, { 'ca.crt': otherCa }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    'a server of a root that only we know, without sslConfig': [
      { sni: 'api.example.com', spec: {} },
      undefined,
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    'a server with another name': [{ sni: 'other.example.com' }, { 'ca.crt': ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    'a server whose certificate does not name its address': [{}, { 'ca.crt': ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    'an expired certificate': [{ sni: 'api.example.com' }, { 'ca.crt': ca }, 'CERT_HAS_EXPIRED', expired],
    'a server without the alternative name asked for': [
      { sni: 'api.example.com', spec: { sslConfig: { ...sslConfig, verifySubjectAltName: ['other.example.com'] } } },
      { 'ca.crt': ca },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    'a part of an alternative name': [
      { spec: { sslConfig: { ...sslConfig, verifySubjectAltName: ['example.com'] } } },
      { 'ca.crt': ca },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    'a server that speaks too old a version': [
      {
        sni: 'api.example.com',
        spec: { sslConfig: { ...sslConfig, parameters: { minimumProtocolVersion: 'TLSv1_3' } } },
      },
      { 'ca.crt': ca },
      'ERR_SSL',
      { maxVersion: 'TLSv1.2' },
    ],
  };
  for (const [name, [parts, secret, reason, options]] of Object.entries(refused)) {
    it(`rejects ${name} with 503`, async () => {
      const { port } = await tlsUpstream(options);
      const gw = await tlsGateway(tlsSnapshot(port, parts), secret);
      const answer = await get(gw.url);
      expect(answer).to.include({ status: 503, body: REFUSED });
      expect(gw.outcomes[0]).to.include({ flags: 'UF' });
      expect(gw.outcomes[0]!.cause).to.contain(reason);
    });
  }

  it('accepts one of the configured alternative names, of any type', async () => {
    const { port } = await tlsUpstream();
    const verifySubjectAltName = ['x', 'spiffe://example.com/api'];
    const gw = await tlsGateway(tlsSnapshot(port, { spec: { sslConfig: { ...sslConfig, verifySubjectAltName } } }), {
      'ca.crt': ca,
    });
    expect((await get(gw.url)).status).to.equal(200);
  });

  it('uses the newest allowed version', async () => {
    const { port } = await tlsUpstream();
    const spec = { sslConfig: { ...sslConfig, parameters: { maximumProtocolVersion: 'TLSv1_2' as const } } };
    const gw = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com', spec }), { 'ca.crt': ca });
    expect((await get(gw.url)).body).to.match(/TLSv1.2$/);
  });

  it('sends the client certificate of the secret, unless oneWayTls is set', async () => {
    const { port } = await tlsUpstream({ requestCert: true, rejectUnauthorized: false, ca });
    const secret = { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': client.key };
    const both = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), secret);
    expect((await get(both.url)).body).to.match(/from client /);
    const spec = { sslConfig: { ...sslConfig, oneWayTls: true } };
    const one = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com', spec }), secret);
    expect((await get(one.url)).body).to.match(/from nobody /);
  });

  it('reads certificates from files', async () => {
    const { port } = await tlsUpstream({ requestCert: true, rejectUnauthorized: true, ca });
    const sslFiles = {
      rootCa: certificatePath('ca.crt'),
      tlsCert: certificatePath('client.crt'),
      tlsKey: certificatePath('client.key'),
    };
    const gw = await gateway({
      upstream: tlsSnapshot(port, { sni: 'api.example.com', spec: { sslConfig: { sslFiles } } }),
      context: createContext({ secrets: secretsOf({}) }),
    });
    expect((await get(gw.url)).body).to.match(/from client /);
  });

  const unusable: Record<string, Record<string, string> | undefined> = {
    'a secret that is missing': undefined,
    'a root that is not a certificate': { 'ca.crt': 'nonsense' },
    'a certificate without its key': { 'ca.crt': ca, 'tls.crt': client.cert },
    'a key that does not fit': { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': server.key },
  };
  for (const [name, secret] of Object.entries(unusable)) {
    it(`responds with 503 with ${name}, and never connects`, async () => {
      const { port, connections } = await tlsUpstream();
      const gw = await tlsGateway(tlsSnapshot(port, { sni: 'api.example.com' }), secret);
      expect(await get(gw.url)).to.include({ status: 503, body: 'no healthy upstream' });
      expect(gw.outcomes[0]).to.include({ flags: 'UH' });
      expect(gw.upstreams.get('echo_gw-system')!.pick()).to.equal(undefined);
      expect([connections(), gw.stat('membership_total'), gw.stat('membership_healthy')]).to.deep.equal([0, 1, 0]);
    });
  }

  it('uses a changed secret for new connections after the next apply, in both directions', async () => {
    const { port, connections } = await tlsUpstream();
    const secrets = secretsOf({ tls: { 'ca.crt': ca } });
    const upstream = tlsSnapshot(port, { sni: 'api.example.com' });
    const gw = await gateway({ upstream, context: createContext({ secrets }) });
    expect((await get(gw.url)).status).to.equal(200);
    gw.upstreams.apply([upstream]);
    expect((await get(gw.url)).status).to.equal(200);
    expect(connections()).to.equal(1);
    secrets.set('tls', { 'ca.crt': otherCa });
    gw.upstreams.apply([upstream]);
    expect((await get(gw.url)).status).to.equal(503);
    secrets.set('tls', undefined);
    gw.upstreams.apply([upstream]);
    expect((await get(gw.url)).body).to.equal('no healthy upstream');
    secrets.set('tls', { 'ca.crt': ca });
    gw.upstreams.apply([upstream]);
    expect((await get(gw.url)).status).to.equal(200);
    await until(() => gw.stat('upstream_cx_active') === 1);
  });
});
