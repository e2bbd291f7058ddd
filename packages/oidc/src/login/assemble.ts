import type { AuthMethod, Logger } from '@edge-gateway/core';
import { azureGroups } from '../groups/azure-groups.ts';
import { createProviderClient } from '../provider/client.ts';
import { configuredProvider, trustOf } from '../provider/configured-provider.ts';
import { createVerifier } from '../provider/verify.ts';
import { createSessionStorage, renewalOf } from '../session/create-storage.ts';
import { createExpiringMap } from '../session/expiring.ts';
import { createRenewal, createRenewalMemory, endRenewals } from '../session/renew.ts';
import { checkTokens, rememberChecked } from './check-tokens.ts';
import { createLogin } from './create-login.ts';
import type { Login } from './login.ts';
import { refresh } from './refresh.ts';
import { readSettings, type LoginParts } from './settings.ts';

const USED_MS = 600_000;

/** Creates a login without network calls. Throws `ERR_OIDC_CONFIG` or `ERR_OIDC_SECRET`. */
export function assemble(parts: LoginParts): AuthMethod {
  const { block, context, id } = parts;
  const { now } = context;
  const settings = readSettings(parts);
  const provider = configuredProvider(parts);
  const openid = provider.keys !== undefined;
  const verifier = createVerifier(provider, block.jwksCacheRefreshPolicy, now);
  const checked = { block, settings, openid, verifier };
  const verifiedTokens = rememberChecked((session) => checkTokens(checked, session, { fresh: false }), parts);
  const storage = parts.storage ?? createSessionStorage(parts, { settings, openid, check: verifiedTokens.check });
  const renewal = renewalOf(parts);
  const log = configLog(context.log.get('ext_authz'), id);
  const memory = context.state(`oidc:renewals:${id}`, () => createRenewalMemory(now));
  const login: Login = {
    ...checked,
    provider,
    client: createProviderClient({
      clientId: settings.clientId,
      authentication: settings.credentials.authentication,
      provider,
      trust: trustOf(parts),
      now,
    }),
    storage,
    allowRefreshing: renewal.allowRefreshing,
    renew: createRenewal({
      storage,
      memory,
      ...renewal,
      refresh: (request, stored) => refresh(login, request, stored),
      now,
      log,
    }),
    endRenewals: (session) => endRenewals(memory, session),
    groups: block.azure && azureGroups(block.azure, { context }),
    verifiedTokens,
    usedAttempts: context.state(`oidc:used:${id}`, () =>
      createExpiringMap<true>({ max: 100_000, ttlMs: USED_MS, now }),
    ),
    compared: new WeakSet(),
    now,
    log,
  };
  return createLogin(login);
}

/** Creates a logger whose lines name the auth config, as those of the other steps do. */
function configLog(log: Logger, config: string): Logger {
  return {
    debug: (details, message) => log.debug({ config, ...details }, message),
    info: (details, message) => log.info({ config, ...details }, message),
    warn: (details, message) => log.warn({ config, ...details }, message),
    error: (details, message) => log.error({ config, ...details }, message),
    fatal: (details, message) => log.fatal({ config, ...details }, message),
  };
}
