import { isDeepStrictEqual } from 'node:util';
import { ExactNumber, parseJson } from '../syntax/exact-number.ts';
import { withoutAddressSecrets } from './address-secrets.ts';
import { isToken, redactPath, withoutTokens } from './request-secrets.ts';
import { isSecretName, isSecretQuery, secrecyOf } from './secret-fields.ts';

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
  return copyOf(walk(value, undefined, NO_PLACE)) as T;
}

/**
 * Returns true if {@link redact} changes a resource, or any part of one. Header values that a resource adds count only under the name of a
 * secret: most are none, and they may be in a file that only its owner reads.
 */
export function containsSecrets(value: unknown): boolean {
  const redacted = walk(value, undefined, { ...NO_PLACE, keepsHeaders: true });
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
  const path = address.startsWith('/') && address.includes('?') ? redactPath(address, hideParameter) : address;
  const keyless = path.includes('PRIVATE KEY') ? path.replace(PRIVATE_KEY, REDACTED) : path;
  const decoded = keyless.includes('LS0tLS1CRUdJTi') ? keyless.replace(ENCODED_PEM, redactEncoded) : keyless;
  return isToken(decoded) ? withoutTokens(decoded, REDACTED) : decoded;
}

function redactAddresses(text: string): string {
  return text.replace(USER_INFO, `://${REDACTED}@`).replace(QUERY, (query) => redactPath(query, hideParameter));
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
 * the list that has it as an element.
 */
function walk(value: unknown, parent: string | undefined, place: Place): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return walkList(value, parent, place);
  return typeof value === 'object' && value !== null ? walkObject(value, parent, place) : value;
}

function walkList(list: readonly unknown[], parent: string | undefined, place: Place): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const shown = walk(list[i], parent, place);
    if (shown !== list[i]) (copy ??= [...list])[i] = shown;
  }
  return copy ?? list;
}

function walkObject(value: object, parent: string | undefined, { above, inSecret, keepsHeaders }: Place): object {
  const fields = value as Readonly<Record<string, unknown>>;
  const nameTest = parent === 'queryParameters' ? isSecretQuery : isSecretName;
  const object: WalkedObject = {
    above,
    inner: { above: parent, inSecret: inSecret || fields['kind'] === 'Secret', keepsHeaders },
    isKey: typeof fields['kty'] === 'string',
    isNamed: isNamedSecret(fields['key'], isSecretName) || isNamedSecret(fields['name'], nameTest),
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

/** What surrounds a value, besides the field that has it. */
interface Place {
  /** The field with the object that has this field. */
  readonly above: string | undefined;
  /** True inside a Secret. */
  readonly inSecret: boolean;
  /** True if header values are treated like other texts. */
  readonly keepsHeaders: boolean;
}

const NO_PLACE: Place = { above: undefined, inSecret: false, keepsHeaders: false };

/** Properties of an object that decide whether its fields are secret. */
interface WalkedObject {
  /** The field above the one with the object. */
  readonly above: string | undefined;
  /** The place of the values of its fields. */
  readonly inner: Place;
  /** True for a JWK. */
  readonly isKey: boolean;
  /** True if the object has the name of a secret: headers and matchers have a name and a value side by side. */
  readonly isNamed: boolean;
}

function isNamedSecret(name: unknown, isSecret: typeof isSecretName): boolean {
  return typeof name === 'string' && isSecret(name);
}

function walkField(key: string, inner: unknown, parent: string | undefined, object: WalkedObject): unknown {
  if (object.inner.inSecret && COPIES.has(key)) return redactAll(inner);
  if (object.isKey && PRIVATE_JWK_MEMBERS.has(key)) return REDACTED;
  const marked = secrecyOf(key, parent, object.above);
  const secrecy = marked === 'header' && object.inner.keepsHeaders ? undefined : marked;
  if (secrecy === 'keySet') return publicKeys(inner);
  if (secrecy === 'header') return headerValues(inner);
  if (parent === 'queryParams' && typeof inner === 'string' && isSecretQuery(key)) return hideParameter(inner);
  if (secrecy || (object.isNamed && VALUE_FIELDS.has(key)) || isSecretText(key, inner)) return redactAll(inner);
  return walk(inner, key, object.inner);
}

/** Values under the name of a secret are strings or templates; an object of settings has its own fields. */
function isSecretText(key: string, inner: unknown): boolean {
  const isText = typeof inner === 'string' || (typeof inner === 'object' && inner !== null && 'text' in inner);
  return isText && isSecretName(key);
}

/** Parts of a header value that are no literal text: operators, templates that only read a value, and expressions of GraphQL resolvers. */
const OPERATORS =
  /(%[A-Z][A-Z0-9_]*(?:\([^()]*\))?(?::\d+)?%|\{\{-?\s*(?:(?:header|request_header|extraction|env|dynamic_metadata|host_metadata)\("[^"]*"\)|\w+(?:[./]\w+)*(?:\(\))?)\s*-?\}\}|\{\$[\w.[\]*:-]+\})/;

/** Returns the value of a header that a resource adds: literal texts are hidden, operators and templates are not. */
export function redactHeaderValue(value: string, hidden: string = REDACTED): string {
  return value
    .split(OPERATORS)
    .map((part, i) => (i % 2 === 1 || part.trim() === '' ? part : hidden))
    .join('');
}

/** Returns the value of a secret parameter: literal texts are hidden, templates are not. */
function hideParameter(value: string): string {
  return value.includes('{') ? redactHeaderValue(value) : REDACTED;
}

/** Returns the literal texts of a header value, which {@link redactHeaderValue} hides. */
function literalsOf(value: string): string[] {
  return value.split(OPERATORS).filter((part, i) => i % 2 === 0 && part.trim() !== '');
}

/** Returns the literal texts of header values that {@link redact} hides in a resource, or in any part of one. */
export function hiddenLiterals(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  collectHidden(value, redact(value), found);
  return found;
}

function collectHidden(value: unknown, shown: unknown, found: Set<string>): void {
  if (typeof value === 'string' && value !== shown) for (const text of literalsOf(value)) found.add(text);
  if (typeof value !== 'object' || value === null || typeof shown !== 'object' || shown === null) return;
  for (const [key, inner] of Object.entries(value))
    collectHidden(inner, (shown as Record<string, unknown>)[key], found);
}

/** Returns the values of headers, by name or in any other form, without their literal texts. Pseudo headers are parts of the request line. */
function headerValues(value: unknown, name = ''): unknown {
  if (typeof value === 'string' && name.toLowerCase() === ':path') return redactText(redactPath(value, hideParameter));
  if (typeof value === 'string') return name.startsWith(':') ? redactText(value) : redactHeaderValue(value);
  if (Array.isArray(value)) return value.map((each) => headerValues(each));
  if (typeof value !== 'object' || value === null) return redactAll(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, headerValues(inner, key)]));
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
