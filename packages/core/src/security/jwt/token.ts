import { isUtf8 } from 'node:buffer';
import { freezeDeep } from '../../translate/snapshot/content.ts';
import { ExactNumber } from '../../syntax/exact-number.ts';
import { parseStrictObject } from '../../syntax/strict-json.ts';
import type { JwtFailure } from './status.ts';

/** Signature algorithms that can be verified, with the key type that each needs. */
export const ALGORITHMS: Readonly<Record<string, { readonly kty: string; readonly crv?: string }>> = {
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  HS256: { kty: 'oct' },
  HS384: { kty: 'oct' },
  HS512: { kty: 'oct' },
  RS256: { kty: 'RSA' },
  RS384: { kty: 'RSA' },
  RS512: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  PS384: { kty: 'RSA' },
  PS512: { kty: 'RSA' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
};
const DEFAULT_ALGORITHMS = Object.keys(ALGORITHMS);

/** Default maximum size of a token. */
export const MAX_TOKEN_BYTES = 16_384;
/** Types of tokens that do not identify their bearer. */
const OTHER_TYPES = new Set(['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'oauth-authz-req+jwt']);

/** Requirements for the form of tokens. */
export interface TokenForm {
  /** Names of {@link ALGORITHMS}. Default: all. */
  readonly algorithms?: readonly string[];
  /** Default: a token without `kid` is verified with every key that fits its algorithm. */
  readonly kid?: 'required';
  /** Returns true for a `typ` that is accepted. Default: all but those of logout, event, DPoP and request tokens (RFC 8725 §3.11). */
  readonly isType?: (typ: string | undefined) => boolean;
  /** A larger token is rejected unread. Default: 16,384. */
  readonly maxBytes?: number;
}

/** A parsed token of valid form; its signature is not verified yet. */
export interface Token {
  readonly text: string;
  readonly alg: string;
  readonly kid: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly iss: string | undefined;
  readonly audiences: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number | undefined;
  readonly nbf: number | undefined;
  readonly iat: number | undefined;
}

/** Parses a compact JWS (RFC 7515 §7.1), strictly: each token has one spelling and one meaning. */
export function parseToken(text: string, form: TokenForm = {}): Token | JwtFailure {
  if (text.length > (form.maxBytes ?? MAX_TOKEN_BYTES)) return 'badForm';
  const sections = text.split('.');
  if (sections.length !== 3 || sections.some((section) => section === '')) return 'badForm';
  const head = decode(sections[0]!);
  if (head === undefined) return 'headerBase64';
  const header = parseStrictObject(head);
  if (!header) return 'headerJson';
  const headerFailure = checkHeader(header, form);
  if (headerFailure) return headerFailure;
  const body = decode(sections[1]!);
  if (body === undefined) return 'payloadBase64';
  const payload = parseStrictObject(body);
  if (!payload) return 'payloadJson';
  const payloadFailure = checkPayload(payload);
  if (payloadFailure) return payloadFailure;
  // Cached and shared by every concern.
  freezeDeep(payload);
  if (!decodeBytes(sections[2]!)) return 'signatureBase64';
  const aud = payload['aud'] as string | string[] | undefined;
  return {
    text,
    alg: header['alg'] as string,
    kid: header['kid'] as string | undefined,
    payload,
    iss: payload['iss'] as string | undefined,
    audiences: aud === undefined ? [] : Array.isArray(aud) ? aud : [aud],
    exp: numericDate(payload['exp']),
    nbf: numericDate(payload['nbf']),
    iat: numericDate(payload['iat']),
  };
}

/** Returns the text of canonical base64url, empty if the bytes are not UTF-8 (RFC 7519 §7.2); `undefined` for any other form. */
function decode(section: string): string | undefined {
  const bytes = decodeBytes(section);
  return bytes && (isUtf8(bytes) ? bytes.toString('utf8') : '');
}

/** Decodes base64url without padding, and with zeros where its last character has more bits than the bytes need (RFC 4648 §3.5). */
function decodeBytes(section: string): Buffer | undefined {
  const bytes = Buffer.from(section, 'base64url');
  return bytes.toString('base64url') === section ? bytes : undefined;
}

function checkHeader(header: Readonly<Record<string, unknown>>, form: TokenForm): JwtFailure | undefined {
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string') return 'headerAlg';
  if (!(form.algorithms ?? DEFAULT_ALGORITHMS).includes(alg)) return 'algNotSupported';
  if (kid !== undefined && typeof kid !== 'string') return 'headerKid';
  if (typ !== undefined && typeof typ !== 'string') return 'verificationFails';
  if (form.kid === 'required' && !kid) return 'noKey';
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) return 'verificationFails';
  return (form.isType ?? isCredentialType)(typ) ? undefined : 'verificationFails';
}

function isCredentialType(typ: string | undefined): boolean {
  return typ === undefined || !OTHER_TYPES.has(typ.toLowerCase().replace(/^application\//, ''));
}

/**
 * Returns the seconds of a time in a token or a response about one, which may have a fraction (RFC 7519 §2) or be beyond the exact integers;
 * `undefined` for anything else.
 */
export function numericDate(value: unknown): number | undefined {
  if (value instanceof ExactNumber) return Number(value.text);
  return typeof value === 'number' ? value : undefined;
}

function checkPayload(payload: Readonly<Record<string, unknown>>): JwtFailure | undefined {
  for (const name of ['iss', 'sub', 'jti'] as const) {
    if (payload[name] !== undefined && typeof payload[name] !== 'string') return `${name}NotString`;
  }
  for (const name of ['exp', 'nbf', 'iat'] as const) {
    if (payload[name] === undefined) continue;
    const value = numericDate(payload[name]);
    if (value === undefined) return `${name}NotInteger`;
    if (value < 0 || value > 2 ** 63) return `${name}NotPositive`;
  }
  const aud = payload['aud'];
  const isAudience =
    aud === undefined ||
    typeof aud === 'string' ||
    (Array.isArray(aud) && aud.every((each) => typeof each === 'string'));
  return isAudience ? undefined : 'audNotStrings';
}
