const REDACTED = '<redacted>';

/** Fields that hold a secret itself, wherever they stand in a resource; references to secrets have other names. */
const SECRET_FIELDS = new Set([
  'hashedPassword',
  'salt',
  'password',
  'clientSecret',
  'privateKey',
  'secretKey',
  'apiKey',
  'sessionToken',
  'inlineString',
  'tls.key',
]);

/** A copy of a resource without the secret values that may stand in it; a Secret keeps the names of its keys only. */
export function redact<T>(value: T): T {
  return walk(value, isSecret(value)) as T;
}

function isSecret(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'Secret';
}

function walk(value: unknown, inSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => walk(item, inSecret || isSecret(item)));
  if (typeof value !== 'object' || value === null) return value;
  const hidesData = inSecret || isSecret(value);
  const pairs = Object.entries(value).map(([key, inner]): [string, unknown] => {
    if (typeof inner === 'string' && SECRET_FIELDS.has(key)) return [key, REDACTED];
    if (hidesData && (key === 'data' || key === 'stringData')) return [key, hideAll(inner)];
    return [key, walk(inner, hidesData)];
  });
  return Object.fromEntries(pairs);
}

function hideAll(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return REDACTED;
  return Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
}
