import type { JwtFailure } from './status.ts';
import { readJwk, readPem, type Key } from './jwk.ts';
import { ALGORITHMS } from './token.ts';

/** Further keys of a document are ignored. */
const MAX_KEYS = 1000;

/** The keys of an issuer. */
export interface KeySet {
  readonly size: number;
  /** Returns the keys that may have signed a token: those with its `kid` or without any; for a token without `kid` every key that fits `alg`. */
  find(alg: string, kid: string | undefined): readonly Key[];
}

/** Which keys of a document are used. */
export interface KeyRules {
  /** True ignores keys without `kid` or without `use: "sig"`. Default: false. */
  readonly onlyNamed?: boolean;
  /** True matches a key by its `kid` alone, and a token without `kid` only if a single key fits. Default: false. */
  readonly exactKid?: boolean;
  /** True accepts a document without any usable key, after which no token is valid. Default: false. */
  readonly mayBeEmpty?: boolean;
}

/**
 * Parses a JWK, a key set, public keys in PEM, or an object with a certificate or public key in PEM by key id. Ignores keys for encryption, of unknown type or without their
 * members. Returns the failure of the first key if none is usable.
 */
export function parseKeys(written: string, { onlyNamed, exactKid, mayBeEmpty }: KeyRules = {}): KeySet | JwtFailure {
  const text = written.replace(/^\ufeff/, '');
  // A key set may contain PEM in a member of a key.
  const isPem = text.includes('-----BEGIN') && !text.trimStart().startsWith('{');
  const read = isPem ? pemKeys(text) : jwkKeys(text);
  if (typeof read === 'string') return read;
  const keys = read
    .filter((key) => typeof key !== 'string')
    .filter(({ kid, use }) => !onlyNamed || (kid && use === 'sig'));
  if (keys.length === 0 && !mayBeEmpty) return read.find((key) => typeof key === 'string') ?? 'keysNone';
  return {
    size: keys.length,
    find: (alg, kid) => {
      const family = ALGORITHMS[alg]!;
      const found = keys.filter((key) => {
        if (key.kty !== family.kty || (family.crv !== undefined && key.crv !== family.crv)) return false;
        if (key.alg !== undefined && key.alg !== alg && !(isEdDsa(key.alg) && isEdDsa(alg))) return false;
        if (key.kty === 'oct' && key.bits < Number(alg.slice(2))) return false;
        return kid === undefined || key.kid === kid || (key.kid === undefined && !exactKid);
      });
      return exactKid && kid === undefined && found.length > 1 ? [] : found;
    },
  };
}

function jwkKeys(text: string): readonly (Key | JwtFailure)[] | JwtFailure {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'keysInvalidJson';
  }
  if (typeof document !== 'object' || document === null) return 'keysInvalidJson';
  const { keys } = document as { keys?: unknown };
  if (keys === undefined) return 'kty' in document ? [readJwk(document)] : (namedPemKeys(document) ?? 'keysMissing');
  if (!Array.isArray(keys)) return 'keysNotList';
  return keys.slice(0, MAX_KEYS).map(readJwk);
}

/** Returns the keys of an object with a PEM by key id; `undefined` for another object. They are meant for signatures. */
function namedPemKeys(document: object): readonly (Key | JwtFailure)[] | undefined {
  const entries = Object.entries(document as Readonly<Record<string, unknown>>);
  const isNamed = ([, pem]: readonly [string, unknown]): boolean =>
    typeof pem === 'string' && pem.trimStart().startsWith('-----BEGIN ');
  if (entries.length === 0 || !entries.every(isNamed)) return undefined;
  return entries.slice(0, MAX_KEYS).map(([kid, pem]) => {
    const key = readPem(pem as string);
    return typeof key === 'string' ? key : { ...key, kid, use: 'sig' };
  });
}

/** RFC 9864 §2.2 names the algorithm `Ed25519`; only this curve is supported for `EdDSA`. */
function isEdDsa(alg: string): boolean {
  return alg === 'EdDSA' || alg === 'Ed25519';
}

function pemKeys(text: string): readonly (Key | JwtFailure)[] {
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g) ?? [];
  return blocks.length === 0 ? ['keyPem'] : blocks.slice(0, MAX_KEYS).map(readPem);
}
