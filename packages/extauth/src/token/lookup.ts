import { isTrustedUrl, networkOf, parseDuration, secretText, type Context, type ResourceRef } from '@edge-gateway/core';
import { numericDate, type Claims } from '@edge-gateway/core/jwt';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { askJson } from '../server/ask.ts';
import { createClientSlots } from '../request/client-slots.ts';
import { clientError, isServerFailure, SAFE_HEADER_BYTES } from '../chain/failure.ts';
import { createRemembered } from './remembered.ts';
import { jwtChecker } from './jwt-check.ts';

const DEFAULT_CACHE_MS = 600_000;
/** How long a rejected token is rejected without a call, in milliseconds. */
const REFUSED_MS = 10_000;
/** Timeout of all calls for one token, in milliseconds. They continue if the request that started them ends. */
const CALL_TIMEOUT_MS = 10_000;
/** Most concurrent lookups. */
export const MAX_CALLS = 1000;

/** Statuses of a server that rejects a token because of its form or length. */
const BAD_FORM = [400, 413, 414, 422, 431];
/** The same, and those for an invalid bearer token (RFC 6750 §3.1). */
const BAD_TOKEN = [401, 403, ...BAD_FORM];

/** Facts about a valid token; frozen. */
export interface Known {
  readonly claims: Claims;
  readonly userInfo?: Claims;
}

/** Why a token is invalid. `isFinal`: its issuer rejected it, and will reject it again. */
interface Refused {
  readonly reason: string;
  readonly isFinal: boolean;
}

/** `undefined` if the endpoint rejects the token. */
type Introspect = (token: string, signal: AbortSignal) => Promise<Claims | undefined>;

/**
 * Facts about a token, or why it is invalid. `client` is the trusted address of the client. Rejects with `ERR_EXTAUTH_REQUEST` (429)
 * when too many lookups are in progress, in total or for this client.
 */
export type LookUp = (token: string, client: string) => Promise<Known | string>;

/**
 * Creates a token lookup that caches the results of calls. Signatures are verified again when keys change. Concurrent requests
 * with the same token share the calls. Throws `ERR_EXTAUTH_CONFIG` for an invalid block.
 */
export function createLookUp(spec: AccessTokenValidation, id: string, context: Context): LookUp {
  checkUrls(spec, id);
  const check = spec.jwt && jwtChecker(spec.jwt, id, context);
  const introspect = introspectorOf(spec, id, context);
  const cacheMs = spec.cacheTimeout === undefined ? DEFAULT_CACHE_MS : parseDuration(spec.cacheTimeout);
  const { now } = context;
  // Results of calls, and the calls in progress, of all compiled versions of one step.
  const { known, refused, running, slots } = context.state(`extauth.tokens:${id}:${JSON.stringify(spec)}`, () => ({
    known: createRemembered<Known>(now),
    refused: createRemembered<Refused>(now),
    running: new Map<string, Promise<Known | Refused>>(),
    slots: createClientSlots(MAX_CALLS),
  }));

  async function call(token: string, checked: Claims | undefined): Promise<Known | Refused> {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const claims = checked ?? (await introspect(token, signal));
    const why = checked ? undefined : whyNot(claims, now());
    if (why || !claims) return why ?? REJECTED;
    if (!spec.userinfoUrl) return { claims };
    const userInfo = await askUserInfo(spec.userinfoUrl, token, signal);
    if (!userInfo) return { reason: 'userinfoUrl rejects the token', isFinal: true };
    return isOfOther(userInfo, claims)
      ? { reason: 'the user info belongs to another subject', isFinal: false }
      : { claims, userInfo };
  }

  async function callAndCache(token: string, checked: Claims | undefined): Promise<Known | Refused> {
    const result = await call(token, checked);
    if (cacheMs <= 0) return result;
    if (!('reason' in result)) known.set(token, result, Math.min(now() + cacheMs, endOf(result.claims)));
    else if (result.isFinal) refused.set(token, result, now() + Math.min(REFUSED_MS, cacheMs));
    return result;
  }

  /** Independent of the timeout or the client of one request: all waiting requests share the result. */
  function start(token: string, checked: Claims | undefined, client: string): Promise<Known | Refused> {
    if (!slots.acquire(client)) throw clientError('too many token lookups', 429);
    const calling = callAndCache(token, checked).finally(() => {
      running.delete(token);
      slots.release(client);
    });
    running.set(token, calling);
    return calling;
  }

  return async (token, client) => {
    const checked = check && (await check(token));
    if (typeof checked === 'string') return checked;
    if (checked && !spec.userinfoUrl) return { claims: checked };
    let found: Known | Refused | undefined = known.get(token) ?? refused.get(token);
    found ??= await (running.get(token) ?? start(token, checked, networkOf(client)));
    return 'reason' in found ? found.reason : found;
  };
}

