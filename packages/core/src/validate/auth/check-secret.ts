import type { FieldProblem } from '../../resource/problem.ts';
import type { Resource } from '../../resource/resource.ts';
import type { SecretSpec } from '../../schema/kind/secret.ts';
import {
  PREVIOUS_SIGNING_KEY_ENTRY,
  SIGNING_KEY_ENTRY,
  signingKeySecret,
  signingKeyProblem,
} from '../../security/signing-key.ts';
import type { DocumentReport } from '../document-report.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Length of the cookie encryption key, in bytes. */
export const CIPHER_KEY_BYTES = 32;
/** Required entries by secret type. */
export const SECRET_ENTRIES: Readonly<Record<string, readonly string[]>> = {
  'extauth.vendor.io/oauth': ['client-secret'],
  'extauth.vendor.io/apikey': ['api-key'],
  'extauth.vendor.io/accountcredentials': ['username', 'password'],
  'gw.vendor.io.EncryptionKeySecret': ['key'],
};

/** Warns about a secret without the entries of its type; it is an error once a resource refers to it. Never contains a value. */
export function checkSecretEntries({ type = 'Opaque', data = {} }: SecretSpec): FieldProblem[] {
  if (!Object.hasOwn(SECRET_ENTRIES, type)) return [];
  const message = entryProblem(type, data);
  return message === undefined ? [] : [{ code: 'INVALID_SECRET', path: ['type'], message, severity: 'warning' }];
}

/** Warns about weak shared signing keys: logins that would use them are rejected. */
export function checkSigningKey({ data = {} }: SecretSpec, { metadata }: Pick<Resource, 'metadata'>): FieldProblem[] {
  const { name, namespace } = signingKeySecret();
  if (metadata.name !== name || metadata.namespace !== namespace) return [];
  return [SIGNING_KEY_ENTRY, PREVIOUS_SIGNING_KEY_ENTRY].flatMap((entry): FieldProblem[] => {
    const key = data[entry];
    const problem = key === undefined ? undefined : signingKeyProblem(Buffer.from(key, 'base64'));
    if (problem === undefined) return [];
    return [{ code: 'INVALID_SECRET', path: ['data', entry], message: `${entry} ${problem}`, severity: 'warning' }];
  });
}

function entryProblem(type: string, data: Readonly<Record<string, string>>): string | undefined {
  const missing = SECRET_ENTRIES[type]!.filter((key) => !data[key]);
  if (missing.length > 0) return `a secret of type ${type} needs the entry ${missing.join(' and ')}`;
  if (type !== 'gw.vendor.io.EncryptionKeySecret') return undefined;
  const bytes = Buffer.from(data['key']!, 'base64').length;
  return bytes === CIPHER_KEY_BYTES ? undefined : `the key has ${bytes} bytes, it needs ${CIPHER_KEY_BYTES}`;
}

/** Returns a stored secret: type and base64 data, with `stringData` merged in. Messages never contain a value. */
export function foldSecret({ type, data = {}, stringData = {} }: SecretSpec, report: DocumentReport): SecretSpec {
  const folded: Record<string, string> = {};
  for (const [key, value] of Object.entries(data)) {
    const compact = value.replace(/\s+/g, '');
    folded[key] = compact;
    if (BASE64.test(compact)) continue;
    const hint = 'write plain text under stringData';
    report.add({ code: 'BAD_BASE64', path: ['data', key], message: `${key} is not base64`, hint, on: 'value' });
  }
  for (const [key, value] of Object.entries(stringData)) folded[key] = Buffer.from(value, 'utf8').toString('base64');
  return Object.freeze({ type: type ?? 'Opaque', data: Object.freeze(folded) });
}
