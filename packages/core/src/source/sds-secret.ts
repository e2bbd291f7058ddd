import type { Sds } from '../schema/listener/ssl-config.ts';
import type { CertificatePart, CertificateParts, PartKind } from './certificate-content.ts';

export type Json = Readonly<Record<string, unknown>>;

/** For each part of a certificate, its field in a message. */
const CERTIFICATE = { certificate_chain: 'cert', private_key: 'key', ocsp_staple: 'staple' } as const;
const VALIDATION = { trusted_ca: 'ca' } as const;
/** Links are always followed, so that it has no effect. */
const IGNORED = new Set(['watched_directory']);

/** A secret that an `sds` field asks for: the field with its name, its type, and the parts of a certificate in it. */
export interface SecretKind {
  readonly field: 'certificatesSecretName' | 'validationContextName';
  readonly type: 'tls_certificate' | 'validation_context';
  readonly parts: Readonly<Record<string, PartKind>>;
}

const KINDS: readonly SecretKind[] = [
  { field: 'certificatesSecretName', type: 'tls_certificate', parts: CERTIFICATE },
  { field: 'validationContextName', type: 'validation_context', parts: VALIDATION },
];

/** A secret by its name and kind. */
export interface WantedSecret extends SecretKind {
  readonly name: string;
}

/** Returns the secrets that an `sds` field asks for. */
export function wantedSecrets(sds: Sds): WantedSecret[] {
  return KINDS.flatMap((kind) => {
    const name = sds[kind.field];
    return name ? [{ ...kind, name }] : [];
  });
}

/** Why a secret cannot be used. Its message contains no part of the secret. */
export class InvalidSecret extends Error {
  /** The field that asks for it. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

export interface SecretSource {
  /** Where the secrets come from, for messages: a path or a server. */
  readonly name: string;
  /** E.g. `the file`. */
  readonly container: string;
  /** Reads a file that a secret names. Missing if it may not name files. */
  readonly readFile?: (path: string) => CertificatePart;
}

/** Returns the parts of a secret in a list of messages. Throws an {@link InvalidSecret}. */
export function readSecret(secrets: readonly Json[], wanted: WantedSecret, source: SecretSource): CertificateParts {
  const { name, field, parts: kinds } = wanted;
  const message = contentOf(secrets, wanted, source.container);
  const parts: CertificateParts = {};
  for (const [key, value] of Object.entries(message)) {
    const kind = kinds[snakeCase(key)];
    if (!kind && IGNORED.has(snakeCase(key))) continue;
    if (!kind) throw new InvalidSecret(field, `secret '${name}' in ${source.name}: ${key} is not supported`);
    parts[kind] = readPart(value, { label: `${key} of secret '${name}' in ${source.name}`, field, source });
  }
  const missing = Object.entries(kinds).find(([, kind]) => kind !== 'staple' && !parts[kind]);
  if (missing) throw new InvalidSecret(field, `secret '${name}' in ${source.name} has no ${missing[0]}`);
  return parts;
}

/** Returns the certificate or validation context of the secret with a name. */
function contentOf(secrets: readonly Json[], { name, type, field }: WantedSecret, container: string): Json {
  const found = secrets.filter((secret) => secret['name'] === name);
  if (found.length !== 1)
    throw new InvalidSecret(
      field,
      `${container} contains ${found.length === 0 ? 'no secret' : 'several secrets'} '${name}'`,
    );
  const [, content] = Object.entries(found[0]!).find(([key]) => snakeCase(key) === type) ?? [];
  if (!isObject(content)) throw new InvalidSecret(field, `secret '${name}' has no ${type}`);
  return content;
}

interface PartPlace {
  /** Names the part in messages. */
  readonly label: string;
  readonly field: string;
  readonly source: SecretSource;
}

function readPart(value: unknown, { label, field, source }: PartPlace): CertificatePart {
  const sources = isObject(value) ? Object.entries(value).map(([key, text]) => [snakeCase(key), text] as const) : [];
  const [[key, content] = [], ...others] = sources.filter(([name]) => !IGNORED.has(name));
  const { readFile } = source;
  if (others.length === 0) {
    if (key === 'inline_bytes' && Buffer.isBuffer(content)) return { name: label, bytes: content };
    if (typeof content === 'string') {
      if (key === 'filename' && readFile) return readNamed(content, field, readFile);
      if (key === 'inline_string') return { name: label, bytes: Buffer.from(content) };
      if (key === 'inline_bytes') return { name: label, bytes: Buffer.from(content, 'base64') };
    }
  }
  const allowed = readFile ? 'filename, inline_string and inline_bytes' : 'inline_string and inline_bytes';
  throw new InvalidSecret(field, `${label} needs one of ${allowed}`);
}

function readNamed(path: string, field: string, readFile: (path: string) => CertificatePart): CertificatePart {
  try {
    return readFile(path);
  } catch (error) {
    throw new InvalidSecret(field, (error as Error).message);
  }
}

/** Both forms of a name are valid in the JSON of a message. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