const REJECTED: Refused = { reason: 'the introspection endpoint rejects the token', isFinal: true };

function whyNot(claims: Claims | undefined, now: number): Refused | undefined {
  if (!claims) return REJECTED;
  const { active } = claims;
  if (active !== true) return { reason: 'the token is not active', isFinal: active === false };
  return endOf(claims) <= now ? { reason: 'the token has expired', isFinal: false } : undefined;
}

async function askUserInfo(url: string, token: string, signal: AbortSignal): Promise<Claims | undefined> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  try {
    return await askJson(url, { method: 'GET', headers, signal, refusals: BAD_TOKEN });
  } catch (error) {
    // Not every server accepts a header this long, and some just close the connection.
    if (token.length > SAFE_HEADER_BYTES && isServerFailure(error)) return undefined;
    throw error;
  }
}

/** Returns true if the user info has another subject than the token (OpenID Connect Core 5.3.2). */
function isOfOther({ sub }: Claims, { sub: expected }: Claims): boolean {
  return sub !== undefined && expected !== undefined && sub !== expected;
}

/** Returns the expiry of a token in milliseconds since the epoch. An expiry that is not a number is invalid. */
function endOf({ exp }: Claims): number {
  return exp === undefined ? Infinity : (numericDate(exp) ?? 0) * 1000;
}

function checkUrls({ introspection, userinfoUrl, jwt, allowHttp, ...spec }: AccessTokenValidation, id: string): void {
  const introspectionUrl = introspection?.introspectionUrl ?? spec.introspectionUrl;
  const urls = { introspectionUrl, userinfoUrl, 'jwt.remoteJwks.url': jwt?.remoteJwks?.url };
  for (const [field, url] of Object.entries(urls)) {
    if (!url || isTrustedUrl(url, { allowHttp })) continue;
    throw configError(`${id}: ${field} must be an https address (http only to this machine, or with allowHttp: true)`);
  }
}

function introspectorOf(spec: AccessTokenValidation, id: string, { secrets }: Context): Introspect {
  const { introspectionUrl = spec.introspectionUrl, clientId, clientSecretRef } = spec.introspection ?? {};
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  };
  if (clientSecretRef) {
    const secret = secretText(secrets.get(clientSecretRef as ResourceRef), 'client-secret');
    if (secret === undefined)
      throw configError(`${id}: secret ${clientSecretRef.name} is missing, or has no client-secret`);
    const pair = `${formEncoded(clientId ?? '')}:${formEncoded(secret)}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  if (!spec.jwt && !introspectionUrl) throw configError(`${id}: accessTokenValidation needs jwt or introspection`);
  return (token, signal) => {
    const form = new URLSearchParams({ token, ...(clientId && !clientSecretRef && { client_id: clientId }) });
    return askJson(introspectionUrl!, { method: 'POST', headers, body: form.toString(), signal, refusals: BAD_FORM });
  };
}

/** Encodes a part of client credentials (RFC 6749 §2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams({ text }).toString().slice('text='.length);
}
