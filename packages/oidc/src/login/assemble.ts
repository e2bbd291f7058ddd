import type { Store } from 'express-session';
import type { AuthMethod, Context } from '@edge-gateway/core';
import type { UserSession } from '@edge-gateway/core/schema';
import { createExpiringMap } from '../session/expiring.ts';
import { azureGroups } from '../groups/azure-groups.ts';
import { createProviderClient } from '../provider/client.ts';
import type { ClientCredentials } from '../provider/client-authentication.ts';
import { configuredProvider, type OAuthEndpoints } from '../provider/configured-provider.ts';
import { createVerifier } from '../provider/verify.ts';
import { createSessionStorage, renewalOf } from '../session/create-storage.ts';
import { createRenewal, createRenewalMemory, endRenewals } from '../session/renew.ts';
import type { SessionStorage } from '../session/session.ts';
import { createCheck, verifiesAccess } from './check-tokens.ts';
import { configLog } from './config-log.ts';
import { createLogin } from './create-login.ts';
import { createRefresh } from './refresh.ts';
import { readSettings, type LoginBlock } from './settings.ts';
import { rememberChecked } from './token-memory.ts';

const USED_MS = 600_000;

/** The input of a login. With `endpoints` it uses plain OAuth 2. */
export interface LoginParts {
  readonly id: string;
  readonly context: Context;
  readonly block: LoginBlock;
  readonly endpoints?: OAuthEndpoints;
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
  const provider = configuredProvider(parts);
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
  const memory = context.state(`oidc:renewals:${id}`, () => createRenewalMemory(now));
  const renew = createRenewal({
    storage,
    memory,
    ...renewalOf({ session, store: parts.store }),
    ...(parts.allowRefreshing !== undefined && { allowRefreshing: parts.allowRefreshing }),
    refresh: createRefresh({ block, client, check, sessionHeader, good, openid, now, log }),
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
