import {
  deriveKey,
  digest,
  isTrustedUrl,
  secretText,
  type AzureAddresses,
  type Context,
  type GroupLookup,
  type GroupLookupKind,
} from '@edge-gateway/core';
import type { AzureGroups } from '@edge-gateway/core/schema';
import { createExpiringMap, type ExpiringMap } from '../session/expiring.ts';
import { failure } from '../failure.ts';
import { findSecret, nameOf } from '../provider/secret.ts';
import { shareRedis } from '../session/redis.ts';
import { createAppToken } from './app-token.ts';
import { createGraph, type ReadGroups } from './graph.ts';
import { createGroupMemory, type GroupMemory } from './memory.ts';
import { createAsk } from './microsoft.ts';
import { lacksGroups, subjectOf, type Subject } from './overage.ts';
import { createSharedGroups } from './shared.ts';

const PUBLIC_CLOUD: AzureAddresses = {
  login: 'https://login.microsoftonline.com',
  graph: 'https://graph.microsoft.com',
};
const FAILED_MS = 1000;

/** State that outlives reloads. */
interface Known {
  readonly read: ReadGroups;
  readonly memory: GroupMemory;
  readonly flights: Map<string, Promise<readonly string[]>>;
  readonly failed: ExpiringMap<Error>;
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
  const known = context.state(`oidc:azure:${digest(JSON.stringify(settings))}`, () => createKnown(settings, now));
  const connection = block.claimsCachingOptions && shareRedis(block.claimsCachingOptions, context);
  const cipherKey = deriveKey(clientSecret, `oidc groups ${JSON.stringify([tenantId, settings.clientId])}`);
  const shared = connection && createSharedGroups(connection.redis, cipherKey, context.log.get('redis'));
  const groupsOf = once(known, async ({ oid, key, until }) => {
    const found = await shared?.get(key);
    const groups = found ?? (await known.read(oid));
    known.memory.set(key, groups, until);
    if (!found) await shared?.set(key, groups, until - now());
    return groups;
  });
  const lookup: GroupLookup = {
    async complete(claims) {
      if (!lacksGroups(claims)) return claims;
      const subject = subjectOf(claims, tenantId, now());
      return { ...claims, groups: known.memory.get(subject.key) ?? (await groupsOf(subject)) };
    },
    close: () => connection?.release(),
  };
  return lookup;
};

type GroupsOf = (subject: Subject) => Promise<readonly string[]>;

/** Makes one call for all concurrent requests of a user, and none for a moment after a failure. */
function once({ flights, failed }: Known, read: GroupsOf): GroupsOf {
  return (subject) => {
    const { key } = subject;
    const error = failed.get(key);
    if (error) return Promise.reject(error);
    const under = flights.get(key);
    if (under) return under;
    const flight = read(subject)
      .catch((reason: Error) => {
        failed.set(key, reason);
        throw reason;
      })
      .finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}

interface Settings {
  readonly clientId: string;
  readonly tenantId: string;
  readonly clientSecret: string;
  readonly login: string;
  readonly graph: string;
}

function settingsOf({ clientId, tenantId, clientSecret: ref }: AzureGroups, context: Context): Settings {
  if (!clientId || !tenantId || !ref)
    throw failure('ERR_OIDC_CONFIG', 'azure requires clientId, tenantId and clientSecret');
  const { login, graph } = context.azure ?? PUBLIC_CLOUD;
  if (!isTrustedUrl(login) || !isTrustedUrl(graph)) throw failure('ERR_OIDC_CONFIG', 'the azure URLs must use https');
  const clientSecret = secretText(findSecret(context.secrets, ref), 'client-secret');
  if (!clientSecret) throw failure('ERR_OIDC_SECRET', `secret ${nameOf(ref)} has no client-secret for azure`);
  return { clientId, tenantId, clientSecret, login: new URL(login).origin, graph: new URL(graph).origin };
}

function createKnown({ clientId, tenantId, clientSecret, login, graph }: Settings, now: () => number): Known {
  const url = `${login}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`;
  const credentials = { url, clientId, clientSecret, scope: `${graph}/.default` };
  const appToken = createAppToken({ ...credentials, ask: createAsk(now), now });
  return {
    read: createGraph(graph, appToken, createAsk(now)),
    memory: createGroupMemory(now),
    flights: new Map(),
    failed: createExpiringMap<Error>({ max: 10_000, ttlMs: FAILED_MS, now }),
  };
}
