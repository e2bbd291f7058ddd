import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory with `ca.crt`, and `tls.crt` with `tls.key` that this authority signed for 127.0.0.1 and localhost. */
export interface Certificates {
  readonly directory: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  remove(): void;
}

/** Makes an authority and a certificate with the program `openssl`. Each authority is another. */
export function makeCertificates(): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...key, '-subj', '/CN=Test CA', '-days', '2', '-keyout', at('ca.key'), '-out', at('ca.crt'));
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost', '-addext', 'basicConstraints=CA:FALSE'];
  const signer = ['-CA', at('ca.crt'), '-CAkey', at('ca.key')];
  const out = ['-keyout', at('tls.key'), '-out', at('tls.crt')];
  openssl('req', '-x509', ...signer, ...key, '-subj', '/CN=localhost', '-days', '2', ...names, ...out);
  return {
    directory,
    ca: at('ca.crt'),
    cert: at('tls.crt'),
    key: at('tls.key'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
