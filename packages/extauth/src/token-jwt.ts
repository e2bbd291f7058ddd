import { freezeDeep, GatewayError, type Context } from '@edge-gateway/core';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { decodeProtectedHeader, errors, importJWK, jwtVerify, type JWTPayload } from 'jose';
import type { Claims } from './claims.ts';
import { localTokenKeys, remoteTokenKeys, type TokenKeys } from './token-keys.ts';

/** Tolerance for times in tokens, in seconds. */
export const CLOCK_SKEW_SECONDS = 60;
const ALGORITHMS = [
  ...['RS', 'PS', 'ES', 'HS'].flatMap((family) => [256, 384, 512].map((bits) => `${family}${bits}`)),
  'EdDSA',
];

type JwtSpec = NonNullable<AccessTokenValidation['jwt']>;

/** Claims of a good token, or why it is none. Rejects when the keys cannot be read. */
export type CheckJwt = (token: string) => Promise<Claims | string>;

/** Makes the check of tokens by their signature. Throws `ERR_EXTAUTH_CONFIG` without usable keys. */
export function jwtChecker(spec: JwtSpec, id: string, context: Context): CheckJwt {
  const keys = keysOf(spec, id, context);
  const audience = spec.audiences?.length ? [...spec.audiences] : undefined;
  return async (token) => {
    const header = headerOf(token);
    if (!header?.kid || !header.alg) return 'the token names no key or no algorithm';
    if (!isAccessTokenType(header.typ)) return 'the token type is not allowed';
    const key = await keys.find(header.kid);
    if (!key) return 'the key of the token is not known';
    // A key that says what it is for is for nothing else.
    if (key.alg !== undefined && key.alg !== header.alg) return 'the key is for another algorithm';
    try {
      const { payload } = await jwtVerify(token, await importJWK(key, header.alg), {
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(context.now()),
        ...(spec.issuer && { issuer: spec.issuer }),
        ...(audience && { audience }),
      });
      const early = payload.iat !== undefined && payload.iat * 1000 > context.now() + CLOCK_SKEW_SECONDS * 1000;
      if (early) return 'the token is from the future';
      return isOfOtherKind(payload) ? 'the token is not an access token' : freezeDeep(payload);
    } catch (error) {
      return error instanceof errors.JOSEError ? error.message : 'the key does not fit the algorithm';
    }
  };
}

/** RFC 8725 §3.11. No type, `JWT`, or `at+jwt` (RFC 9068 §2.1), which some issuers write with a prefix of their own. */
function isAccessTokenType(typ: unknown): boolean {
  if (typ === undefined) return true;
  return typeof typ === 'string' && /^(?:application\/)?(?:jwt|(?:[a-z0-9-]+-)?at\+jwt)$/i.test(typ);
}

/** Values of the claim `typ` in Keycloak tokens that are not access tokens. */
const OTHER_KINDS: ReadonlySet<unknown> = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

/** Tokens about an event have `events` (RFC 8417 §2.2), among them those of a logout. */
function isOfOtherKind({ typ, events }: JWTPayload): boolean {
  return OTHER_KINDS.has(typ) || events !== undefined;
}

function headerOf(token: string): { readonly kid: string; readonly alg: string; readonly typ: unknown } | undefined {
  try {
    const { kid, alg, typ } = decodeProtectedHeader(token);
    return typeof kid === 'string' && typeof alg === 'string' ? { kid, alg, typ } : undefined;
  } catch {
    return undefined;
  }
}

function keysOf({ localJwks, remoteJwks }: JwtSpec, id: string, context: Context): TokenKeys {
  try {
    if (localJwks?.inlineString) return localTokenKeys(localJwks.inlineString);
    if (remoteJwks?.url) {
      const { url, refreshInterval } = remoteJwks;
      const make = () => remoteTokenKeys(new URL(url).href, refreshInterval, context);
      return context.state(`extauth.keys:${url}:${refreshInterval ?? ''}`, make);
    }
  } catch (cause) {
    throw new GatewayError(`${id}: the key set cannot be used`, { code: 'ERR_EXTAUTH_CONFIG', cause });
  }
  throw new GatewayError(`${id}: accessTokenValidation.jwt needs a key set`, { code: 'ERR_EXTAUTH_CONFIG' });
}
