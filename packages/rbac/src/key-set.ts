import type { JwtFailure } from './jwt-status.ts';
import { readJwk, readPem, type Key } from './jwk.ts';
import { ALGORITHMS } from './token.ts';

/** Keys of a document beyond this number are not read. */
const MAX_KEYS = 1000;

/** Keys of one provider at one moment. */
export interface KeySet {
  /** The keys that may have signed a token: those of its `kid`, or without one every key of its algorithm's family. */
  find(alg: string, kid: string | undefined): readonly Key[];
}

/**
 * Reads a JWK, a set of them, or public keys in PEM. Keys for encryption, of unknown type or without their members are
 * left out; a document without any usable key fails with what is wrong with the first.
 */
export function parseKeys(text: string): KeySet | JwtFailure {
  const read = text.includes('-----BEGIN') ? pemKeys(text) : jwkKeys(text);
  if (typeof read === 'string') return read;
  const keys = read.filter((key) => typeof key !== 'string');
  if (keys.length === 0) return read.find((key) => typeof key === 'string') ?? 'keysNone';
  return {
    find: (alg, kid) => {
      const family = ALGORITHMS[alg]!;
      return keys.filter((key) => {
        if (key.kty !== family.kty || (family.crv !== undefined && key.crv !== family.crv)) return false;
        if (key.alg !== undefined && key.alg !== alg) return false;
        if (key.kty === 'oct' && key.bits < Number(alg.slice(2))) return false;
        return kid === undefined || key.kid === undefined || key.kid === kid;
      });
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
  if ('kty' in document) return [readJwk(document)];
  const { keys } = document as { keys?: unknown };
  if (keys === undefined) return 'keysMissing';
  if (!Array.isArray(keys)) return 'keysNotList';
  return keys.slice(0, MAX_KEYS).map(readJwk);
}

function pemKeys(text: string): readonly (Key | JwtFailure)[] {
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g) ?? [];
  return blocks.length === 0 ? ['keyPem'] : blocks.slice(0, MAX_KEYS).map(readPem);
}
