import { createPrivateKey } from 'node:crypto';
import { createSecureContext, type SecureVersion } from 'node:tls';
import { parseCertificates } from './certificates.ts';

/** PEM texts for one side of a TLS connection. */
export interface TlsTexts {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Root certificates that verify the peer. */
  readonly ca?: string | undefined;
}

/** Names of the texts in messages, e.g. `tls.crt` or the path of a file. */
export type TlsTextNames = Readonly<Record<keyof TlsTexts, string>>;

/** A problem of one text. The message never contains the text. */
export interface TlsTextProblem {
  readonly text: keyof TlsTexts;
  readonly message: string;
}

/** Returns the first problem of the texts: no readable PEM, a key of another certificate, or an error of the TLS library. */
export function tlsTextProblem({ cert, key, ca }: TlsTexts, names: TlsTextNames): TlsTextProblem | undefined {
  const problem = (text: keyof TlsTexts, what: string): TlsTextProblem => ({ text, message: `${names[text]} ${what}` });
  const leaf = cert === undefined ? undefined : parseCertificates(cert)?.[0];
  if (cert !== undefined && !leaf) return problem('cert', NO_CERTIFICATE);
  if (ca !== undefined && !parseCertificates(ca)) return problem('ca', NO_CERTIFICATE);
  if (key === undefined) return undefined;
  try {
    if (leaf && !leaf.checkPrivateKey(createPrivateKey(key))) {
      return problem('key', `does not belong to ${names.cert}`);
    }
  } catch {
    return problem('key', 'does not contain a readable private key');
  }
  try {
    createSecureContext({ cert, key, ca });
  } catch (error) {
    return problem('cert', `cannot be used: ${(error as Error).message}`);
  }
  return undefined;
}

const NO_CERTIFICATE = 'does not contain a readable PEM certificate';

/** Versions of TLS as Node names them, by their names in resources. */
export const TLS_VERSIONS: Readonly<Record<string, SecureVersion | undefined>> = {
  TLSv1_0: 'TLSv1',
  TLSv1_1: 'TLSv1.1',
  TLSv1_2: 'TLSv1.2',
  TLSv1_3: 'TLSv1.3',
};

/** Returns root certificates for Node, which ignores a text without any and would trust the public ones. Throws a `TypeError` for an unreadable one. */
export function parseRoots(pem: string): string[] {
  const roots = parseCertificates(pem);
  if (!roots) throw new TypeError(`it ${NO_CERTIFICATE}`);
  return roots.map(String);
}
