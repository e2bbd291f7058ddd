import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JwtFailure } from './status.ts';

/** One usable key. `alg` and `use` are undefined if the key does not restrict them. */
export interface Key {
  readonly kid: string | undefined;
  readonly alg: string | undefined;
  readonly use: string | undefined;
  readonly kty: string;
  readonly crv: string | undefined;
  /** Length of a shared secret or of an RSA modulus, 0 for other keys; short ones are not used (RFC 7518 §3.2, §3.3). */
  readonly bits: number;
  readonly value: KeyObject | Uint8Array;
}

type Fields = Readonly<Record<string, unknown>>;

interface KeyType {
  /** Returns what is wrong with the members, `undefined` if they are valid. */
  readonly check: (fields: Fields) => JwtFailure | undefined;
  /** Failure for invalid members. */
  readonly unreadable: JwtFailure;
  /** Public members. Only these are read, because a private key may have been pasted. */
  readonly members: readonly string[];
}

const isBase64 = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value);
const isForOther = ({ alg }: Fields, families: RegExp): boolean => typeof alg === 'string' && !families.test(alg);

const TYPES: Readonly<Record<string, KeyType>> = {
  RSA: {
    check: (fields) => {
      if (isForOther(fields, /^[RP]S/)) return 'keyRsaAlg';
      return isBase64(fields['n']) && isBase64(fields['e']) ? undefined : 'keyRsa';
    },
    unreadable: 'keyRsa',
    members: ['kty', 'n', 'e'],
  },
  EC: {
    check: (fields) => {
      if (isForOther(fields, /^ES/)) return 'keyEcAlg';
      if (!['P-256', 'P-384', 'P-521'].includes(String(fields['crv']))) return 'keyEcCurve';
      return isBase64(fields['x']) && isBase64(fields['y']) ? undefined : 'keyEcBase64';
    },
    unreadable: 'keyEcPoint',
    members: ['kty', 'crv', 'x', 'y'],
  },
  OKP: {
    check: (fields) => {
      if (fields['crv'] !== 'Ed25519') return 'keyTypeUnsupported';
      return isBase64(fields['x']) ? undefined : 'keyOkpBase64';
    },
    unreadable: 'keyOkpLength',
    members: ['kty', 'crv', 'x'],
  },
  oct: { check: ({ k }) => (isBase64(k) ? undefined : 'keyOctBase64'), unreadable: 'keyOctBase64', members: [] },
};

/** Parses a JWK (RFC 7517 §4). Returns `keysNone` for one that is not meant to verify signatures. */
export function readJwk(jwk: unknown): Key | JwtFailure {
  if (typeof jwk !== 'object' || jwk === null || !('kty' in jwk)) return 'keyTypeMissing';
  const fields = jwk as Fields;
  const kty = fields['kty'];
  if (typeof kty !== 'string') return 'keyTypeBad';
  if (!Object.hasOwn(TYPES, kty)) return 'keyTypeUnsupported';
  if (!isForSignatures(fields)) return 'keysNone';
  const type = TYPES[kty]!;
  const failure = type.check(fields);
  if (failure) return failure;
  const value = valueOf(fields, type);
  if (!value) return type.unreadable;
  const { kid, alg, use, crv } = fields;
  return {
    kid: typeof kid === 'string' ? kid : undefined,
    alg: typeof alg === 'string' ? alg : undefined,
    use: typeof use === 'string' ? use : undefined,
    kty,
    crv: typeof crv === 'string' ? crv : undefined,
    bits: value instanceof Uint8Array ? value.length * 8 : (value.asymmetricKeyDetails?.modulusLength ?? 0),
    value,
  };
}

/** Parses a public key or certificate in PEM. */
export function readPem(pem: string): Key | JwtFailure {
  try {
    const key = readJwk(createPublicKey(pem).export({ format: 'jwk' }));
    return typeof key === 'string' ? 'keyPem' : key;
  } catch {
    return 'keyPem';
  }
}

function isForSignatures({ use, key_ops: operations }: Fields): boolean {
  if (use !== undefined && use !== 'sig') return false;
  return operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
}

function valueOf(fields: Fields, { members }: KeyType): Key['value'] | undefined {
  if (members.length === 0) return Buffer.from(fields['k'] as string, 'base64url');
  try {
    const key = Object.fromEntries(members.map((name) => [name, fields[name]]));
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}
