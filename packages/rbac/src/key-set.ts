import { importJWK, importSPKI, type CryptoKey, type JWK } from 'jose';
import type { JwtFailure } from './jwt-status.ts';
import { ALGORITHMS } from './token.ts';

/** A document of keys larger than this is refused. */
const MAX_KEYS = 1000;

/** One usable key. `alg` is undefined where the key does not say which one it is for. */
interface Key {
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  readonly kty: string;
  readonly crv: string | undefined;
  /** Length of a shared secret; one shorter than the hash is not used (RFC 7518 §3.2). */
  readonly bits: number;
  readonly jwk: JWK | undefined;
  readonly pem: string | undefined;
  /** Imported at first use, by algorithm. */
  readonly imported: Map<string, Promise<CryptoKey | Uint8Array>>;
}

/** Keys of one provider at one moment. */
export interface KeySet {
  /** The keys that may have signed a token: those of its `kid`, or without one every key of its algorithm's family. */
  find(alg: string, kid: string | undefined): readonly Key[];
}

/**
 * Reads a JWK, a set of them, or a PEM public key. Keys for encryption, of unknown type or without their members are
 * left out; a document without any usable key is a failure.
 */
export function parseKeys(text: string): KeySet | JwtFailure {
  const keys = text.includes('-----BEGIN') ? pemKeys(text) : jwkKeys(text);
  if (typeof keys === 'string') return keys;
  if (keys.length === 0) return 'keysNone';
  return {
    find: (alg, kid) =>
      keys.filter((key) => {
        const family = ALGORITHMS[alg]!;
        if (key.kty !== family.kty || (family.crv !== undefined && key.crv !== undefined && key.crv !== family.crv))
          return false;
        if (key.alg !== undefined && key.alg !== alg) return false;
        if (key.kty === 'oct' && key.bits < Number(alg.slice(2))) return false;
        return kid === undefined || key.kid === undefined || key.kid === kid;
      }),
  };
}

/** The key in the form that jose verifies with. */
export function importKey(key: Key, alg: string): Promise<CryptoKey | Uint8Array> {
  const known = key.imported.get(alg);
  if (known) return known;
  const importing = key.pem === undefined ? importJWK(key.jwk!, alg) : importSPKI(key.pem, alg);
  key.imported.set(alg, importing);
  importing.catch(() => key.imported.delete(alg));
  return importing;
}

function jwkKeys(text: string): readonly Key[] | JwtFailure {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return 'keysInvalidJson';
  }
  if (typeof document !== 'object' || document === null) return 'keysInvalidJson';
  const list = 'kty' in document ? [document] : (document as { keys?: unknown }).keys;
  if (!Array.isArray(list)) return 'keysMissing';
  return list.slice(0, MAX_KEYS).filter(isUsable).map(toKey);
}

/** Members that a public key of each type has to have, all of them strings. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
  oct: ['k'],
};

function isUsable(jwk: unknown): jwk is JWK {
  if (typeof jwk !== 'object' || jwk === null) return false;
  const fields = jwk as Record<string, unknown>;
  const members = Object.hasOwn(MEMBERS, String(fields['kty'])) ? MEMBERS[String(fields['kty'])]! : undefined;
  if (!members?.every((name) => typeof fields[name] === 'string' && fields[name] !== '')) return false;
  if (fields['use'] !== undefined && fields['use'] !== 'sig') return false;
  const operations = fields['key_ops'];
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
}

function toKey(jwk: JWK): Key {
  return {
    kid: typeof jwk.kid === 'string' ? jwk.kid : undefined,
    alg: typeof jwk.alg === 'string' ? jwk.alg : undefined,
    kty: jwk.kty!,
    crv: jwk.crv,
    bits: Buffer.from(jwk.k ?? '', 'base64url').length * 8,
    jwk: publicPart(jwk),
    pem: undefined,
    imported: new Map(),
  };
}

/** Someone may have pasted a private key: only its public members are ever imported. */
function publicPart(jwk: JWK): JWK {
  const kept = new Set(['kty', ...MEMBERS[jwk.kty!]!]);
  return Object.fromEntries(Object.entries(jwk).filter(([name]) => kept.has(name))) as unknown as JWK;
}

function pemKeys(text: string): readonly Key[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  return blocks.flatMap((pem) =>
    ['RSA', 'EC', 'OKP'].map((kty) => ({
      kid: undefined,
      alg: undefined,
      kty,
      crv: undefined,
      bits: 0,
      jwk: undefined,
      pem,
      imported: new Map<string, Promise<CryptoKey | Uint8Array>>(),
    })),
  );
}
