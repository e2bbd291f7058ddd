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
import type { ExecutableApi } from './execute/executable-api.ts';
import { createApi, type FoundApi } from './create-api.ts';
import { isGuarded } from './http/identity.ts';
import { limitsOf } from './document/limits.ts';
import { graphqlError } from './errors/refusal.ts';
import { SERVER_PATH } from './remote/server-path.ts';
import { createResponder } from './serve/respond.ts';
import type { ResultStore } from './cache/shared-results.ts';
import { createApiCounts } from './observe/statistics.ts';

/** Parts of the action besides the context. */
export interface GraphQLActionOptions {
  /** Returns an upstream of the newest snapshot. */
  readonly findUpstream?: (ref: ResourceRef) => SnapshotUpstream | undefined;
  /** Enables introspection regardless of the resource, and sends requests to servers at `serverPath`: for explorers. */
  readonly introspection?: boolean;
  /** Path on the server of a remote API. Default `/graphql`. */
  readonly serverPath?: (api: ResourceRef) => string | undefined;
  /**
   * Store for results that `@cacheControl` makes public. Default: in memory, per API. They are encrypted with
   * `signing-key` of the Secret `gw-system.extauth-signing-key`.
   */
  readonly cache?: ResultStore;
}

/** An API in use, and the number of virtual hosts that use it. */
interface Shared {
  readonly responder: Responder;
  users: number;
}

/**
 * The action `graphql` of routes. An API and its caches are kept as long as its resource does not change, and are shared by all
 * routes and listeners. A route whose API is invalid responds with 500.
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
      if (!shared) known.set(api, (shared = { responder: serveApi(api, context, options).responder, users: 0 }));
      shared.users++;
      return release(shared, { guarded: isGuarded(scope), forget: () => void known.delete(api) });
    },
  };
}

function apiOf(ref: ResourceRef, { virtualHost }: Scope): SnapshotGraphQLApi {
  const found = virtualHost.graphqlApis.find(({ ref: own }) => clusterName(own) === clusterName(ref));
  if (!found) throw graphqlError('ERR_GRAPHQL_API', `${ref.namespace}.${ref.name} is not configured here.`);
  return found;
}

/** Creates one use of a responder, which closes with its last use. */
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

/** An API, and its responder. */
interface Served {
  readonly api: ExecutableApi;
  readonly responder: Responder;
}

/** Creates an API with its responder. Throws `ERR_GRAPHQL_API` if the API is invalid. */
export function serveApi(found: SnapshotGraphQLApi, context: Context, given: GraphQLActionOptions): Served {
  const { introspection, cache, findUpstream } = given;
  const { ref, descriptorSets } = found;
  const spec = specOf(found);
  const limits = limitsOf(spec.options?.limits);
  const counts = createApiCounts(context.metrics, spec.statPrefix || `${ref.namespace}_${ref.name}`);
  const apis = apisBelow(found);
  const findApi = ({ namespace, name }: ResourceRef) => apis.get(`${namespace}/${name}`);
  const remotePath = introspection ? () => given.serverPath?.(ref) ?? SERVER_PATH : undefined;
  const parts = { ref, spec, limits, counts, findUpstream, findApi, descriptorSets, remotePath };
  const declared = createApi(parts, context);
  const api = introspection ? withIntrospection(declared) : declared;
  const shared = cache && { store: cache, scope: scopeOf(found) };
  return { api, responder: createResponder({ api, spec, limits, counts, shared }, context) };
}

/** Returns the declared spec, with the schema of the server if none is declared. */
function specOf({ spec, serverSchema }: SnapshotGraphQLApi): SnapshotGraphQLApi['spec'] {
  if (serverSchema === undefined) return spec;
  return { ...spec, executableSchema: { ...spec.executableSchema, schemaDefinition: serverSchema } };
}

/** Returns everything that distinguishes one API from another. */
function scopeOf({ ref, spec, subschemas, descriptorSets, serverSchema }: SnapshotGraphQLApi): string {
  return JSON.stringify([ref, spec, subschemas, descriptorSets, serverSchema]);
}

/** Returns the APIs that an API is joined from, at any depth. */
function apisBelow({ subschemas }: SnapshotGraphQLApi): Map<string, FoundApi> {
  const apis = new Map<string, FoundApi>();
  for (const one of subschemas) {
    const { ref, descriptorSets } = one;
    apis.set(`${ref.namespace}/${ref.name}`, { spec: specOf(one), descriptorSets });
    for (const [name, found] of apisBelow(one)) apis.set(name, found);
  }
  return apis;
}

/** Returns the same API with introspection. Its schema may change, so it must not be copied. */
function withIntrospection(api: ExecutableApi): ExecutableApi {
  return Object.create(api, { introspection: { value: true } }) as ExecutableApi;
}
