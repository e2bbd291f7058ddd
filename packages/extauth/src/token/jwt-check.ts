import { parseDuration, type Context } from '@edge-gateway/core';
import {
  createTokenCache,
  createVerifier,
  FETCH_TIMEOUT_MS,
  isKeySetFailure,
  JWT_STATUS,
  localKeys,
  parseKeys,
  remoteKeys,
  type Claims,
  type KeySource,
  type TokenRules,
} from '@edge-gateway/core/jwt';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { askJson } from '../server/ask.ts';

const DEFAULT_REFRESH_MS = 300_000;
/** Longest wait for newer keys when keys are cached, in milliseconds: the whole step has 200. */
const PATIENCE_MS = 100;

type JwtSpec = NonNullable<AccessTokenValidation['jwt']>;

/** Claims of a valid token, or why it is invalid. Rejects when the keys cannot be read. */
export type CheckJwt = (token: string) => Promise<Claims | string>;

/** Creates the check of tokens by their signature. Throws `ERR_EXTAUTH_CONFIG` without usable keys. */
export function jwtChecker(spec: JwtSpec, id: string, context: Context): CheckJwt {
  const keys = keysOf(spec, id, context);
  const cache = context.state(`extauth.jwt:${JSON.stringify(spec)}`, () => createTokenCache());
  const verifier = createVerifier({ rules: rulesOf(spec), keys, cache, now: context.now });
  return async (token) => {
    const verdict = verifier.known(token) ?? (await verifier.verify(token));
    if (typeof verdict !== 'string')
      return isOfOtherKind(verdict.payload) ? 'the token is not an access token' : verdict.payload;
    if (isKeySetFailure(verdict)) throw keys.error ?? new TypeError(JWT_STATUS[verdict].text);
    return JWT_STATUS[verdict].text;
  };
}

function rulesOf({ issuer, audiences, requireExpiration }: JwtSpec): TokenRules {
  return {
    kid: 'required',
    isType: isAccessTokenType,
    issuedAt: 'past',
    ...(issuer && { issuer }),
    ...(audiences && { audiences }),
    ...(requireExpiration && { requireExpiration }),
  };
}

/** RFC 8725 §3.11. No type, `JWT`, or `at+jwt` (RFC 9068 §2.1), which some issuers write with a prefix of their own. */
function isAccessTokenType(typ: string | undefined): boolean {
  return typ === undefined || /^(?:application\/)?(?:jwt|(?:[a-z0-9-]+-)?at\+jwt)$/i.test(typ);
}

/** Values of the claim `typ` in Keycloak tokens that are not access tokens. */
const OTHER_KINDS: ReadonlySet<unknown> = new Set(['ID', 'Refresh', 'Offline', 'Logout']);

/** Tokens about an event have `events` (RFC 8417 §2.2), among them those of a logout. */
function isOfOtherKind({ typ, events }: Claims): boolean {
  return OTHER_KINDS.has(typ) || events !== undefined;
}

/** Keys without id, and those without `use: "sig"`, are left out. */
function keysOf({ localJwks, remoteJwks }: JwtSpec, id: string, context: Context): KeySource {
  if (localJwks?.inlineString) {
    const { inlineString } = localJwks;
    const isPem = inlineString.includes('-----BEGIN');
    const keys = parseKeys(inlineString, { onlyNamed: true, mayBeEmpty: !isPem });
    if (typeof keys !== 'string') return localKeys(keys);
    throw configError(`${id}: the key set cannot be used: ${JWT_STATUS[keys].text}`);
  }
  if (!remoteJwks?.url) throw configError(`${id}: accessTokenValidation.jwt needs a key set`);
  const { url, refreshInterval } = remoteJwks;
  return context.state(`extauth.keys:${url}:${refreshInterval ?? ''}`, () =>
    remoteKeys({
      fetchText: () => fetchText(url),
      cacheMs: refreshInterval === undefined ? DEFAULT_REFRESH_MS : parseDuration(refreshInterval),
      patienceMs: PATIENCE_MS,
      onlyNamed: true,
      mayBeEmpty: true,
      now: context.now,
      log: context.log.get('ext_authz'),
      from: { host: new URL(url).host },
    }),
  );
}

async function fetchText(url: string): Promise<string> {
  // Independent of the signal of one request: all waiting requests share it.
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  return JSON.stringify(await askJson(url, { method: 'GET', headers: { accept: 'application/json' }, signal }));
}
