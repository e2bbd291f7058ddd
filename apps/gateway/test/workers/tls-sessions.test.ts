import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { GatewayProcess, until } from '../gateway-process.ts';
import { numbersOf } from './requests.ts';

const CERTIFICATES = new URL('../../../../packages/routing/test/upstream/certificates/', import.meta.url).pathname;
const pem = (file: string): string => readFileSync(join(CERTIFICATES, file), 'utf8');

interface Handshake {
  readonly isReused: boolean;
  readonly fingerprint: string;
  /** A session of this connection, or the one that it began with. */
  readonly session: Buffer;
}

describe('edge-gateway --workers 2, with TLS', () => {
  let gateway: GatewayProcess;
  beforeEach(() => (gateway = new GatewayProcess()));
  afterEach(() => gateway.close());

  const service = (): string => `
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata: { name: secure }
spec:
  sslConfig: { sslFiles: { tlsCert: ${gateway.dir}/tls.crt, tlsKey: ${gateway.dir}/tls.key } }
  virtualHost:
    domains: ['*']
    routes: [{ matchers: [{ prefix: / }], directResponseAction: { status: 200, body: secure } }]
`;
  const put = (name: string): void => {
    for (const ending of ['key', 'crt']) {
      const path = join(gateway.dir, `tls.${ending}`);
      writeFileSync(`${path}.new`, pem(`${name}.${ending}`));
      renameSync(`${path}.new`, path);
    }
  };

  /** Sends a request, so that a session of TLS 1.3 has arrived before the end. */
  async function ask(maxVersion: 'TLSv1.2' | 'TLSv1.3', session?: Buffer): Promise<Handshake> {
    const { port } = gateway.ready.listeners.find(({ protocol }) => protocol === 'https')!;
    const socket = connect({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      rejectUnauthorized: false,
      maxVersion,
      ...(session && { session }),
    });
    let newest = session;
    socket.on('session', (each: Buffer) => (newest = each));
    await once(socket, 'secureConnect');
    const isReused = socket.isSessionReused();
    const fingerprint = isReused ? '' : new X509Certificate(socket.getPeerCertificate().raw).fingerprint256;
    socket.end('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n').resume();
    await once(socket, 'close');
    return { isReused, fingerprint, session: newest ?? socket.getSession()! };
  }

  const resumedBy = (): Promise<Record<string, number>> => numbersOf(gateway, '^workers\\.\\d\\.downstream_rq_total$');

  /** Resumes one session until both workers have served it. */
  async function resumeEverywhere(maxVersion: 'TLSv1.2' | 'TLSv1.3', session: Buffer): Promise<void> {
    const before = await resumedBy();
    await until(async () => {
      for (let i = 0; i < 8; i++) expect((await ask(maxVersion, session)).isReused, maxVersion).to.equal(true);
      const now = Object.entries(await resumedBy());
      return now.length === 2 && now.every(([name, requests]) => requests > (before[name] ?? 0));
    }, 'every worker resumes the session');
  }

  it('resumes the sessions of each worker at the other one, also after a reload of the certificate', async () => {
    put('server');
    gateway.write('a.yaml', service());
    await gateway.start('--workers', '2');
    const versions = ['TLSv1.2', 'TLSv1.3'] as const;
    for (const version of versions) await resumeEverywhere(version, (await ask(version)).session);

    const before = (await ask('TLSv1.3')).session;
    put('client');
    const wanted = new X509Certificate(pem('client.crt')).fingerprint256;
    await until(async () => {
      const handshakes = await Promise.all(Array.from({ length: 12 }, () => ask('TLSv1.2')));
      return handshakes.every(({ fingerprint }) => fingerprint === wanted);
    }, 'every worker has the new certificate');
    for (const version of versions) await resumeEverywhere(version, (await ask(version)).session);
    // A client that the old certificate identified must authenticate again.
    expect((await ask('TLSv1.3', before)).isReused).to.equal(false);
  });
});
