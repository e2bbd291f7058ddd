import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { reasonsOfKey } from '../../src/envoy/certificate-keys.ts';
import { makeCertificates } from '../../../../test/parts/certificates.ts';

const secretOf = (chain: string) => ({
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': Buffer.from(chain).toString('base64') },
});

describe('keys of certificates for Envoys', () => {
  it('are on the curves that Envoy loads', () => {
    for (const curve of ['P-256', 'P-384', 'P-521', 'secp256k1']) {
      const { cert, remove } = makeCertificates(curve);
      const expected = curve === 'secp256k1' ? ['sslConfig with a key on the curve secp256k1'] : [];
      expect(reasonsOfKey(secretOf(readFileSync(cert, 'utf8'))), curve).to.deep.equal(expected);
      remove();
    }
  });

  it('have at least 2,048 bits with RSA', () => {
    for (const [bits, reasons] of [
      [1024, ['sslConfig with an RSA key of 1024 bits']],
      [2048, []],
    ] as const) {
      const args = ['req', '-x509', '-newkey', `rsa:${bits}`, '-nodes', '-subj', '/CN=a', '-keyout', '/dev/null'];
      const chain = execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
      expect(reasonsOfKey(secretOf(chain))).to.deep.equal(reasons);
    }
  });

  it('are not judged without a readable certificate', () => {
    for (const secret of [undefined, { type: 'Opaque', data: {} }, secretOf('no certificate')])
      expect(reasonsOfKey(secret)).to.deep.equal([]);
  });
});
