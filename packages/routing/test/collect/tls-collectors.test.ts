import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { createContext, type Context, type SnapshotUpstream } from '@edge-gateway/core';
import { createRouter } from '../../src/router.ts';
import { directOf, endpointOf, hostOf, LISTENER, snapshotOf, start, stopAll, upstreamOf } from '../snapshots.ts';
import { startOtlp, type OtlpServer } from '../tracing/otlp-server.ts';
import { certificates, secretsOf } from '../upstream/certificates.ts';

const { ca, otherCa, server, client } = certificates();
const TRUSTED = { 'ca.crt': ca, 'tls.crt': client.cert, 'tls.key': client.key };
const CLIENT_CERTIFICATE_REQUIRED = ServerCredentials.createSsl(
  Buffer.from(ca),
  [{ cert_chain: Buffer.from(server.cert), private_key: Buffer.from(server.key) }],
  true,
);
const sslConfig = { secretRef: { name: 'tls', namespace: 'gw-system' }, sni: 'api.example.com' };

describe('collectors over TLS', () => {
  let collector: OtlpServer;
  let https: Server;
  /** Path and client of each call over HTTPS. */
  let calls: string[];
  let context: Context;
  let secrets: ReturnType<typeof secretsOf>;

  beforeEach(async () => {
    secrets = secretsOf({ tls: TRUSTED });
    context = createContext({ secrets });
    calls = [];
    collector = await startOtlp(0, CLIENT_CERTIFICATE_REQUIRED);
    https = createServer({ ...server, ca, requestCert: true, rejectUnauthorized: true }, (req, res) => {
      req.resume().on('end', () => {
        calls.push(`${req.url} ${(req.socket as TLSSocket).getPeerCertificate().subject.CN}`);
        res.writeHead(202).end();
      });
    });
    https.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => https.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await collector.close();
    https.closeAllConnections();
    await new Promise((resolve) => https.close(resolve));
    await stopAll();
  });

  const httpsPort = (): number => (https.address() as AddressInfo).port;

  /** A gateway with these options serves a request, and is closed. */
  async function serveOnce({ tracing, log }: { tracing?: object; log?: object }, port: number): Promise<void> {
    const upstream: SnapshotUpstream = {
      ...upstreamOf([endpointOf(port)], 'collector'),
      tls: true,
      spec: { sslConfig },
    };
    const router = createRouter({ context });
    const httpOptions = tracing ? { httpConnectionManagerSettings: { tracing } } : {};
    const options = log ? { accessLoggingService: { accessLog: [log] } } : {};
    router.apply(snapshotOf([hostOf([directOf('ok')])], [upstream], { httpOptions, options } as never));
    const handler = router.listener(LISTENER);
    const { port: own } = await start((req, res) => handler(req, res, () => res.destroy()));
    expect((await fetch(`http://127.0.0.1:${own}/`)).status).to.equal(200);
    await router.close();
  }

  const stat = (path: string): number => {
    const found = context.metrics.list().find(({ name }) => name.path === path);
    return found && found.type !== 'histogram' ? found.stat.value : 0;
  };

  const clusterName = 'collector_gw-system';
  const spansDropped = (): number => stat(`tracing.${clusterName}.spans_dropped`);
  const logsDropped = (endpoint: string): number =>
    stat(`access_log.${endpoint.replaceAll(/[^A-Za-z0-9_-]+/g, '_')}.lines_dropped`);

  it('receive spans over gRPC and HTTPS with the certificate of the gateway', async () => {
    await serveOnce({ tracing: { openTelemetryConfig: { clusterName } } }, collector.port);
    expect(collector.spans).to.have.lengthOf(1);
    await serveOnce({ tracing: { zipkinConfig: { clusterName } } }, httpsPort());
    await serveOnce({ tracing: { datadogConfig: { clusterName } } }, httpsPort());
    expect(calls).to.have.lengthOf(2);
    expect(calls[0]).to.match(/^\/api\/v2\/spans ./);
    expect(calls[1]).to.match(/^\/v0\.4\/traces ./);
    expect(spansDropped()).to.equal(0);
  });

  it('receive log entries over gRPC and HTTPS with the certificate of the gateway', async () => {
    const serviceOf = (endpoint: string) => ({
      openTelemetryService: { collector: { endpoint, sslConfig }, body: '%RESPONSE_CODE%' },
    });
    await serveOnce({ log: serviceOf(`127.0.0.1:${collector.port}`) }, 1);
    expect(collector.logs.map(({ body }) => body?.string_value)).to.deep.equal(['200']);
    await serveOnce({ log: serviceOf(`https://127.0.0.1:${httpsPort()}`) }, 1);
    expect(calls).to.have.lengthOf(1);
    expect(calls[0]).to.match(/^\/v1\/logs ./);
  });

  for (const [name, data] of [
    ['whose authority is not trusted', { ...TRUSTED, 'ca.crt': otherCa }],
    ['without a secret', undefined],
    ['that wants a certificate which the gateway lacks', { 'ca.crt': ca }],
  ] as const) {
    it(`receive nothing ${name}, and requests are served`, async () => {
      secrets.set('tls', data);
      await serveOnce({ tracing: { openTelemetryConfig: { clusterName } } }, collector.port);
      await serveOnce({ tracing: { zipkinConfig: { clusterName } } }, httpsPort());
      const endpoints = [`127.0.0.1:${collector.port}`, `https://127.0.0.1:${httpsPort()}`];
      for (const endpoint of endpoints) {
        await serveOnce({ log: { openTelemetryService: { collector: { endpoint, sslConfig, timeout: '1s' } } } }, 1);
        expect(logsDropped(endpoint), endpoint).to.equal(1);
      }
      expect([collector.spans.length, collector.logs.length, calls.length]).to.deep.equal([0, 0, 0]);
      expect(spansDropped()).to.equal(2);
    }).timeout(30_000);
  }

  it('receive nothing for another name than that of their certificate', async () => {
    const endpoint = `https://127.0.0.1:${httpsPort()}`;
    const other = { ...sslConfig, sni: 'other.example.com', verifySubjectAltName: ['other.example.com'] };
    await serveOnce({ log: { openTelemetryService: { collector: { endpoint, sslConfig: other } } } }, 1);
    expect([calls.length, logsDropped(endpoint)]).to.deep.equal([0, 1]);
  });
});
