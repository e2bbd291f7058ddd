import { isDeepStrictEqual } from 'node:util';
import type { ObservedProblem } from '../resource/stored.ts';
import type { SslFiles } from '../schema/listener/ssl-config.ts';
import type { SecretValue } from '../contract/snapshot.ts';
import { joinCertificate, readCertificateFile, type CertificateParts, type PartKind } from './certificate-content.ts';
import { tlsSettingsIn, tlsSettingsOf, TLS_KINDS } from './tls-settings.ts';
import type { ResourceFiles } from './watched-files.ts';

/** The content of certificate files as a TLS secret, or its first problem. */
export interface ReadFiles {
  readonly secret?: SecretValue;
  readonly problem?: ObservedProblem;
}

/** For each part of a certificate, the field with its file. */
const FIELDS: Readonly<Record<PartKind, keyof SslFiles>> = {
  cert: 'tlsCert',
  key: 'tlsKey',
  ca: 'rootCa',
  staple: 'ocspStaple',
};
const KINDS = Object.keys(FIELDS) as PartKind[];

/**
 * Reads and validates certificate files: each must be readable and PEM, the key must belong to the certificate, and an OCSP response
 * must be about it.
 *
 * @example
 * const { secret, problem } = readCertificateFiles({ rootCa: 'ca.crt' });
 */
export function readCertificateFiles(files: SslFiles): ReadFiles {
  const parts: CertificateParts = {};
  for (const kind of KINDS) {
    const path = files[FIELDS[kind]];
    if (!path) continue;
    try {
      parts[kind] = readCertificateFile(path);
    } catch (error) {
      return { problem: problemAt(kind, (error as Error).message) };
    }
  }
  const content = joinCertificate(parts);
  return 'secret' in content ? content : { problem: problemAt(content.bad, content.message) };
}

function problemAt(kind: PartKind, message: string): ObservedProblem {
  return { severity: 'error', path: [FIELDS[kind]], message };
}

/** The certificate files that `sslFiles` names. */
export const certificateFiles: ResourceFiles<SslFiles, SecretValue> = {
  name: 'certificate',
  logger: 'secret',
  kinds: TLS_KINDS,
  filesOf: (resource) =>
    tlsSettingsOf(resource).flatMap(({ settings: { sslFiles: files }, at }) =>
      files ? [{ files, at: [...at, 'sslFiles'] }] : [],
    ),
  keyOf: (files) => JSON.stringify(KINDS.map((kind) => files[FIELDS[kind]])),
  pathsOf: (files) => KINDS.flatMap((kind) => files[FIELDS[kind]] || []),
  read(files) {
    const { secret: content, problem } = readCertificateFiles(files);
    return { ...(content && { content }), ...(problem && { problem }) };
  },
  isServed: (files, snapshot) => tlsSettingsIn(snapshot).some(({ sslFiles }) => isDeepStrictEqual(sslFiles, files)),
};
