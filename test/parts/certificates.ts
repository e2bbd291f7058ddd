import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files of a certificate and its private key. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A directory with `ca.crt`, and `tls.crt` with `tls.key` that this authority signed for 127.0.0.1 and localhost. */
export interface Certificates extends IssuedCertificate {
  readonly directory: string;
  readonly ca: string;
  /** Issues a further certificate with a common name, and with subject alternative names as openssl writes them, such as `URI:a:b,DNS:c`. */
  issue(name: string, alternatives?: string): IssuedCertificate;
  remove(): void;
}

/** Makes an authority and a certificate with the program `openssl`, with keys on a curve. Each authority is another. */
export function makeCertificates(curve = 'P-256'): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`, '-nodes'];
  openssl('req', '-x509', ...key, '-subj', '/CN=Test CA', '-days', '90', '-keyout', at('ca.key'), '-out', at('ca.crt'));
  function issue(name: string, alternatives?: string, file = name): IssuedCertificate {
    const names = alternatives === undefined ? [] : ['-addext', `subjectAltName=${alternatives}`];
    const signer = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), ...names, '-addext', 'basicConstraints=CA:FALSE'];
    const [cert, keyFile] = [at(`${file}.crt`), at(`${file}.key`)];
    openssl('req', '-x509', ...signer, ...key, '-subj', `/CN=${name}`, '-days', '90', '-keyout', keyFile, '-out', cert);
    return { cert, key: keyFile };
  }
  return {
    directory,
    ca: at('ca.crt'),
    ...issue('localhost', 'IP:127.0.0.1,DNS:localhost', 'tls'),
    issue: (name, alternatives) => issue(name, alternatives),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
