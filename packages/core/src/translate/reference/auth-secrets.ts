import type { FieldProblem } from '../../resource/problem.ts';
import type { Resource, ResourceRef } from '../../resource/resource.ts';
import type { SecretSpec } from '../../schema/kind/secret.ts';
import { CIPHER_KEY_BYTES, SECRET_ENTRIES } from '../../validate/auth/check-secret.ts';
import type { RefFields } from './fill-refs.ts';
import { faultOf, missingFault } from './missing.ts';
import { dotted } from '../names.ts';
import { isFault, readTlsSecret } from '../tls/tls-secret.ts';
import { find, type Resources } from './find.ts';

const API_KEY_TYPE = 'extauth.vendor.io/apikey';
/** The required secret type of each field. */
const ROLES: Readonly<Record<string, string>> = {
  apiKeySecretRefs: API_KEY_TYPE,
  clientSecret: 'extauth.vendor.io/oauth',
  clientSecretRef: 'extauth.vendor.io/oauth',
  keyRef: 'gw.vendor.io.EncryptionKeySecret',
  sharedSecretRef: 'extauth.vendor.io/accountcredentials',
  secretRefs: 'extauth.vendor.io/accountcredentials',
  credentialsSecretRef: 'extauth.vendor.io/accountcredentials',
};

/** Returns the references of an AuthConfig. */
export const SECRET_FIELDS: RefFields = {
  names: new Set([...Object.keys(ROLES), 'secretRef', 'signingKeyRef']),
  skip: new Set(['config', 'headersFromMetadata', 'headersFromMetadataEntry', 'users', 'labelSelector']),
};

/** Returns the fault of a secret that an AuthConfig refers to in `field`, without its content. */
export function authSecretProblem(resources: Resources, ref: ResourceRef, field: string): FieldProblem | undefined {
  const found = find<SecretSpec>(resources.stored, 'Secret', ref);
  if (field === 'secretRef') {
    const secret = readTlsSecret(ref, resources);
    return isFault(secret) ? secret : undefined;
  }
  if (found.state === 'missing') return missingFault(`secret ${dotted(ref)} not found`, 'Secret', ref, resources);
  const name = `secret ${dotted(ref)}`;
  if (found.state === 'rejected') return faultOf(`${name} is rejected: ${found.cause}`);
  const problem = contentProblem(name, found.resource.spec, field);
  return problem === undefined ? undefined : faultOf(problem);
}

function contentProblem(name: string, { type = 'Opaque', data = {} }: SecretSpec, field: string): string | undefined {
  const role = ROLES[field];
  if (!role) return undefined;
  if (type !== role) return `${name} is of type ${type}, ${field} needs ${role}`;
  const missing = SECRET_ENTRIES[role]!.find((key) => !data[key]);
  if (missing !== undefined) return `${name} has no ${missing}`;
  const bytes = field === 'keyRef' ? Buffer.from(data['key']!, 'base64').length : CIPHER_KEY_BYTES;
  return bytes === CIPHER_KEY_BYTES ? undefined : `the key in ${name} has ${bytes} bytes, it needs ${CIPHER_KEY_BYTES}`;
}

/** Returns true for a secret with an API key. */
export function isApiKey({ spec }: Resource): boolean {
  const { type, data = {} } = spec as SecretSpec;
  return type === API_KEY_TYPE && SECRET_ENTRIES[API_KEY_TYPE]!.every((key) => !!data[key]);
}
