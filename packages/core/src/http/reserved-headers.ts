const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Returns true for a token, such as the name of a header, a method or the name of a cookie (RFC 9110 §5.6.2). */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * Returns true if the value of a header can be this text: it has no control characters except tabs.
 *
 * @example
 * isHeaderValue('a\tb'); // true
 * isHeaderValue('a\r\nx-forged: 1'); // false
 */
export function isHeaderValue(text: string): boolean {
  return !CONTROL.test(text);
}

const BYTES = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns true if a header can carry this text with one byte for each character: it also has no character beyond U+00FF.
 *
 * @example
 * isHeaderBytes('caf\u00e9'); // true
 * isHeaderBytes('\u20ac'); // false
 */
export function isHeaderBytes(text: string): boolean {
  return BYTES.test(text);
}

/** Headers that frame a message or belong to one connection: the sender of the message sets them (RFC 9110 7.6.1). */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers by which a proxy describes the client. The gateway rewrites them, so that no client can forge them; only `x-forwarded-host` is
 * forwarded as received, because clients choose `Host` too.
 */
export const FORWARDED_HEADERS: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-request-id',
]);

/** Credentials, and headers that servers trust as the identity or address of the client, or as another request line. */
const IDENTITY_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'client-cert',
  'client-cert-chain',
  'cookie',
  'cookie2',
  'expect',
  'fastly-client-ip',
  'host',
  'http2-settings',
  'proxy-authenticate',
  'proxy-authorization',
  'remote-user',
  'true-client-ip',
  'via',
  'x-access-token',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-http-method',
  'x-http-method-override',
  'x-id-token',
  'x-method-override',
  'x-real-ip',
  'x-rewrite-url',
  'x-user',
]);

const IDENTITY_PREFIXES: readonly string[] = [
  'cf-',
  'remote-',
  'ssl-client-',
  'x-amzn-oidc-',
  'x-auth-',
  'x-authenticated-',
  'x-client-cert',
  'x-envoy-',
  'x-forwarded-',
  'x-goog-authenticated-',
  'x-goog-iap-',
  'x-jwt-',
  'x-ms-client-',
  'x-ms-token-',
  'x-original-',
  'x-remote-',
  'x-ssl-client-',
  'x-user-',
  'x-webauth-',
];

/**
 * Returns true for a header that clients must not be able to set: credentials, identity, forwarding, framing. `name` may be in
 * any case; `_` counts as `-`, because many servers treat both as the same. Names that resources define are not included, see
 * {@link grantedHeaderNames}.
 */
export function isIdentityHeader(name: string): boolean {
  const dashed = canonicalName(name);
  if (FRAMING_HEADERS.has(dashed) || FORWARDED_HEADERS.has(dashed) || IDENTITY_HEADERS.has(dashed)) return true;
  return IDENTITY_PREFIXES.some((prefix) => dashed.startsWith(prefix));
}

/** Returns the name in lower case with `-` for each `_`, as many servers normalize it. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** Fields whose text names a header that authentication sets. */
const NAME_FIELDS: ReadonlySet<string> = new Set(['idTokenHeader', 'accessTokenHeader', 'userIdHeader']);
/** Fields that list such names. */
const LIST_FIELDS: ReadonlySet<string> = new Set([
  'allowedUpstreamHeaders',
  'allowedUpstreamHeadersToAppend',
  'allowedUpstreamHeadersToOverwrite',
]);
/** Fields whose keys are such names. */
const MAP_FIELDS: ReadonlySet<string> = new Set(['headersFromMetadata', 'headersFromMetadataEntry']);

/** Cached names by spec; specs are immutable. */
const namesBySpec = new WeakMap<object, readonly string[]>();

/**
 * Returns the names, in the form of {@link canonicalName}, of all headers that the gateway sets for upstreams according to the given specs: claims, granted headers,
 * tokens, `requestHeadersToAdd`.
 */
export function grantedHeaderNames(specs: Iterable<unknown>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const spec of specs) {
    if (typeof spec !== 'object' || spec === null) continue;
    let found = namesBySpec.get(spec);
    if (!found) namesBySpec.set(spec, (found = namesIn(spec, []).map(canonicalName)));
    for (const name of found) names.add(name);
  }
  return names;
}

/** Adds the names in a spec to `names`, and returns them. */
function namesIn(value: unknown, names: string[]): string[] {
  if (typeof value !== 'object' || value === null) return names;
  if (Array.isArray(value)) {
    for (const one of value) namesIn(one, names);
    return names;
  }
  for (const field of Object.keys(value)) {
    const inner = (value as Readonly<Record<string, unknown>>)[field];
    if (typeof inner !== 'object' && !NAME_FIELDS.has(field) && !LIST_FIELDS.has(field)) continue;
    if (NAME_FIELDS.has(field) || LIST_FIELDS.has(field)) names.push(...textsOf(inner));
    else if (MAP_FIELDS.has(field)) names.push(...Object.keys((inner ?? {}) as object));
    else if (field === 'claimsToHeaders') names.push(...textsOf(each(inner, 'header')));
    else if (field === 'requestHeadersToAdd') names.push(...textsOf(each(each(inner, 'header'), 'key')));
    else namesIn(inner, names);
  }
  return names;
}

function textsOf(value: unknown): string[] {
  return [value].flat().filter((one): one is string => typeof one === 'string' && one !== '');
}

function each(list: unknown, field: string): unknown[] {
  return Array.isArray(list) ? list.map((one) => (one as Readonly<Record<string, unknown>> | null)?.[field]) : [];
}
