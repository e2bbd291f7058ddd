import {
  parseDuration,
  secretText,
  GatewayError,
  type AuthAllowed,
  type AuthDecision,
  type AuthDenied,
  type AuthMethod,
  type AuthMethodKind,
  type AuthRequest,
  type Context,
  type GroupLookup,
  type GroupLookupKind,
  type ResourceRef,
} from '@edge-gateway/core';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { askJson } from '../ask.ts';
import { claimChanges, claimMetadata, hasScopes, type Claims } from '../claims.ts';
import { isServerFailure, SAFE_HEADER_BYTES } from '../failure.ts';
import { createRemembered, type Remembered } from '../remembered.ts';
import { jwtChecker } from '../token-jwt.ts';
import { bearerToken } from '../bearer-token.ts';

const DEFAULT_CACHE_MS = 600_000;

/** What is known of a good token. */
interface Known {
  readonly claims: Claims;
  readonly userInfo?: Claims;
}

/** `undefined` where the endpoint does not take the token. */
type Introspect = (token: string, signal: AbortSignal | undefined) => Promise<Claims | undefined>;

/** What a server answers to a token that it does not take at all, because of its form or length. */
const BAD_FORM = [400, 413, 414, 422, 431];
/** The same, and RFC 6750 §3.1: what it answers to a bearer token that is not good. */
const BAD_TOKEN = [401, 403, ...BAD_FORM];

/** What the method takes from other packages. */
export interface AccessTokenParts {
  /** Reads the groups that tokens leave out, for `azure`; see `azureGroups` of the package oidc. */
  readonly groups?: GroupLookupKind;
}

/** An access token in `Authorization: Bearer`, or in the query: checked by signature or asked for at its issuer. */
export const accessTokenMethod: AuthMethodKind<AccessTokenValidation> = createAccessTokenMethod();

/**
 * Makes the method for access tokens with what it needs from other packages. `create` throws `ERR_EXTAUTH_CONFIG` for a
 * block that cannot be used, also for `azure` without `groups`.
 *
 * @example
 * app.use(extauth({ config, methods: [createAccessTokenMethod({ groups: azureGroups })] }));
 */
export function createAccessTokenMethod({ groups }: AccessTokenParts = {}): AuthMethodKind<AccessTokenValidation> {
  return {
    type: 'oauth2.accessTokenValidation',
    grantedHeaders: ({ claimsToHeaders }) => (claimsToHeaders ?? []).map(({ header = '' }) => header.toLowerCase()),
    create: (spec, scope) => methodOf(spec, { ...scope, groups }),
  };
}

interface Surroundings extends AccessTokenParts {
  readonly id: string;
  readonly context: Context;
}

/** What is known of a token, or why it is not good. */
type Know = (token: string, request: AuthRequest) => Promise<Known | string>;

/** Makes what learns of tokens, and remembers what took a call. Signatures are checked each time: keys may be gone. */
function knowledge(spec: AccessTokenValidation, { id, context }: Surroundings): Know {
  const check = spec.jwt && jwtChecker(spec.jwt, id, context);
  const introspect = introspectorOf(spec, (ref) => secretText(context.secrets.get(ref), 'client-secret'), id);
  const cacheMs = spec.cacheTimeout === undefined ? DEFAULT_CACHE_MS : parseDuration(spec.cacheTimeout);
  const remembers = cacheMs > 0 && (!check || spec.userinfoUrl !== undefined);
  const cache: Remembered<Known> = context.state(`extauth.tokens:${id}:${JSON.stringify(spec)}`, () =>
    createRemembered<Known>(),
  );

  async function learn(token: string, { signal }: AuthRequest, checked: Claims | undefined): Promise<Known | string> {
    const claims = checked ?? (await introspect(token, signal));
    if (!claims) return 'the introspection endpoint does not take the token';
    if (!checked && claims['active'] !== true) return 'the token is not active';
    if (!checked && endOf(claims) <= context.now()) return 'the token has expired';
    if (!spec.userinfoUrl) return { claims };
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const asking = { method: 'GET', headers, signal, refusals: BAD_TOKEN } as const;
    const userInfo = await askJson(spec.userinfoUrl, asking).catch((error: unknown) => {
      // Not every server takes a header this long, and some just close the connection.
      if (token.length > SAFE_HEADER_BYTES && isServerFailure(error)) return undefined;
      throw error;
    });
    return userInfo ? { claims, userInfo } : 'userinfoUrl refuses the token';
  }

  return async (token, request) => {
    const checked = check && (await check(token));
    if (typeof checked === 'string') return checked;
    const known = remembers ? cache.get(token, context.now()) : undefined;
    if (known) return known;
    const learned = await learn(token, request, checked);
    if (typeof learned === 'string') return learned;
    if (remembers) cache.set(token, learned, Math.min(context.now() + cacheMs, endOf(learned.claims)));
    return learned;
  };
}

