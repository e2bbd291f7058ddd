import { readFileSync } from 'node:fs';
import { connect, type SecureVersion } from 'node:tls';
import { expect } from 'chai';
import { createContext, readCertificateFiles, type TlsConfiguration } from '@edge-gateway/core';
import { createListeners, type Listeners } from '../../../src/index.ts';
import { secretsOf } from '../../upstream/certificates.ts';
import { listenerOf, snapshotOf } from '../serving.ts';

const path = (file: string): string => new URL(`ocsp/${file}`, import.meta.url).pathname;
const der = (name: string): Buffer => readFileSync(path(`${name}.der`));
const pem = (file: string): string => readFileSync(path(file), 'utf8');

type SslConfig = TlsConfiguration['sslConfig'];
const filesOf = (name: string, staple?: string): SslConfig => ({
  sslFiles: {
    tlsCert: path(`${name}.crt`),
    tlsKey: path(`${name}.key`),
    ...(staple && { ocspStaple: path(`${staple}.der`) }),
  },
});
const POLICIES = ['LENIENT_STAPLING', 'STRICT_STAPLING', 'MUST_STAPLE'] as const;

/** Returns the stapled response, `none`, or `failed` if the handshake failed. */
function handshake(port: number, { requestOCSP = true, maxVersion = 'TLSv1.3' as SecureVersion } = {}) {
  return new Promise<Buffer | 'none' | 'failed'>((resolve) => {
    const options = { port, host: '127.0.0.1', servername: 'api.example.com', rejectUnauthorized: false };
    const socket = connect({ ...options, requestOCSP, maxVersion });
    let staple: Buffer | undefined;
    socket.on('OCSPResponse', (response: Buffer | null) => {
      if (response && response.length > 0) staple = response;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve('failed'));
    socket.on('data', () => {
      resolve(staple ?? 'none');
      socket.destroy();
    });
    socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nhost: api.example.com\r\n\r\n'));
  });
}

describe('OCSP stapling', () => {
  const secrets = secretsOf({});
  let listeners: Listeners;
  let context: ReturnType<typeof createContext>;
  let port: number;
  beforeEach(() => {
    context = createContext({ secrets });
    const router = { listener: () => (_req: unknown, res: { end(text: string): void }) => res.end('hello') };
    listeners = createListeners({ router, context, host: '127.0.0.1', portOf: () => 0 });
  });
  afterEach(() => listeners.close());

  async function apply(...sslConfigs: SslConfig[]): Promise<string | undefined> {
    const sslConfigurations = sslConfigs.map((sslConfig) => ({ sniDomains: [], sslConfig }));
    const [result] = await listeners.apply(snapshotOf(listenerOf({ ssl: true, sslConfigurations })));
    if (result!.port !== undefined) port = result!.port;
    return result!.error?.message;
  }
  const count = (name: string): number =>
    (context.metrics.list().find((each) => each.name.path.endsWith(`ssl.ocsp_staple_${name}`))!.stat as any).value;

  it('staples the response for clients that ask for it, whatever the policy and version', async () => {
    for (const ocspStaplePolicy of POLICIES) {
      expect(await apply({ ...filesOf('stapled', 'stapled'), ocspStaplePolicy })).to.equal(undefined);
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
        expect(await handshake(port, { maxVersion })).to.deep.equal(der('stapled'));
      expect(await handshake(port, { requestOCSP: false })).to.equal('none');
    }
    expect([count('requests'), count('responses'), count('omitted'), count('failed')]).to.deep.equal([6, 6, 0, 0]);
  });

  it('omits an expired response with LENIENT_STAPLING, and fails otherwise', async () => {
    const results: unknown[] = [];
    for (const ocspStaplePolicy of POLICIES) {
      expect(await apply({ ...filesOf('stapled', 'expired'), ocspStaplePolicy })).to.equal(undefined);
      results.push(await handshake(port));
      expect(await handshake(port, { requestOCSP: false })).to.equal('none');
    }
    expect(results).to.deep.equal(['none', 'failed', 'failed']);
    expect([count('requests'), count('omitted'), count('failed')]).to.deep.equal([3, 1, 2]);
  });

  it('requires a response with MUST_STAPLE only', async () => {
    expect(await apply({ ...filesOf('stapled'), ocspStaplePolicy: 'MUST_STAPLE' })).to.include('need an OCSP response');
    for (const ocspStaplePolicy of ['LENIENT_STAPLING', 'STRICT_STAPLING'] as const) {
      expect(await apply({ ...filesOf('stapled'), ocspStaplePolicy })).to.equal(undefined);
      expect(await handshake(port)).to.equal('none');
    }
  });

  it('requires a response for a certificate with the extension must-staple', async () => {
    expect(await apply(filesOf('must-staple'))).to.include('need an OCSP response');
    expect(await apply(filesOf('must-staple', 'must-staple'))).to.equal(undefined);
    expect(await handshake(port)).to.deep.equal(der('must-staple'));
  });

  it('uses a replaced response of a secret in new handshakes', async () => {
    const secretRef = { name: 'staple', namespace: 'gw-system' };
    const data = { 'tls.crt': pem('stapled.crt'), 'tls.key': pem('stapled.key') };
    secrets.set('staple', data);
    await apply({ secretRef });
    expect(await handshake(port)).to.equal('none');
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const value = { ...Object.fromEntries(encoded), 'tls.ocsp-staple': der('stapled').toString('base64') };
    const get = secrets.get;
    secrets.get = () => ({ type: 'kubernetes.io/tls', data: value });
    try {
      await apply({ secretRef });
      expect(await handshake(port)).to.deep.equal(der('stapled'));
    } finally {
      secrets.get = get;
    }
  });

  it('rejects a response that does not confirm the certificate', () => {
    const problemOf = (tlsCert: string, ocspStaple: string, tlsKey = 'stapled.key'): string => {
      const files = { tlsCert: path(tlsCert), tlsKey: path(tlsKey), ocspStaple: path(ocspStaple) };
      const { problem } = readCertificateFiles(files);
      expect(problem!.path).to.deep.equal(['ocspStaple']);
      return problem!.message.replace(/^.*\//, '');
    };
    expect(problemOf('stapled.crt', 'must-staple.der')).to.equal('must-staple.der is about another certificate');
    expect(problemOf('stapled.crt', 'revoked.der')).to.equal('revoked.der says that the certificate is revoked');
    expect(problemOf('stapled.crt', 'stapled.crt')).to.equal(
      'stapled.crt does not contain a readable OCSP response in DER',
    );
  });
});
