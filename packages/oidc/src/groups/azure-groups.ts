import {
  deriveKey,
  digest,
  isTrustedUrl,
  type AzureAddresses,
  type Context,
  type GroupLookup,
  type GroupLookupKind,
} from '@edge-gateway/core';
import type { AzureGroups } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';
import { clientSecretOf } from '../provider/secret.ts';
import { shareRedis } from '../session/redis.ts';
import { createAppToken, type Application } from './app-token.ts';
import { createGraph, type ReadGroups } from './graph.ts';
import { createGroupMemory, type GroupMemory } from './memory.ts';
import { createMicrosoftCall } from './microsoft.ts';
import { lacksGroups, subjectOf, type Subject } from './overage.ts';
import { createSharedGroups } from './shared.ts';

const PUBLIC_CLOUD: AzureAddresses = {
  login: 'https://login.microsoftonline.com',
  graph: 'https://graph.microsoft.com',
};

/** State that outlives reloads. */
interface Known {
  readonly read: ReadGroups;
  readonly memory: GroupMemory;
}

/**
 * Reads groups from Microsoft Graph that Microsoft Entra omits from a token because there are more than 200, configured by
 * `azure` of `oidcAuthorizationCode` or `accessTokenValidation`. They are cached until the token expires, in memory and, with
 * `claimsCachingOptions`, in Redis. Throws `ERR_OIDC_CONFIG` or `ERR_OIDC_SECRET`; `complete` rejects with
 * `ERR_OIDC_GROUPS_UNAVAILABLE` (503), for all requests of that user within a second.
 *
 * @example
 * createExtAuth({ methods: [createAccessTokenMethod({ groups: azureGroups }), ...METHODS] });
 */
export const azureGroups: GroupLookupKind = (block, { context }) => {
  const settings = settingsOf(block, context);
  const { tenantId, clientSecret } = settings;
  const { now } = context;
  const known = context.state(`oidc:azure:${digest(JSON.stringify(settings))}`, (): Known => {
    const appToken = createAppToken(settings, now);
    return { read: createGraph(settings.graph, appToken, createMicrosoftCall(now)), memory: createGroupMemory(now) };
  });
  const connection = block.claimsCachingOptions && shareRedis(block.claimsCachingOptions, context);
  const cipherKey = deriveKey(clientSecret, `oidc groups ${JSON.stringify([tenantId, settings.clientId])}`);
  const shared = connection && createSharedGroups(connection.redis, cipherKey, context.log.get('redis'));
  async function read({ oid, key, until }: Subject): Promise<readonly string[]> {
    const found = await shared?.get(key);
    const groups = found ?? (await known.read(oid));
    if (!found) await shared?.set(key, groups, until - now());
    return groups;
  }
  const lookup: GroupLookup = {
    async complete(claims) {
      if (!lacksGroups(claims)) return claims;
      return { ...claims, groups: await known.memory(subjectOf(claims, tenantId, now()), read) };
    },
    close: () => connection?.release(),
  };
  return lookup;
};

function settingsOf({ clientId, tenantId, clientSecret: ref }: AzureGroups, context: Context): Application {
  if (!clientId || !tenantId || !ref)
    throw failure('ERR_OIDC_CONFIG', 'azure requires clientId, tenantId and clientSecret');
  const { login, graph } = context.azure ?? PUBLIC_CLOUD;
  if (!isTrustedUrl(login) || !isTrustedUrl(graph)) throw failure('ERR_OIDC_CONFIG', 'the azure URLs must use https');
  const clientSecret = clientSecretOf(ref, context.secrets);
  return { clientId, tenantId, clientSecret, login: new URL(login).origin, graph: new URL(graph).origin };
}
