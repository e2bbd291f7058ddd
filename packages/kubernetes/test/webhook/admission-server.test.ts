import { readFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { createMetrics, silentLoggers, type ListeningServer } from '@edge-gateway/core';
import { expect } from 'chai';
import { makeCertificates } from '../../../../test/parts/certificates.ts';
import { startAdmissionServer } from '../../src/webhook/admission-server.ts';
import { issueCertificate } from '../../src/webhook/certificate.ts';
import type { AdmissionTarget } from '../../src/webhook/validate-admission.ts';
import { admission, startTestCluster, upstream, virtualService, type TestCluster } from './validated-cluster.ts';

interface Response {
  readonly status: number;
  readonly text: string;
}

const certificate = () =>
  issueCertificate(['127.0.0.1'], { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) });

describe('the server of the admission webhook', () => {
  let cluster: TestCluster;
  let server: ListeningServer;
  let tls: ReturnType<typeof certificate>;
  let preview: AdmissionTarget['preview'];
  const metrics = createMetrics();

  before(async () => {
    cluster = await startTestCluster(upstream('a'));
    tls = certificate();
    const target: AdmissionTarget = {
      settings: () => ({ alwaysAccept: false }),
      isWatched: () => true,
      preview: (change) => preview(change),
    };
    const log = silentLoggers.get('config');
    server = await startAdmissionServer({ target, log, metrics, address: '127.0.0.1', port: 0, tls });
  });
  beforeEach(() => (preview = cluster.controlPlane.preview));
  after(async () => {
    server.close();
    await cluster.controlPlane.close();
  });

  function send(body: string | undefined, options: object = {}, root = tls.root): Promise<Response> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const target = {
        host: '127.0.0.1',
        port: server.port,
        path: '/validation?timeout=10s',
        method: 'POST',
        ca: root,
      };
      const sent = request({ ...target, headers, agent: false, ...options }, (res) => {
        let text = '';
        res.on('data', (chunk) => (text += chunk));
        res.on('end', () => resolve({ status: res.statusCode!, text }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
  const review = (name: string, domain?: string): string =>
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: admission('CREATE', virtualService(name, ['a'], domain)),
    });

  it('answers reviews, and counts them', async () => {
    const good = await send(review('web'));
    expect(good.status).to.equal(200);
    expect(JSON.parse(good.text).response).to.deep.equal({ uid: 'a5e8', allowed: true });
    const { response } = JSON.parse((await send(review('web', 'two words'))).text);
    expect(response.allowed).to.equal(false);
    expect(response.status.details.causes[0].field).to.equal('spec.virtualHost.domains[0]');
    const counts = metrics
      .list()
      .map(({ name, stat }) => [name.labels?.['outcome'], (stat as { value: number }).value]);
    expect(Object.fromEntries(counts)).to.deep.equal({ allowed: 1, rejected: 1, skipped: 0 });
  });

  for (const [what, status, body, options] of [
    ['another path', 404, '{}', { path: '/' }],
    ['another method', 405, undefined, { method: 'GET' }],
    ['another content type', 400, '{}', { headers: { 'content-type': 'text/yaml' } }],
    ['no content type', 400, '{}', { headers: {} }],
    ['no JSON', 400, '{', {}],
    ['another document', 400, '{"kind":"Pod"}', {}],
    [
      'a declared length above the limit',
      413,
      undefined,
      { headers: { 'content-type': 'application/json', 'content-length': 17_000_000 } },
    ],
  ] as const) {
    it(`rejects ${what} with ${status}`, async () => {
      expect((await send(body, options)).status).to.equal(status);
    });
  }

  it('rejects a body above the limit whose length is not declared', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    const big = `"${'x'.repeat(17 * 2 ** 20)}"`;
    // The server may close the connection while the rest is on its way.
    const result = await send(big, { headers }).catch((error: NodeJS.ErrnoException) => error.code);
    if (typeof result === 'string') expect(result).to.be.oneOf(['ECONNRESET', 'EPIPE']);
    else expect(result).to.have.property('status', 413);
  });

  it('serves others while clients announce large reviews and send nothing', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': 15_000_000 };
    const open = Array.from({ length: 10 }, () => {
      const sent = request({
        host: '127.0.0.1',
        port: server.port,
        path: '/validation',
        method: 'POST',
        ca: tls.root,
        headers,
        agent: false,
      });
      sent.on('error', () => {});
      return sent;
    });
    await Promise.all(open.map((sent) => new Promise<void>((resolve) => sent.write('{', () => resolve()))));
    expect((await send(review('web'))).status).to.equal(200);
    for (const sent of open) sent.destroy();
  });

  it('survives nesting without end', async () => {
    const nested = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    const text = review('web').replace('"spec":{', `"spec":{"deep":${nested},`);
    const { status, text: body } = await send(text);
    expect(status === 400 || JSON.parse(body).response.allowed === false, body.slice(0, 200)).to.equal(true);
    expect((await send(review('web'))).status).to.equal(200);
  });

  it('does not answer without TLS', async () => {
    const error = await new Promise<NodeJS.ErrnoException>((resolve, reject) => {
      const sent = plainRequest({ host: '127.0.0.1', port: server.port, path: '/validation', method: 'POST' }, () =>
        reject(new Error('it answered')),
      );
      sent.on('error', resolve);
      sent.end(review('web'));
    });
    expect(error.code).to.be.oneOf(['ECONNRESET', 'HPE_INVALID_CONSTANT', 'EPIPE']);
  });

  it('leaves the decision to the failure policy if it has no configuration, or fails', async () => {
    preview = async () => undefined;
    expect((await send(review('web'))).status).to.equal(503);
    preview = async () => {
      throw new Error('value of a secret');
    };
    expect(await send(review('web'))).to.deep.equal({ status: 500, text: 'failed to validate the change\n' });
  });

  it('requires a certificate of the client CA, if there is one', async () => {
    const client = makeCertificates();
    const read = (file: string): string => readFileSync(file, 'utf8');
    const guarded = await startAdmissionServer({
      target: { settings: () => undefined, isWatched: () => true, preview: async () => undefined },
      log: silentLoggers.get('config'),
      metrics: createMetrics(),
      address: '127.0.0.1',
      port: 0,
      tls: { ...tls, clientCa: read(client.ca) },
    });
    try {
      const path = '/validation';
      const own = { port: guarded.port, path, cert: read(client.cert), key: read(client.key) };
      expect((await send(review('web'), own)).status).to.equal(200);
      const other = { port: guarded.port, path, cert: tls.certificate, key: tls.key };
      for (const options of [{ port: guarded.port, path }, other]) {
        const result = await send(review('web'), options).catch((cause: Error) => cause);
        expect(result).to.be.an('error');
      }
    } finally {
      guarded.close();
      client.remove();
    }
  });

  it('serves another certificate to new connections', async () => {
    const next = certificate();
    server.replaceTls(next);
    expect((await send(review('web'), {}, next.root)).status).to.equal(200);
    const error = await send(review('web')).catch((cause: Error) => cause);
    expect(error).to.be.an('error');
  });
});
