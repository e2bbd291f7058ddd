import type { Resource, ResourceRef } from '../resource.ts';
import type { SecretSpec } from '../schema/secret.ts';
import type { StoreState } from '../store.ts';
import type { RefFields } from './fill-refs.ts';
import { dotted } from './names.ts';
import { isProblem, readTlsSecret } from './tls-secret.ts';
import { find } from './world.ts';

/** What a secret has to be for the field that refers to it. */
interface Role {
  readonly type: string;
  /** Entries that have to be there. */
  readonly keys: readonly string[];
}

export const API_KEY: Role = { type: 'extauth.vendor.io/apikey', keys: ['api-key'] };
const ROLES: Readonly<Record<string, Role>> = {
  apiKeySecretRefs: API_KEY,
  clientSecret: { type: 'extauth.vendor.io/oauth', keys: ['client-secret'] },
  clientSecretRef: { type: 'extauth.vendor.io/oauth', keys: ['client-secret'] },
  keyRef: { type: 'gw.vendor.io.EncryptionKeySecret', keys: ['key'] },
  sharedSecretRef: { type: 'extauth.vendor.io/accountcredentials', keys: ['username', 'password'] },
};
/** Length of the key that cookies are encrypted with, in bytes. */
const CIPHER_KEY_BYTES = 32;

/** The references of an AuthConfig. */
export const SECRET_FIELDS: RefFields = {
  names: new Set([...Object.keys(ROLES), 'secretRef', 'signingKeyRef']),
  skip: new Set(['config', 'headersFromMetadata', 'headersFromMetadataEntry', 'users', 'labelSelector']),
};

/** What is wrong with a secret that an AuthConfig refers to in `field`; never its content. */
export function authSecretProblem(stored: StoreState['stored'], ref: ResourceRef, field: string): string | undefined {
  const found = find<SecretSpec>(stored, 'Secret', ref);
  if (field === 'secretRef') {
    const secret = readTlsSecret(found, ref);
    return isProblem(secret) ? secret.message : undefined;
  }
  if (found.state === 'missing') return `secret ${dotted(ref)} not found`;
  if (found.state === 'refused') return `secret ${dotted(ref)} is refused: ${found.cause}`;
  const { type = 'Opaque', data = {} } = found.resource.spec;
  const role = ROLES[field];
  if (!role) return undefined;
  if (type !== role.type) return `secret ${dotted(ref)} is of type ${type}, ${field} needs ${role.type}`;
  const missing = role.keys.find((key) => !data[key]);
  if (missing !== undefined) return `secret ${dotted(ref)} has no ${missing}`;
  const bytes = field === 'keyRef' ? Buffer.from(data['key']!, 'base64').length : CIPHER_KEY_BYTES;
  return bytes === CIPHER_KEY_BYTES
    ? undefined
    : `the key in secret ${dotted(ref)} has ${bytes} bytes, it needs ${CIPHER_KEY_BYTES}`;
}

/** True for a secret that holds an API key. */
export function isApiKey({ spec }: Resource): boolean {
  const { type, data = {} } = spec as SecretSpec;
  return type === API_KEY.type && API_KEY.keys.every((key) => !!data[key]);
}
