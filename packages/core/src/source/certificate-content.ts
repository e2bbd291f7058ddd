import type { SecretValue } from '../contract/snapshot.ts';
import { OCSP_STAPLE, stapleProblem } from '../security/ocsp.ts';
import { tlsTextProblem } from '../security/tls-material.ts';
import { readRegularFile, UnusableFile } from './read-file.ts';

/** Maximum size of a certificate file, in bytes. */
const MAX_FILE_BYTES = 1_048_576;

const ENTRIES = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt', staple: OCSP_STAPLE } as const;

/** The kind of a part of a TLS secret. */
export type PartKind = keyof typeof ENTRIES;

/** A part of a TLS secret, and the file or name that it comes from. */
export interface CertificatePart {
  readonly name: string;
  readonly bytes: Buffer;
}

export type CertificateParts = Partial<Record<PartKind, CertificatePart>>;

/** The parts as a TLS secret, or the part with the first problem. */
export type CertificateContent =
  | { readonly secret: SecretValue }
  | { readonly bad: PartKind; readonly message: string };

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ELOOP: 'too many symbolic links',
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EPERM: 'permission denied',
};

/** Reads a certificate file of at most 1 MiB. Throws an `Error` that names it. */
export function readCertificateFile(path: string): CertificatePart {
  try {
    return { name: path, bytes: readRegularFile(path, MAX_FILE_BYTES) };
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableFile) return `it ${error.message}`;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? (code || message);
}

/** Validates the parts of a certificate, and joins them. */
export function joinCertificate(parts: CertificateParts): CertificateContent {
  const { cert, key, ca, staple } = parts;
  const text = (part: CertificatePart | undefined): string | undefined => part?.bytes.toString('utf8');
  const texts = { cert: text(cert), key: text(key), ca: text(ca) };
  const names = { cert: cert?.name ?? '', key: key?.name ?? '', ca: ca?.name ?? '' };
  const bad = tlsTextProblem(texts, names);
  if (bad) return { bad: bad.text, message: bad.message };
  const problem = staple && stapleProblem(staple.bytes, texts.cert);
  if (problem) return { bad: 'staple', message: `${staple.name} ${problem}` };
  const data: Record<string, string> = {};
  for (const [kind, { bytes }] of Object.entries(parts)) data[ENTRIES[kind as PartKind]] = bytes.toString('base64');
  return { secret: Object.freeze({ type: 'kubernetes.io/tls', data: Object.freeze(data) }) };
}
