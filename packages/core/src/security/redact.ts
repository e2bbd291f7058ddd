import { withoutAddressSecrets } from './address-secrets.ts';
import { isToken, redactPath, withoutTokens } from './request-secrets.ts';
import { isSecretName, secrecyOf } from './secret-fields.ts';

/** Stands in the place of a secret value of a resource. */
export const REDACTED = '<redacted>';

const PRIVATE_KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g;
/** User and password of an address inside a longer text. */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^/?#\s@]+@/gi;
/** Members of a JWK that only its owner may know (RFC 7518 6.2.2, 6.3.2, 6.4.1). */
const PRIVATE_JWK_MEMBERS = new Set(['k', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'oth']);
/** Headers and matchers have a name and a value side by side. */
const NAME_FIELDS = ['key', 'name'] as const;

/** Where a value stands. */
interface Place {
  /** The field that holds the object; that of the list for its elements. */
  readonly parent: string | undefined;
  /** True inside a Secret. */
  readonly inSecret: boolean;
}

/**
 * Returns a copy of a resource, or of any part of one, without the secret values in it: fields that the schemas mark as
 * secret, texts under the name of a secret or of a header for credentials, data of Secrets, private keys and tokens
 * inside any text, user, password and query of addresses. Names, references and public keys stay.
 *
 * @example
 * redact({ kind: 'Secret', data: { 'tls.key': 'a2V5' } }); // { kind: 'Secret', data: { 'tls.key': '<redacted>' } }
 */
export function redact<T>(value: T): T {
  return walk(value, { parent: undefined, inSecret: false }) as T;
}

/** Returns a copy in which every text and number is redacted; keys, truth values and `null` stay. */
export function redactAll(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactAll);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return REDACTED;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactAll(inner)]));
}

/** Returns a text without the secrets that can be recognised in it. */
export function redactText(text: string): string {
  const whole = withoutAddressSecrets(text, REDACTED);
  const address = whole.includes('://') ? whole.replace(USER_INFO, `$1${REDACTED}@`) : whole;
  const path = address.startsWith('/') && address.includes('?') ? redactPath(address, REDACTED) : address;
  const keyless = path.includes('PRIVATE KEY') ? path.replace(PRIVATE_KEY, REDACTED) : path;
  return isToken(keyless) ? withoutTokens(keyless, REDACTED) : keyless;
}

function walk(value: unknown, { parent, inSecret }: Place): unknown {
  if (Array.isArray(value)) return value.map((item) => walk(item, { parent, inSecret }));
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  const here = inSecret || ('kind' in value && value.kind === 'Secret');
  const isNamed = NAME_FIELDS.some((field) => {
    const name = (value as Record<string, unknown>)[field];
    return typeof name === 'string' && isSecretName(name);
  });
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (here && (key === 'data' || key === 'stringData')) return [key, redactAll(inner)];
      const secrecy = secrecyOf(key, parent);
      if (secrecy === 'keySet') return [key, publicKeys(inner)];
      if (secrecy || (isNamed && key === 'value') || isSecretText(key, inner)) return [key, redactAll(inner)];
      return [key, walk(inner, { parent: key, inSecret: here })];
    }),
  );
}

/** Under the name of a secret stand texts, and templates of texts; an object of settings has fields of its own. */
function isSecretText(key: string, inner: unknown): boolean {
  if (!isSecretName(key)) return false;
  if (typeof inner === 'string') return true;
  return typeof inner === 'object' && inner !== null && 'text' in inner;
}

/** A JWK, a set of them or a PEM key, without what is private in it; anything else is hidden whole. */
function publicKeys(value: unknown): unknown {
  if (typeof value !== 'string') return redactAll(value);
  if (value.trimStart().startsWith('-----BEGIN')) return redactText(value);
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed !== 'object' || parsed === null) return REDACTED;
    return JSON.stringify(parsed, (name, inner) => (PRIVATE_JWK_MEMBERS.has(name) ? REDACTED : inner));
  } catch {
    return REDACTED;
  }
}
