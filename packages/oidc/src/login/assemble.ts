import type { Store } from 'express-session';
import { digest, isTrustedUrl, parseDuration, type AuthMethod, type Context } from '@edge-gateway/core';
import type { UserSession } from '@edge-gateway/core/schema';
import { createCheck, verifiesAccess } from './check-tokens.ts';
import { configLog } from './config-log.ts';
import { createLogin } from './create-login.ts';
import { createExpiringMap } from '../expiring-map.ts';
import { codeOf, failure } from '../failure.ts';
import { azureGroups } from '../groups/azure-groups.ts';
import { extraParameters } from './parameters.ts';
import { createProviderClient } from '../provider/client.ts';
import type { ClientCredentials } from '../provider/client-authentication.ts';
import { createProvider, fixedProvider, type Provider } from '../provider/provider.ts';
import { createVerifier } from '../provider/verify.ts';
import { createSessionStorage, renewalOf } from '../session/create-storage.ts';
import { createRenewal, endRenewals, type RenewalMemory } from '../session/renew.ts';
import { claimsOf, toSession, type Session, type SessionStorage } from '../session/session.ts';
import { readSettings, type LoginBlock } from './settings.ts';

const DEFAULT_POLL = '30m';
const USED_MS = 600_000;
const RECENT_MS = 30_000;
const FAILED_MS = 2000;
const GOOD_MS = 3_600_000;
const UNSAVED_MS = 600_000;

/** The input of a login. With `endpoints` it uses plain OAuth 2. */
export interface LoginParts {
  readonly id: string;
  readonly context: Context;
  readonly block: LoginBlock;
  readonly endpoints?: { readonly auth: string; readonly token: string; readonly revocation: string | undefined };
  readonly session?: UserSession;
  readonly store?: Store;
  readonly storage?: SessionStorage;
  /** Default: from the `session` block. */
  readonly allowRefreshing?: boolean;
  readonly credentials?: ClientCredentials;
  readonly signingKey?: string | readonly string[];
}

/** Creates a login without network calls. Throws `ERR_OIDC_CONFIG` or `ERR_OIDC_SECRET`. */
export function assemble(parts: LoginParts): AuthMethod {
  const { block, context, id } = parts;
  const { now } = context;
  const session = parts.session ?? {};
  const settings = readSettings(block, { ...parts, session });
  const provider = providerOf(parts);
  const openid = provider.keys !== undefined;
  const verifier = createVerifier(provider, block.jwksCacheRefreshPolicy, now);
  const client = createProviderClient({
    clientId: settings.clientId,
    authentication: settings.credentials.authentication,
    provider,
    trust: { allowHttp: block.allowHttp },
    now,
  });
  const check = createCheck({
    openid,
    verifier,
    clientId: settings.clientId,
    verifyAccess: verifiesAccess(block),
  });
  const groups = block.azure && azureGroups(block.azure, { context });
  const issuer = block.issuerUrl ?? parts.endpoints?.auth ?? '';
  const good = rememberChecked((each) => check(each, { fresh: false }), parts);
  const storage =
    parts.storage ??
    createSessionStorage({
      settings,
      context,
      session,
      store: parts.store,
      issuer,
      openid,
      check: good.check,
    });
  const log = configLog(context.log.get('ext_authz'), id);
  const sessionHeader = session.redis?.headerName || block.sessionIdHeaderName || undefined;
  const memory = context.state(`oidc:renewals:${id}`, () => createMemory(now));
  const renew = createRenewal({
    storage,
    memory,
    ...renewalOf({ session, store: parts.store }),
    ...(parts.allowRefreshing !== undefined && { allowRefreshing: parts.allowRefreshing }),
    async refresh(request, stored) {
      const parameters = extraParameters(block, 'tokenEndpointQueryParams', request);
      const headers: Record<string, string> = sessionHeader ? { [sessionHeader]: stored.id } : {};
      const answer = await client.refresh(stored.session.refreshToken!, { parameters, headers });
      const renewed = toSession(answer, now(), stored.session);
      if (openid && answer.id_token !== undefined)
        await check(renewed, { fresh: true }).catch((err: unknown) => {
          // The refresh token is used up, and the new token came from the provider over TLS (OpenID Connect Core 3.1.3.7).
          if (codeOf(err) === 'ERR_OIDC_TOKEN_INVALID') throw err;
          log.warn(
            { requestId: request.requestId, err },
            'accepting a refreshed id token without verifying its signature',
          );
        });
      if (openid) requireSameSubject(stored.session, renewed);
      // The old id token is bound to the old access token, so only this process knows that the new one is valid.
      if (openid && answer.id_token === undefined) good.accept(renewed);
      return renewed;
    },
    now,
    log,
  });
  const used = context.state(`oidc:used:${id}`, () => createExpiringMap<true>({ max: 100_000, ttlMs: USED_MS, now }));
  return createLogin({
    block: { ...block, session },
    settings,
    openid,
    provider,
    client,
    verifier,
    storage,
    sessionHeader,
    renew,
    endRenewals: (ended) => endRenewals(memory, ended),
    groups,
    check,
    used,
    now,
    log,
  });
}

