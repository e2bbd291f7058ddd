import { isDeepStrictEqual } from 'node:util';
import { ExactNumber, parseJson } from '../syntax/exact-number.ts';
import { withoutAddressSecrets } from './address-secrets.ts';
import { isToken, redactPath, withoutTokens } from './request-secrets.ts';
import { isSecretName, secrecyOf } from './secret-fields.ts';

/** Replaces a secret value of a resource. */
export const REDACTED = '<redacted>';

const PRIVATE_KEY = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g;
/** `-----BEGIN ` in base64, as values of Secrets are written, with what follows. */
const ENCODED_PEM = /LS0tLS1CRUdJTi[\w+/]*={0,2}/g;
/** User and password of an address inside a longer text. The scheme is not part of the pattern: matching a long word would take quadratic time. */
const USER_INFO = /:\/\/[^/?#\s]+@/g;
const QUERY = /\?[^?#\s]+/g;
/** Private members of a JWK (RFC 7518 6.2.2, 6.3.2, 6.4.1). */
const PRIVATE_JWK_MEMBERS = new Set(['k', 'd', 'p', 'q', 'dp', 'dq', 'qi', 'oth']);
const VALUE_FIELDS: ReadonlySet<string> = new Set(['value', 'exactMatch', 'prefixMatch', 'suffixMatch', 'regexMatch']);
/** Metadata of a Secret in which tools repeat its data. */
const COPIES: ReadonlySet<string> = new Set(['data', 'stringData', 'annotations']);
/** An annotation with a copy of the whole resource. It is omitted, because unknown fields in it may be secret. */
export const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns a copy of a resource, or of any part of one, without the secret values in it: fields that the schemas mark as
 * secret, strings under the name of a secret or of a credential header, data of Secrets, private keys and tokens
 * inside any string, user, password and query of addresses. Names, references and public keys are kept.
 *
 * @example
 * redact({ kind: 'Secret', data: { 'tls.key': 'a2V5' } }); // { kind: 'Secret', data: { 'tls.key': '<redacted>' } }
 */
export function redact<T>(value: T): T {
  return copyOf(walk(value, undefined, false)) as T;
}

/** Returns true if {@link redact} changes a resource, or any part of one. */
export function containsSecrets(value: unknown): boolean {
  const redacted = walk(value, undefined, false);
  return redacted !== value && !isDeepStrictEqual(redacted, value);
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)]));
}

/** Returns a copy in which every text and number is redacted; keys, truth values and `null` stay. */
export function redactAll(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactAll);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object' || value instanceof ExactNumber) return REDACTED;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactAll(inner)]));
}

/** Returns a text with recognisable secrets redacted. */
export function redactText(text: string): string {
  if (/^\s*[[{]/.test(text)) return redactJson(text) ?? redactPlain(text);
  return redactPlain(text);
}

function redactPlain(text: string): string {
  const whole = withoutAddressSecrets(text, REDACTED);
  const address = whole.includes('://') ? redactAddresses(whole) : whole;
  const path = address.startsWith('/') && address.includes('?') ? redactPath(address, REDACTED) : address;
  const keyless = path.includes('PRIVATE KEY') ? path.replace(PRIVATE_KEY, REDACTED) : path;
  const decoded = keyless.includes('LS0tLS1CRUdJTi') ? keyless.replace(ENCODED_PEM, redactEncoded) : keyless;
  return isToken(decoded) ? withoutTokens(decoded, REDACTED) : decoded;
}

function redactAddresses(text: string): string {
  return text.replace(USER_INFO, `://${REDACTED}@`).replace(QUERY, (query) => redactPath(query, REDACTED));
}

function redactEncoded(encoded: string): string {
  return Buffer.from(encoded, 'base64').toString('latin1').includes('PRIVATE KEY-----') ? REDACTED : encoded;
}

/** Returns a resource, key set or settings in a JSON string, redacted; `undefined` if it is not JSON or has no secret. */
function redactJson(text: string): string | undefined {
  try {
    const parsed = parseJson(text);
    const redacted = JSON.stringify(redact(parsed));
    return redacted === JSON.stringify(parsed) ? undefined : redacted;
  } catch (error) {
    // Nested too deeply to be inspected.
    return error instanceof RangeError ? REDACTED : undefined;
  }
}

/**
 * Returns a value without secrets. Parts without secrets are returned as they are, because most resources have none. `parent` is the field with the value, or that of
 * the list that has it as an element. `inSecret` is true inside a Secret.
 */
function walk(value: unknown, parent: string | undefined, inSecret: boolean): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return walkList(value, parent, inSecret);
  return typeof value === 'object' && value !== null ? walkObject(value, parent, inSecret) : value;
}

function walkList(list: readonly unknown[], parent: string | undefined, inSecret: boolean): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const shown = walk(list[i], parent, inSecret);
    if (shown !== list[i]) (copy ??= [...list])[i] = shown;
  }
  return copy ?? list;
}

function walkObject(value: object, parent: string | undefined, inSecret: boolean): object {
  const fields = value as Readonly<Record<string, unknown>>;
  const object: WalkedObject = {
    inSecret: inSecret || fields['kind'] === 'Secret',
    isKey: typeof fields['kty'] === 'string',
    isNamed: isNamedSecret(fields['key']) || isNamedSecret(fields['name']),
  };
  let changed: Map<string, unknown> | undefined;
  for (const key of Object.keys(fields)) {
    const shown = key === LAST_APPLIED_ANNOTATION ? undefined : walkField(key, fields[key], parent, object);
    if (shown !== fields[key]) (changed ??= new Map()).set(key, shown);
  }
  if (!changed) return value;
  const kept = Object.entries(fields).filter(([key]) => key !== LAST_APPLIED_ANNOTATION);
  return Object.fromEntries(kept.map(([key, inner]) => [key, changed.has(key) ? changed.get(key) : inner]));
}

/** Properties of an object that decide whether its fields are secret. */
interface WalkedObject {
  readonly inSecret: boolean;
  /** True for a JWK. */
  readonly isKey: boolean;
  /** True if the object has the name of a secret: headers and matchers have a name and a value side by side. */
  readonly isNamed: boolean;
}

function isNamedSecret(name: unknown): boolean {
  return typeof name === 'string' && isSecretName(name);
}

function walkField(key: string, inner: unknown, parent: string | undefined, object: WalkedObject): unknown {
  if (object.inSecret && COPIES.has(key)) return redactAll(inner);
  if (object.isKey && PRIVATE_JWK_MEMBERS.has(key)) return REDACTED;
  const secrecy = secrecyOf(key, parent);
  if (secrecy === 'keySet') return publicKeys(inner);
  if (secrecy || (object.isNamed && VALUE_FIELDS.has(key)) || isSecretText(key, inner)) return redactAll(inner);
  return walk(inner, key, object.inSecret);
}

/** Values under the name of a secret are strings or templates; an object of settings has its own fields. */
function isSecretText(key: string, inner: unknown): boolean {
  const isText = typeof inner === 'string' || (typeof inner === 'object' && inner !== null && 'text' in inner);
  return isText && isSecretName(key);
}

/** Returns a JWK, a JWK set or a PEM key without its private parts; any other value is hidden completely. */
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
