/** What a token says, as its JSON payload. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * The value of a claim, by a path whose steps are separated by `delimiter` (none: the name is taken as it is).
 * A claim whose own name contains the delimiter is found too.
 */
export function claimAt(claims: Claims, path: string, delimiter: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  if (delimiter === '') return undefined;
  let value: unknown = claims;
  for (const step of path.split(delimiter)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/**
 * A claim as the value of a header: text, numbers and booleans as they are, lists and objects as Base64 of compact
 * JSON. `undefined` for what has no value, or would break a header.
 */
export function headerValueOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'object' ? Buffer.from(JSON.stringify(value)).toString('base64') : String(value);
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) return undefined;
  return Buffer.from(text, 'utf8').toString('latin1');
}
