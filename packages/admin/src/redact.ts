import { withoutAddressSecrets } from '@edge-gateway/core';

/** What stands in the place of a secret value in resources. */
export const REDACTED_VALUE = '<redacted>';

const SENSITIVE_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
]);
const SENSITIVE_KEY = /^(?:.*password|clientsecret|client_secret|secretkey|privatekey|salt|bindpassword)$/i;

/** True for headers that carry credentials, and for option keys that hold a secret. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE_HEADERS.has(name.toLowerCase()) || SENSITIVE_KEY.test(name);
}

/**
 * A copy in which texts under a sensitive key, and the `value` beside a sensitive `key` or `name`, are redacted:
 * credentials that people write into resources instead of a Secret. So are user, password and query in an address.
 */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value === 'string') return withoutAddressSecrets(value, REDACTED_VALUE);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const named = entries.some(([key, text]) => isNameKey(key) && typeof text === 'string' && isSensitiveName(text));
  return Object.fromEntries(
    entries.map(([key, inner]) => {
      const secret = typeof inner === 'string' && (isSensitiveName(key) || (named && key === 'value'));
      return [key, secret ? REDACTED_VALUE : redact(inner)];
    }),
  );
}

function isNameKey(key: string): boolean {
  return key === 'key' || key === 'name';
}

/** A copy in which every text and number is redacted; keys, truth values and `null` stay. */
export function redactAll(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactAll);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return REDACTED_VALUE;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactAll(inner)]));
}
