import { withoutAddressSecrets } from '@edge-gateway/core';

/** What stands in the place of a secret value. */
export const REDACTED = '<redacted>';

/** Fields that hold a secret itself, wherever they stand in a resource; references to secrets have other names. */
const SECRET_FIELD =
  /^(?:.*password|salt|client_?secret|secretkey|privatekey|apikey|sessiontoken|inlinestring|tls\.key)$/i;
/** Headers that carry credentials: the `value` beside one as `key` or `name` is hidden. */
const SECRET_HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?api-key)$/i;

/** A copy of a resource without the secret values that may stand in it; a Secret keeps the names of its keys only. */
export function redact<T>(value: T): T {
  return walk(value, isSecret(value)) as T;
}

function isSecret(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'Secret';
}

function walk(value: unknown, inSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => walk(item, inSecret || isSecret(item)));
  if (typeof value === 'string') return withoutAddressSecrets(value, REDACTED);
  if (typeof value !== 'object' || value === null) return value;
  const { key: headerKey, name: headerName } = value as { key?: unknown; name?: unknown };
  const isHeader = [headerKey, headerName].some((name) => typeof name === 'string' && isSensitive(name));
  const hidesData = inSecret || isSecret(value);
  const pairs = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (typeof inner === 'string' && (isSensitive(key) || (isHeader && key === 'value'))) return [key, REDACTED];
    if (hidesData && (key === 'data' || key === 'stringData')) return [key, hideAll(inner)];
    return [key, walk(inner, hidesData)];
  });
  return Object.fromEntries(pairs);
}

/** True for fields and headers whose value is a secret. */
export function isSensitive(name: string): boolean {
  return SECRET_FIELD.test(name) || SECRET_HEADER.test(name);
}

function hideAll(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return REDACTED;
  return Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
}
