import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { GatewayProcess, until } from './gateway-process.ts';

const CERTIFICATES = new URL('../../../packages/routing/test/upstream/certificates/', import.meta.url).pathname;
const pem = (file: string): string => readFileSync(join(CERTIFICATES, file), 'utf8');
const fingerprintOf = (name: string): string => new X509Certificate(pem(`${name}.crt`)).fingerprint256;

const toUpstream = (port: number, rootCa: string): string => `
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: up }
spec:
  static: { hosts: [{ addr: 127.0.0.1, port: ${port} }] }
  sslConfig: { sni: localhost, sslFiles: { rootCa: ${rootCa} } }
---
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: up }
spec:
  virtualHost:
    domains: ['*']
    routes: [{ matchers: [{ prefix: / }], routeAction: { single: { upstream: { name: up } } } }]
`;

describe('a gateway with certificates from files', () => {
  let gateway: GatewayProcess;
  beforeEach(() => (gateway = new GatewayProcess()));
  afterEach(() => gateway.close());

  const service = (name: string, files: string): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: ${name} }
spec:
  sslConfig:
    sniDomains: [${name}.example.com]
    sslFiles:
      tlsCert: ${gateway.dir}/${files}.crt
      tlsKey: ${gateway.dir}/${files}.key
  virtualHost:
    domains: ['${name}.example.com']
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: ${name} } }]
`;
  /** Writes as `cp` does: the file is empty for a moment. */
  const put = (name: string, files: string): void => {
    for (const ending of ['crt', 'key'])
      writeFileSync(join(gateway.dir, `${files}.${ending}`), pem(`${name}.${ending}`));
  };
  const httpsPort = (): number => gateway.ready.listeners.find(({ protocol }) => protocol === 'https')!.port;

  /** Fingerprint of the certificate that a new connection gets; rejects when there is no handshake. */
  function handshake(name: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const servername = `${name}.example.com`;
      const socket = connect({ host: '127.0.0.1', port: httpsPort(), servername, rejectUnauthorized: false });
      socket.once('error', reject).once('close', () => reject(new Error('closed in the handshake')));
      socket.once('secureConnect', () => {
        resolve(socket.getPeerX509Certificate()!.fingerprint256);
        socket.destroy();
      });
    });
  }
  const statusOf = async (name: string) => {
    const input = (await (await fetch(`${gateway.stats}/snapshots/input`)).json()) as { data: any[] };
    return input.data.find(({ kind, metadata }) => kind === 'VirtualService' && metadata.name === name).status.statuses[
      'gw-system'
    ];
  };

  it('starts with an unreadable pair, serves the others, and serves that pair once it is readable', async () => {
    put('server', 'good');
    gateway.write('good.yaml', service('good', 'good'));
    gateway.write('bad.yaml', service('bad', 'missing'));
    await gateway.start();
    expect(await handshake('good')).to.equal(fingerprintOf('server'));
    const bad = await statusOf('bad');
    expect(bad.state).to.equal('Rejected');
    expect(bad.reason).to.include('missing.crt cannot be read: no such file');
    expect(gateway.errors).to.match(/bad\.yaml:9:\d+/);
    put('client', 'missing');
    await until(
      () =>
        handshake('bad').then(
          () => true,
          () => false,
        ),
      'the repaired pair is served',
    );
    const { state, reason } = await statusOf('bad');
    expect(state).to.equal('Warning');
    expect(reason).to.match(/missing\.crt: certificate \S+ does not cover bad\.example\.com$/);
  });

  it('replaces them under load without a failed handshake', async () => {
    put('server', 'pair');
    gateway.write('a.yaml', service('a', 'pair'));
    await gateway.start();
    const seen = new Map<string, number>();
    const loading = new AbortController();
    const load = Array.from({ length: 4 }, async () => {
      while (!loading.signal.aborted) {
        const got = await handshake('a').catch((error: Error) => error.message);
        seen.set(got, (seen.get(got) ?? 0) + 1);
      }
    });
    for (const name of ['client', 'server']) {
      const since = Date.now();
      put(name, 'pair');
      await until(async () => (await handshake('a')) === fingerprintOf(name), `${name} is served`);
      expect(Date.now() - since).to.be.below(5000);
    }
    loading.abort();
    await Promise.all(load);
    expect([...seen.keys()].sort()).to.deep.equal([fingerprintOf('server'), fingerprintOf('client')].sort());
  });

  it('keeps the old pair when the new one is invalid or deleted, and reports it', async () => {
    put('server', 'pair');
    gateway.write('a.yaml', service('a', 'pair'));
    await gateway.start();
    renameSync(copyOf('client.key'), join(gateway.dir, 'pair.key'));
    await until(() => gateway.errors.includes('pair.key does not belong to'), 'the log reports the key');
    expect(await handshake('a')).to.equal(fingerprintOf('server'));
    expect((await statusOf('a')).state).to.equal('Warning');
    unlinkSync(join(gateway.dir, 'pair.crt'));
    await until(() => gateway.errors.includes('pair.crt cannot be read: no such file'), 'the log reports the file');
    expect(await handshake('a')).to.equal(fingerprintOf('server'));
    const metrics = await (await fetch(`${gateway.stats}/metrics`)).text();
    expect(metrics).to.match(/^gw_certificate_files_update_rejected\S* 2$/m);
  });

  it('verifies an upstream with replaced root certificates, and keeps them when the file becomes invalid', async () => {
    const upstream = createServer({ cert: pem('server.crt'), key: pem('server.key') }, (_req, res) => res.end('safe'));
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const roots = join(gateway.dir, 'roots.crt');
    writeFileSync(roots, pem('other-ca.crt'));
    gateway.write('up.yaml', toUpstream(port, roots));
    await gateway.start();
    const status = async (): Promise<number> => (await fetch(gateway.url)).status;
    try {
      expect(await status()).to.equal(503);
      writeFileSync(roots, pem('ca.crt'));
      await until(async () => (await status()) === 200, 'the new roots are used');
      writeFileSync(roots, 'nonsense');
      await until(
        () => gateway.errors.includes('roots.crt does not contain a readable PEM certificate'),
        'the log reports it',
      );
      expect(await status()).to.equal(200);
    } finally {
      upstream.closeAllConnections();
      upstream.close();
    }
  });

  function copyOf(file: string): string {
    const copy = join(gateway.dir, 'copy');
    writeFileSync(copy, pem(file));
    return copy;
  }
});
