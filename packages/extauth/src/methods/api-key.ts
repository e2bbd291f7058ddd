import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import {
  fromByteString,
  isHeaderValue,
  secretText,
  toByteString,
  type AuthDenied,
  type AuthMethodKind,
  type Context,
  type HeaderChange,
  type ResourceRef,
  type SecretValue,
} from '@edge-gateway/core';
import type { ApiKeyAuth } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';

const CHALLENGE = ['www-authenticate', 'API key is missing or invalid'] as const;
/** A longer key is rejected unhashed. */
const MAX_LENGTH = 4096;

interface StoredKey {
  readonly name: string;
  readonly secret: SecretValue;
}

/**
 * A key in a request header, compared with those in Secrets of type `extauth.vendor.io/apikey`. Label selectors have
 * been resolved to references before. Keys are looked up by digest, so that the time of a comparison does not reveal them.
 */
export const apiKeyMethod: AuthMethodKind<ApiKeyAuth> = {
  type: 'apiKeyAuth',
  grantedHeaders: (spec) => copiesOf(spec).map(([name]) => name.toLowerCase()),
  create(spec, { id, context }) {
    if (spec.aerospikeApikeyStorage) throw configError(`${id}: keys in Aerospike are not available`);
    const digest = digestOf(spec, id, context);
    const keys = new Map<string, StoredKey>();
    for (const ref of keyRefsOf(spec)) {
      const secret = context.secrets.get(ref);
      const stored = secretText(secret, 'api-key');
      if (!secret || !stored) {
        // A removed key is invalid; the others still work.
        const secretRef = `${ref.namespace}.${ref.name}`;
        const what = secret ? 'has no api-key' : 'is missing';
        context.log.get('ext_authz').warn({ config: id, secretRef }, `the secret of an API key ${what}`);
        continue;
      }
      const isDigest = spec.hmac ?? spec.digest;
      keys.set(isDigest ? hexOf(stored.trim()) : digest(stored), { name: ref.name, secret });
    }
    const header = (spec.headerName ?? 'api-key').toLowerCase();
    const copies = copiesOf(spec);
    return {
      local: true,
      authorize(request) {
        const sent = request.header(header);
        const given = sent && fromByteString(sent);
        if (given === undefined || given === '' || given.length > MAX_LENGTH) return denied('no key');
        const known = keys.get(digest(given));
        if (!known) return denied('unknown key');
        const isSame = ({ name = '' }) =>
          same(fromByteString(request.header(name) ?? ''), secretText(known.secret, name));
        if (!(spec.match?.headers ?? []).every(isSame)) return denied('a header does not match the key');
        const requestChanges: HeaderChange[] = copies.map(([name]) => ({ op: 'remove', name: name.toLowerCase() }));
        const state: Record<string, unknown> = { api_key_value: given };
        for (const [target, { name = '', required = false }] of copies) {
          const value = secretText(known.secret, name);
          if (value === undefined || (!spec.skipMetadataValidation && !isHeaderValue(value))) {
            if (required) return denied('the key lacks required metadata');
            continue;
          }
          if (isHeaderValue(value))
            requestChanges.push({ op: 'set', name: target.toLowerCase(), value: toByteString(value) });
          state[target] = value;
        }
        return { allowed: true, userId: known.name, requestChanges, state };
      },
    };
  },
};

/** Returns the references to the Secrets with the keys. */
export function keyRefsOf({ k8sSecretApikeyStorage, apiKeySecretRefs }: ApiKeyAuth): readonly ResourceRef[] {
  return (k8sSecretApikeyStorage?.apiKeySecretRefs ?? apiKeySecretRefs ?? []) as readonly ResourceRef[];
}

/** Metadata by the header that it is copied to. */
function copiesOf({ headersFromMetadataEntry, headersFromMetadata }: ApiKeyAuth) {
  return Object.entries(headersFromMetadataEntry ?? headersFromMetadata ?? {});
}

function denied(reason: string): AuthDenied {
  return { allowed: false, status: 401, headers: CHALLENGE, reason };
}

/** Returns the function from a key to the digest that it is looked up by. */
function digestOf(spec: ApiKeyAuth, id: string, context: Context): (key: string) => string {
  if (spec.hmac) {
    const ref = spec.hmac.sharedSecretRef as ResourceRef;
    const shared = secretText(context.secrets.get(ref), 'password');
    if (shared === undefined)
      throw configError(`${id}: there is no secret ${ref.namespace}.${ref.name} with a password`);
    const secret = createSecretKey(shared, 'utf8');
    return (key) => createHmac('sha256', secret).update(key).digest('hex');
  }
  return (key) => hash('sha256', key);
}

/** A digest is written in hex, or in base64. */
function hexOf(written: string): string {
  return /^[0-9a-f]{64}$/i.test(written) ? written.toLowerCase() : Buffer.from(written, 'base64').toString('hex');
}

function same(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(a), digest(b));
}