interface TokenMemory {
  check(session: Session): Promise<void>;
  /** Records tokens that came from the provider itself as valid. */
  accept(session: Session): void;
}

/** Creates a check that remembers valid tokens, also when the provider's keys change, but not for a check with other settings. */
function rememberChecked(check: TokenMemory['check'], { context, id, block }: LoginParts): TokenMemory {
  const { now } = context;
  const { issuerUrl, clientId, discoveryOverride } = block;
  const checked = [issuerUrl, clientId, discoveryOverride, verifiesAccess(block)];
  const good = context.state(`oidc:good:${id}`, () => createExpiringMap<true>({ max: 10_000, ttlMs: GOOD_MS, now }));
  const keyOf = ({ idToken, accessToken }: Session): string => digest(JSON.stringify([checked, idToken, accessToken]));
  return {
    async check(session) {
      if (good.get(keyOf(session))) return;
      await check(session);
      good.set(keyOf(session), true);
    },
    accept: (session) => good.set(keyOf(session), true),
  };
}

function createMemory(now: () => number): RenewalMemory {
  return {
    flights: new Map(),
    recent: createExpiringMap({ max: 1000, ttlMs: RECENT_MS, now }),
    failed: createExpiringMap({ max: 10_000, ttlMs: FAILED_MS, now }),
    unsaved: createExpiringMap({ max: 1000, ttlMs: UNSAVED_MS, now }),
    withoutIdToken: createExpiringMap({ max: 10_000, ttlMs: GOOD_MS, now }),
    ended: createExpiringMap({ max: 10_000, ttlMs: RECENT_MS, now }),
  };
}

/** Throws if a refreshed id token has another subject (OpenID Connect Core 12.2). */
function requireSameSubject(before: Session, renewed: Session): void {
  const subjects = [claimsOf(before.idToken)?.sub, claimsOf(renewed.idToken)?.sub];
  if (subjects[0] !== subjects[1])
    throw failure('ERR_OIDC_TOKEN_INVALID', 'the refreshed id token belongs to another user');
}

const UNTRUSTED = 'must use https (http only on the local machine, or with allowHttp: true)';

function providerOf({ block, context, endpoints }: LoginParts): Provider {
  const trust = { allowHttp: block.allowHttp };
  if (endpoints) {
    for (const url of Object.values(endpoints)) {
      if (url && !isTrustedUrl(url, trust)) throw failure('ERR_OIDC_CONFIG', `provider endpoints ${UNTRUSTED}`);
    }
    return fixedProvider({
      issuer: new URL(endpoints.auth).origin,
      authorization_endpoint: endpoints.auth,
      token_endpoint: endpoints.token,
      ...(endpoints.revocation && { revocation_endpoint: endpoints.revocation }),
    });
  }
  const issuerUrl = block.issuerUrl ?? '';
  if (!isTrustedUrl(issuerUrl, trust)) throw failure('ERR_OIDC_CONFIG', `issuerUrl ${UNTRUSTED}`);
  for (const [name, url] of Object.entries(block.discoveryOverride ?? {})) {
    if (typeof url === 'string' && url !== '' && !isTrustedUrl(url, trust))
      throw failure('ERR_OIDC_CONFIG', `discoveryOverride.${name} ${UNTRUSTED}`);
  }
  const pollIntervalMs = parseDuration(block.discoveryPollInterval ?? DEFAULT_POLL);
  const options = { issuerUrl, override: block.discoveryOverride, trust, pollIntervalMs, now: context.now };
  const keysFailed = keyAlarm(context, issuerUrl);
  return context.state(`oidc:provider:${digest(JSON.stringify(options))}`, () =>
    createProvider({ ...options, keysFailed }),
  );
}

/** Logins continue with the known keys, so the failure must be visible to operators. */
function keyAlarm({ metrics, log }: Context, issuer: string): (error: unknown) => void {
  const failed = metrics.counter({
    path: 'http.http.ext_authz.jwks_fetch_failed',
    metric: 'envoy_http_ext_authz_jwks_fetch_failed',
    labels: { envoy_http_conn_manager_prefix: 'http' },
  });
  return (err) => {
    failed.value++;
    const text = 'failed to load the key set of the provider, keeping the previous keys';
    log.get('ext_authz').warn({ issuer, err }, text);
  };
}
