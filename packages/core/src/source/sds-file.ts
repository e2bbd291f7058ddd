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
import { tlsSettingsIn, tlsSettingsOf, TLS_KINDS } from './tls-settings.ts';
import type { FilesRead, ResourceFiles } from './watched-files.ts';

type Json = Readonly<Record<string, unknown>>;

/** For each part of a certificate, its field in a message of the file. */
const CERTIFICATE = { certificate_chain: 'cert', private_key: 'key', ocsp_staple: 'staple' } as const;
const VALIDATION = { trusted_ca: 'ca' } as const;
/** Links are always followed, so that it has no effect. */
const IGNORED = new Set(['watched_directory']);

/** The names and types of the parts of a file that one `sds` field asks for. */
const WANTED = [
  { field: 'certificatesSecretName', type: 'tls_certificate', parts: CERTIFICATE },
  { field: 'validationContextName', type: 'validation_context', parts: VALIDATION },
] as const;

/** Why a secret cannot be used, and the field that asks for it. */
class InvalidSecret extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** Reads the certificate that `sds` names in a secret discovery file, with the files that are named there. */
function readSdsFile(sds: Sds, path: string): FilesRead<SecretValue> {
  const paths: string[] = [];
  try {
    const secrets = secretsIn(path);
    const parts: CertificateParts = {};
    const fields: Partial<Record<PartKind, string>> = {};
    for (const { field, type, parts: kinds } of WANTED) {
      const name = sds[field];
      if (!name) continue;
      const message = contentOf(secrets, { name, type, field });
      for (const [key, value] of Object.entries(message)) {
        const kind = (kinds as Readonly<Record<string, PartKind>>)[snakeCase(key)];
        if (!kind && IGNORED.has(snakeCase(key))) continue;
        if (!kind) throw new InvalidSecret(field, `secret '${name}' in ${path}: ${key} is not supported`);
        fields[kind] = field;
        parts[kind] = readPart(value, { label: `${key} of secret '${name}' in ${path}`, field, path, paths });
      }
    }
    for (const { field, parts: kinds } of WANTED) {
      const missing = Object.entries(kinds).find(([, kind]) => kind !== 'staple' && !parts[kind]);
      if (sds[field] && missing)
        throw new InvalidSecret(field, `secret '${sds[field]}' in ${path} has no ${missing[0]}`);
    }
    const content = joinCertificate(parts);
    if ('bad' in content) throw new InvalidSecret(fields[content.bad] ?? WANTED[0].field, content.message);
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

interface Wanted {
  readonly name: string;
  readonly type: (typeof WANTED)[number]['type'];
  readonly field: string;
}

/** Returns the certificate or validation context of the secret with a name. */
function contentOf(secrets: readonly Json[], { name, type, field }: Wanted): Json {
  const found = secrets.filter((secret) => secret['name'] === name);
  if (found.length !== 1)
    throw new InvalidSecret(
      field,
      `the file contains ${found.length === 0 ? 'no secret' : 'several secrets'} '${name}'`,
    );
  const [, content] = Object.entries(found[0]!).find(([key]) => snakeCase(key) === type) ?? [];
  if (!isObject(content)) throw new InvalidSecret(field, `secret '${name}' has no ${type}`);
  return content;
}

interface PartPlace {
  /** Names the part in messages. */
  readonly label: string;
  readonly field: string;
  /** The file; relative names in it are relative to its folder. */
  readonly path: string;
  /** Receives the path of a named file. */
  readonly paths: string[];
}

function readPart(value: unknown, { label, field, path, paths }: PartPlace): CertificatePart {
  const sources = isObject(value) ? Object.entries(value).map(([key, text]) => [snakeCase(key), text] as const) : [];
  const [[source, text] = [], ...others] = sources.filter(([key]) => !IGNORED.has(key));
  if (typeof text === 'string' && others.length === 0) {
    if (source === 'filename') {
      const named = resolve(dirname(path), text);
      paths.push(named);
      return readNamed(named, field);
    }
    if (source === 'inline_string') return { name: label, bytes: Buffer.from(text) };
    if (source === 'inline_bytes') return { name: label, bytes: Buffer.from(text, 'base64') };
  }
  throw new InvalidSecret(field, `${label} needs one of filename, inline_string and inline_bytes`);
}

function readNamed(path: string, field: string): CertificatePart {
  try {
    return readCertificateFile(path);
  } catch (error) {
    throw new InvalidSecret(field, (error as Error).message);
  }
}

/** Both forms of a name are valid in the JSON of a message. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