function methodOf(spec: AccessTokenValidation, surroundings: Surroundings): AuthMethod {
  const know = knowledge(spec, surroundings);
  const groups = groupsOf(spec, surroundings);
  const userAttribute = spec.introspection?.userIdAttributeName;
  return {
    local: !!spec.jwt?.localJwks && !spec.userinfoUrl && !groups,
    close: () => groups?.close(),
    async authorize(request): Promise<AuthDecision> {
      const token = bearerToken(request);
      if (token === undefined) return denied('no token, or several');
      const known = await know(token, request);
      if (typeof known === 'string') return denied(known);
      const { userInfo } = known;
      // After the memory of tokens, which is not bounded by the size of what it holds.
      const claims = groups ? await groups.complete(known.claims) : known.claims;
      if (!hasScopes(spec.requiredScopes?.scope ?? [], claims)) return denied('a required scope is missing');
      const userId = claims[userAttribute ?? 'sub'];
      if (userAttribute !== undefined && typeof userId !== 'string') return denied(`no attribute ${userAttribute}`);
      return allowed(spec, { claims, userInfo, isJwt: spec.jwt !== undefined, userId });
    },
  };
}

function groupsOf({ azure }: AccessTokenValidation, { groups, id, context }: Surroundings): GroupLookup | undefined {
  if (azure && !groups) throw new GatewayError(`${id}: azure needs a lookup of groups`, { code: 'ERR_EXTAUTH_CONFIG' });
  return azure && groups?.(azure, { context });
}

interface Judged {
  readonly claims: Claims;
  readonly userInfo: Claims | undefined;
  readonly isJwt: boolean;
  readonly userId: unknown;
}

function allowed(spec: AccessTokenValidation, { claims, userInfo, isJwt, userId }: Judged): AuthAllowed {
  const introspection = userInfo ?? (isJwt ? undefined : claims);
  return {
    allowed: true,
    claims,
    requestChanges: isJwt ? claimChanges(spec.claimsToHeaders ?? [], claims) : [],
    state: { ...(isJwt && { jwtAccessToken: claims }), ...(introspection && { introspection }) },
    ...(typeof userId === 'string' && { userId }),
    ...(spec.dynamicMetadataFromClaims && { metadata: claimMetadata(spec.dynamicMetadataFromClaims, claims) }),
  };
}

function denied(reason: string): AuthDenied {
  return { allowed: false, status: 403, reason };
}

/** When the token ends, in milliseconds since the epoch. An end that is no number is none that counts. */
function endOf({ exp }: Claims): number {
  return exp === undefined ? Infinity : typeof exp === 'number' ? exp * 1000 : 0;
}

function introspectorOf(
  spec: AccessTokenValidation,
  secretOf: (ref: ResourceRef) => string | undefined,
  id: string,
): Introspect {
  const { introspectionUrl = spec.introspectionUrl, clientId, clientSecretRef } = spec.introspection ?? {};
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (clientSecretRef) {
    const secret = secretOf(clientSecretRef as ResourceRef);
    if (secret === undefined)
      throw new GatewayError(`${id}: secret ${clientSecretRef.name} is missing, or has no client-secret`, {
        code: 'ERR_EXTAUTH_CONFIG',
      });
    const pair = `${formEncoded(clientId ?? '')}:${formEncoded(secret)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  if (!spec.jwt && !introspectionUrl) {
    throw new GatewayError(`${id}: accessTokenValidation needs jwt or introspection`, { code: 'ERR_EXTAUTH_CONFIG' });
  }
  return (token, signal) => {
    const form = new URLSearchParams({ token, ...(clientId && !clientSecretRef && { client_id: clientId }) });
    return askJson(introspectionUrl!, { method: 'POST', headers, body: form.toString(), signal, refusals: BAD_FORM });
  };
}

/** As RFC 6749 §2.3.1 wants the two halves of client credentials. */
function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}
