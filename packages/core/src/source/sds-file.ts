import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { SecretValue } from '../contract/snapshot.ts';
import { parseDocuments } from '../parse/parse.ts';
import type { Sds } from '../schema/listener/ssl-config.ts';
import { sdsFileOf } from '../security/sds-target.ts';
import {
  joinCertificate,
  readCertificateFile,
  type CertificatePart,
  type CertificateParts,
  type PartKind,
} from './certificate-content.ts';
import { InvalidSecret, isObject, readSecret, wantedSecrets, type Json } from './sds-secret.ts';
import { tlsSettingsIn, tlsSettingsOf, TLS_KINDS } from './tls-settings.ts';
import type { FilesRead, ResourceFiles } from './watched-files.ts';

/** Reads the certificate that `sds` names in a secret discovery file, with the files that are named there. */
function readSdsFile(sds: Sds, path: string): FilesRead<SecretValue> {
  const paths: string[] = [];
  const readFile = (named: string): CertificatePart => {
    const resolved = resolve(dirname(path), named);
    paths.push(resolved);
    return readCertificateFile(resolved);
  };
  try {
    const secrets = secretsIn(path);
    const parts: CertificateParts = {};
    const fields: Partial<Record<PartKind, string>> = {};
    for (const wanted of wantedSecrets(sds)) {
      const read = readSecret(secrets, wanted, { name: path, container: 'the file', readFile });
      Object.assign(parts, read);
      for (const kind of Object.keys(read) as PartKind[]) fields[kind] = wanted.field;
    }
    const content = joinCertificate(parts);
    if ('bad' in content) throw new InvalidSecret(fields[content.bad] ?? 'certificatesSecretName', content.message);
    return { content: content.secret, paths };
  } catch (error) {
    const at = error instanceof InvalidSecret ? error.field : 'targetUri';
    return { problem: { severity: 'error', path: [at], message: (error as Error).message }, paths };
  }
}

/** Returns the secrets of a file: a discovery response, or secrets as documents. */
function secretsIn(path: string): readonly Json[] {
  const { bytes } = readCertificateFile(path);
  return parseDocuments(bytes, path).flatMap(({ value, issues }) => {
    const [problem] = issues;
    // Not the message of the problem, which may quote a key.
    if (problem) throw new Error(`${path} is not valid YAML or JSON: line ${problem.origin?.line ?? 1}`);
    if (!isObject(value)) throw new Error(`${path} contains no secrets`);
    const { resources = [value] } = value;
    if (!Array.isArray(resources) || !resources.every(isObject))
      throw new Error(`${path}: resources must be a list of secrets`);
    return resources;
  });
}

/** The secret discovery files that `sds` names. */
export const sdsFiles: ResourceFiles<Sds, SecretValue> = {
  name: 'sds',
  logger: 'secret',
  kinds: TLS_KINDS,
  filesOf: (resource) =>
    tlsSettingsOf(resource).flatMap(({ settings: { sds: files }, at }) =>
      files && sdsFileOf(files) !== undefined ? [{ files, at: [...at, 'sds'] }] : [],
    ),
  keyOf: (sds) => JSON.stringify([sdsFileOf(sds), sds.certificatesSecretName, sds.validationContextName]),
  pathsOf: (sds) => [sdsFileOf(sds)!],
  read: (sds) => readSdsFile(sds, sdsFileOf(sds)!),
  isServed: (files, snapshot) => tlsSettingsIn(snapshot).some(({ sds }) => isDeepStrictEqual(sds, files)),
};
