import { createPublicKey } from 'node:crypto';

const known = new Map<string, string | undefined>();
const MAX_KNOWN = 1000;

/**
 * Returns local keys as the JWK set that Envoy reads; `undefined` if they contain a symmetric key, which would be a secret, or cannot be
 * read.
 */
export function keySetForEnvoy(text: string): string | undefined {
  if (known.has(text)) return known.get(text);
  if (known.size >= MAX_KNOWN) known.clear();
  const found = convert(text);
  known.set(text, found);
  return found;
}

function convert(text: string): string | undefined {
  try {
    const keys = keysOf(text);
    return keys.length > 0 && keys.every(isPublic) ? JSON.stringify({ keys }) : undefined;
  } catch {
    return undefined;
  }
}

type Jwk = Readonly<Record<string, unknown>>;

function keysOf(text: string): readonly Jwk[] {
  if (!text.trimStart().startsWith('{')) {
    const blocks = text.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----/g) ?? [];
    return blocks.map((pem) => createPublicKey(pem).export({ format: 'jwk' }) as Jwk);
  }
  const parsed = JSON.parse(text) as Jwk & { readonly keys?: readonly Jwk[] };
  return parsed.keys ?? [parsed];
}

/** Returns true for a key without private members. */
function isPublic(key: Jwk): boolean {
  return (key['kty'] === 'RSA' || key['kty'] === 'EC' || key['kty'] === 'OKP') && !('d' in key);
}
