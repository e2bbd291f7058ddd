import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../resource/resource.ts';
import type { ObservedProblem } from '../resource/stored.ts';
import type { SslFiles } from '../schema/listener/ssl-config.ts';
import type { SecretValue } from '../contract/snapshot.ts';
import { tlsTextProblem } from '../security/tls-material.ts';
import { readRegularFile, UnusableFile } from './read-file.ts';
import type { ResourceFiles } from './watched-files.ts';

/** Maximum size of a certificate file, in bytes. */
const MAX_FILE_BYTES = 1_048_576;

/** The content of certificate files as a TLS secret, or its first problem. */
export interface ReadFiles {
  readonly secret?: SecretValue;
  readonly problem?: ObservedProblem;
}

/** For each TLS text, the field with its file and the matching entry of a secret. */
const PARTS = [
  { text: 'cert', field: 'tlsCert', entry: 'tls.crt' },
  { text: 'key', field: 'tlsKey', entry: 'tls.key' },
  { text: 'ca', field: 'rootCa', entry: 'ca.crt' },
] as const;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ELOOP: 'too many symbolic links',
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EPERM: 'permission denied',
};

/**
 * Reads and validates certificate files: each must be readable and PEM, the key must belong to the certificate.
 *
 * @example
 * const { secret, problem } = readCertificateFiles({ rootCa: 'ca.crt' });
 */
export function readCertificateFiles(files: SslFiles): ReadFiles {
  const texts: Partial<Record<(typeof PARTS)[number]['text'], string>> = {};
  const data: Record<string, string> = {};
  for (const { text, field, entry } of PARTS) {
    const path = files[field];
    if (!path) continue;
    try {
      const content = readRegularFile(path, MAX_FILE_BYTES);
      texts[text] = content.toString('utf8');
      data[entry] = content.toString('base64');
    } catch (error) {
      return { problem: problemAt(field, `${path} cannot be read: ${reasonOf(error)}`) };
    }
  }
  const { tlsCert: cert = '', tlsKey: key = '', rootCa: ca = '' } = files;
  const bad = tlsTextProblem(texts, { cert, key, ca });
  if (!bad) return { secret: Object.freeze({ type: 'kubernetes.io/tls', data: Object.freeze(data) }) };
  return { problem: problemAt(PARTS.find(({ text }) => text === bad.text)!.field, bad.message) };
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableFile) return `it ${error.message}`;
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? (code || message);
}

function problemAt(field: string, message: string): ObservedProblem {
  return { severity: 'error', path: ['spec', 'sslConfig', 'sslFiles', field], message };
}

/** The certificate files that `sslFiles` names. */
export const certificateFiles: ResourceFiles<SslFiles, SecretValue> = {
  name: 'certificate',
  logger: 'secret',
  // Other kinds do not serve them yet.
  kinds: ['VirtualService', 'Upstream'],
  filesOf: (resource) => (resource as Resource<{ sslConfig?: { sslFiles?: SslFiles } }>).spec.sslConfig?.sslFiles,
  keyOf: (files) => JSON.stringify(PARTS.map(({ field }) => files[field])),
  pathsOf: (files) => PARTS.flatMap(({ field }) => files[field] || []),
  read(files) {
    const { secret: content, problem } = readCertificateFiles(files);
    return { ...(content && { content }), ...(problem && { problem }) };
  },
  /** A listener may serve an earlier version of a resource. */
  isServed: (files, { listeners }) =>
    listeners.some(({ sslConfigurations }) =>
      sslConfigurations.some(({ sslConfig }) => isDeepStrictEqual(sslConfig.sslFiles, files)),
    ),
};
