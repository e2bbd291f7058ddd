import { toByteString } from '../../http/byte-string.ts';
import { isHeaderValue } from '../../http/reserved-headers.ts';
import type { HeaderChange } from '../../contract/facts.ts';
import type { ClaimToHeader } from '../../schema/auth/jwt.ts';
import { ExactNumber } from '../../syntax/exact-number.ts';

/** The claims of a token: its JSON payload. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns the value of a claim by a path whose steps are separated by `delimiter` (empty: by its name alone).
 * A claim whose own name contains the delimiter is found too, and first.
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

/** Returns the request headers for claims, by paths with dots. A claim that is missing, or is not a valid header value, is skipped. */
export function claimHeaders(claims: Claims, rules: readonly ClaimToHeader[]): HeaderChange[] {
  return rules.flatMap(({ claim = '', header = '', append }): HeaderChange[] => {
    const value = header === '' ? undefined : headerValueOf(claimAt(claims, claim, '.'));
    return value === undefined ? [] : [{ op: append ? 'append' : 'set', name: header.toLowerCase(), value }];
  });
}

/** Returns the first claim that should become a header but is not a valid header value. */
export function unsendableClaim(claims: Claims, rules: readonly ClaimToHeader[]): string | undefined {
  const found = rules.find(({ claim = '' }) => {
    const value = claimAt(claims, claim, '.') ?? undefined;
    return value !== undefined && headerValueOf(value) === undefined;
  });
  return found?.claim;
}

/** Returns the metadata for claims: by key, the claim at a path with dots. */
export function claimMetadata(claims: Claims, wanted: Readonly<Record<string, string>>): Claims {
  const found = Object.entries(wanted).map(([key, path]): [string, unknown] => [key, claimAt(claims, path, '.')]);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

/**
 * Returns a claim as the value of a header: strings, numbers and booleans as they are, lists and objects as Base64 of
 * compact JSON; `undefined` for a claim without a value or with control characters.
 */
function headerValueOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const isComposite = typeof value === 'object' && !(value instanceof ExactNumber);
  const text = isComposite ? Buffer.from(JSON.stringify(value)).toString('base64') : String(value);
  return isHeaderValue(text) ? toByteString(text) : undefined;
}
