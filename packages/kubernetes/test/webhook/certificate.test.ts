import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { issueCertificate } from '../../src/webhook/certificate.ts';

const NAMES = ['gw.gw-system.svc', '127.0.0.1', '2001:db8::7', '::1'];
const VALIDITY = { from: new Date('2026-01-02T03:04:05Z'), to: new Date('2099-06-07T08:09:10Z') };

describe('issueCertificate', () => {
  let directory: string;
  before(() => (directory = mkdtempSync(join(tmpdir(), 'issued-'))));
  after(() => rmSync(directory, { recursive: true }));

  it('makes a server certificate that openssl verifies with the authority, by every name', () => {
    const { certificate, key, root } = issueCertificate(NAMES, VALIDITY);
    const file = (name: string, text: string): string => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const [ca, leaf] = [file('ca.crt', root), file('tls.crt', certificate)];
    const verify = (...args: string[]): string =>
      execFileSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, ...args, leaf], {
        encoding: 'utf8',
        stdio: 'pipe',
      });
    for (const name of NAMES) {
      const flag = name.includes('svc') ? '-verify_hostname' : '-verify_ip';
      expect(verify(flag, name), name).to.match(/: OK/);
    }
    expect(() => verify('-verify_hostname', 'other.gw-system.svc')).to.throw(/mismatch/i);
    const parsed = new X509Certificate(certificate);
    expect(parsed.checkPrivateKey(createPrivateKey(key))).to.equal(true);
    expect(new Date(parsed.validFrom).toISOString()).to.equal('2026-01-02T03:04:05.000Z');
    expect(new Date(parsed.validTo).toISOString()).to.equal('2099-06-07T08:09:10.000Z');
    expect(parsed.ca).to.equal(false);
    expect(new X509Certificate(root).ca).to.equal(true);
    const text = execFileSync('openssl', ['x509', '-in', ca, '-noout', '-ext', 'basicConstraints'], {
      encoding: 'utf8',
    });
    expect(text).to.match(/critical\s+CA:TRUE, pathlen:0/);
  });

  it('makes another authority each time, which does not verify other certificates', () => {
    const [one, two] = [issueCertificate(NAMES, VALIDITY), issueCertificate(NAMES, VALIDITY)];
    const [root, other] = [new X509Certificate(one.root), new X509Certificate(two.root)];
    expect(root.subject).to.not.equal(other.subject);
    expect(root.serialNumber).to.not.equal(other.serialNumber);
    const leaf = new X509Certificate(one.certificate);
    expect(leaf.verify(root.publicKey)).to.equal(true);
    expect(leaf.verify(other.publicKey)).to.equal(false);
  });
});
