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
  /** Start of the algorithms, and the failure for another `alg`. */
  readonly alg?: readonly [start: RegExp, failure: JwtFailure];
  readonly crv?: readonly [names: readonly string[], failure: JwtFailure];
  /** Members in Base64, and the failure for a missing or invalid one. */
  readonly members: readonly string[];
  readonly notBase64: JwtFailure;
  readonly unreadable: JwtFailure;
}

const TYPES: Readonly<Record<string, KeyType>> = {
  RSA: { alg: [/^[RP]S/, 'keyRsaAlg'], members: ['n', 'e'], notBase64: 'keyRsa', unreadable: 'keyRsa' },
  EC: {
    alg: [/^ES/, 'keyEcAlg'],
    crv: [['P-256', 'P-384', 'P-521'], 'keyEcCurve'],
    members: ['x', 'y'],
    notBase64: 'keyEcBase64',
    unreadable: 'keyEcPoint',
  },
  OKP: {
    crv: [['Ed25519'], 'keyTypeUnsupported'],
    members: ['x'],
    notBase64: 'keyOkpBase64',
    unreadable: 'keyOkpLength',
  },
  oct: { members: ['k'], notBase64: 'keyOctBase64', unreadable: 'keyOctBase64' },
};

/** Parses a JWK (RFC 7517 §4). Returns `keysNone` for one that is not meant to verify signatures. */
export function readJwk(jwk: unknown): Key | JwtFailure {
  if (typeof jwk !== 'object' || jwk === null || !('kty' in jwk)) return 'keyTypeMissing';
  const fields = jwk as Fields;
  const kty = fields['kty'];
  if (typeof kty !== 'string') return 'keyTypeBad';
  if (!Object.hasOwn(TYPES, kty)) return 'keyTypeUnsupported';
  if (!isForSignatures(fields)) return 'keysNone';
  const { alg: family, crv: curves, members, notBase64, unreadable } = TYPES[kty]!;
  const { kid, alg, use, crv } = fields;
  if (family && typeof alg === 'string' && !family[0].test(alg)) return family[1];
  if (curves && !curves[0].includes(String(crv))) return curves[1];
  if (members.some((name) => !isBase64(fields[name]))) return notBase64;
  const value = valueOf(fields, ['kty', ...(curves ? ['crv'] : []), ...members]);
  if (!value) return unreadable;
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

const isBase64 = (value: unknown): boolean => typeof value === 'string' && /^[A-Za-z0-9_-]+$/.test(value);

/** Reads only public members, because a private key may have been pasted. */
function valueOf(fields: Fields, members: readonly string[]): Key['value'] | undefined {
  if (fields['kty'] === 'oct') return Buffer.from(fields['k'] as string, 'base64url');
  try {
    const key = Object.fromEntries(members.map((name) => [name, fields[name]]));
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}
