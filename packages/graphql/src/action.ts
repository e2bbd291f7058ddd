import {
  clusterName,
  type ActionKind,
  type Context,
  type Responder,
  type ResourceRef,
  type Scope,
  type SnapshotGraphQLApi,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { createAnswerer } from './http/answer.ts';
import type { ExecutableApi } from './api/executable-api.ts';
import { createApi, type FoundApi } from './create-api.ts';
import { isGuarded } from './http/identity.ts';
import { limitsOf } from './api/limits.ts';
import { graphqlError } from './api/refusal.ts';
import { SERVER_PATH } from './remote/server-path.ts';
import { createResponder } from './http/respond.ts';
import { createResultsKey } from './cache/results-key.ts';
import { createSharedResults, type ResultStore } from './cache/shared-results.ts';
import { createApiCounts } from './api/statistics.ts';

/** What the action needs of the gateway beside the context. */
export interface GraphQLActionOptions {
  /** An upstream as the newest snapshot has it. */
  readonly findUpstream?: (ref: ResourceRef) => SnapshotUpstream | undefined;
  /** Answers questions about the schema, whatever the resource says, and asks servers at `serverPath`: for explorers. */
  readonly introspection?: boolean;
  /** Path on the server of a remote API. Default `/graphql`. */
  readonly serverPath?: (api: ResourceRef) => string | undefined;
  /**
   * Store of results that `@cacheControl` makes public. Default: in memory, per API. They are encrypted with
   * `signing-key` of the Secret `gw-system.extauth-signing-key`.
   */
  readonly cache?: ResultStore;
}

/** An API in use, by how many virtual hosts. */
interface Shared {
  readonly responder: Responder;
  users: number;
}

/**
 * The action `graphql` of routes. An API stays the same, with all it remembers, as long as its resource does, on however many
 * routes and listeners. A route whose API cannot be served answers 500.
 *
 * @example
 * createRouter({ actions: [graphqlAction({ findUpstream })], context });
 */
export function graphqlAction(options: GraphQLActionOptions = {}): ActionKind {
  return {
    action: 'graphql',
    compile(action, context, scope) {
      if (action.type !== 'graphql') throw graphqlError('ERR_GRAPHQL_API');
      const known = context.state('graphql.apis', () => new WeakMap<SnapshotGraphQLApi, Shared>());
      const api = apiOf(action.api, scope);
      let shared = known.get(api);
      if (!shared) known.set(api, (shared = { responder: serveApi(api, context, options), users: 0 }));
      shared.users++;
      return release(shared, { guarded: isGuarded(scope), forget: () => void known.delete(api) });
    },
  };
}

function apiOf(ref: ResourceRef, { virtualHost }: Scope): SnapshotGraphQLApi {
  const found = virtualHost.graphqlApis.find(({ ref: own }) => clusterName(own) === clusterName(ref));
  if (!found) throw graphqlError('ERR_GRAPHQL_API', `${ref.namespace}.${ref.name} is not known here.`);
  return found;
}

/** One use of a responder; the last one that is closed closes it. */
function release(
  shared: Shared,
  { guarded, forget }: { readonly guarded: boolean; readonly forget: () => void },
): Responder {
  const { responder } = shared;
  const used: Responder = (exchange, next) => responder(guarded ? { ...exchange, guarded } : exchange, next);
  if (responder.upgrade) used.upgrade = responder.upgrade.bind(responder);
  if (responder.drain) used.drain = responder.drain.bind(responder);
  used.close = async () => {
    if (--shared.users > 0) return;
    forget();
    await responder.close?.();
  };
  return used;
}

/** Makes what answers the requests to an API. Throws `ERR_GRAPHQL_API`. */
export function serveApi(found: SnapshotGraphQLApi, context: Context, given: GraphQLActionOptions): Responder {
  const { findUpstream, introspection } = given;
  const { ref } = found;
  const spec = specOf(found);
  const limits = limitsOf(spec.options?.limits);
  const counts = createApiCounts(context.metrics, spec.statPrefix || `${ref.namespace}_${ref.name}`);
  const apis = apisBelow(found);
  const findApi = ({ namespace, name }: ResourceRef) => apis.get(`${namespace}/${name}`);
  const { descriptorSets } = found;
  const declared = createApi(
    {
      ...(introspection && { remotePath: () => given.serverPath?.(ref) ?? SERVER_PATH }),
      ref,
      spec,
      limits,
      counts,
      findUpstream,
      findApi,
      descriptorSets,
    },
    context,
  );
  const api = introspection ? withIntrospection(declared) : declared;
  const { persistedQueryCacheConfig, allowedQueryHashes, options } = spec;
  const answerer = createAnswerer({
    api,
    limits,
    counts,
    persisted: { cacheSize: persistedQueryCacheConfig?.cacheSize, allowedHashes: allowedQueryHashes },
    log: context.log.get('graphql'),
    logSensitiveInfo: options?.logSensitiveInfo === true,
    now: context.now,
    cache:
      given.cache &&
      createSharedResults({
        store: given.cache,
        scope: scopeOf(found),
        key: createResultsKey(undefined, context),
        rejected: counts.cacheRejected,
        now: context.now,
      }),
  });
  const responder = createResponder({ answerer, limits, allowedOrigins: options?.allowedOrigins });
  const closeSockets = responder.close?.bind(responder);
  responder.close = async () => {
    await closeSockets?.();
    await api.close?.();
  };
  return responder;
}

/** What is declared; of a server that is not described, what it told of itself. */
function specOf({ spec, serverSchema }: SnapshotGraphQLApi): SnapshotGraphQLApi['spec'] {
  if (serverSchema === undefined) return spec;
  return { ...spec, executableSchema: { ...spec.executableSchema, schemaDefinition: serverSchema } };
}

/** All that makes one API another. */
function scopeOf({ ref, spec, subschemas, descriptorSets, serverSchema }: SnapshotGraphQLApi): string {
  return JSON.stringify([ref, spec, subschemas, descriptorSets, serverSchema]);
}

/** The APIs that an API is joined from, at any depth. */
function apisBelow({ subschemas }: SnapshotGraphQLApi): Map<string, FoundApi> {
  const apis = new Map<string, FoundApi>();
  for (const one of subschemas) {
    const { ref, descriptorSets } = one;
    apis.set(`${ref.namespace}/${ref.name}`, { spec: specOf(one), ...(descriptorSets && { descriptorSets }) });
    for (const [name, found] of apisBelow(one)) apis.set(name, found);
  }
  return apis;
}

/** The same API; its schema may change, so that it must not be copied. */
function withIntrospection(api: ExecutableApi): ExecutableApi {
  return Object.create(api, { introspection: { value: true } }) as ExecutableApi;
}
