import type { Context, Facts, ResourceRef, SnapshotUpstream } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { ExecutableApi } from './api/executable-api.ts';
import type { Limits } from './api/limits.ts';
import { createLocalApi, type ExecutableSchema } from './execute/local-api.ts';
import { readSchema } from './schema/read-schema.ts';
import { graphqlError } from './api/refusal.ts';
import type { ChangePolicy } from './remote/judge-schema.ts';
import { createRemoteApi, upstreamOf } from './remote/remote-api.ts';
import { namedPath, SERVER_PATH } from './remote/server-path.ts';
import type { ApiCounts } from './api/statistics.ts';
import { createStitchedApi } from './join/stitched-api.ts';
import { noUpstreams } from './resolvers/upstream-urls.ts';

/** An API that another one joins. */
export interface FoundApi {
  readonly spec: GraphQLApiSpec;
  /** Its descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets?: readonly string[];
}

export interface ApiParts {
  readonly ref: ResourceRef;
  readonly spec: GraphQLApiSpec;
  /** Descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets?: readonly string[];
  readonly limits: Limits;
  readonly counts: ApiCounts;
  readonly findUpstream?: (ref: ResourceRef) => SnapshotUpstream | undefined;
  /** Returns an API that a stitched one joins. */
  readonly findApi?: (ref: ResourceRef) => FoundApi | undefined;
  /** Path on the server of a remote executor whose upstream names none. Default: that of the request, whatever the upstream names. */
  readonly remotePath?: (facts: Facts) => string;
  readonly changes?: ChangePolicy;
}

const MAX_DEPTH = 5;

/** Creates the API that a spec declares. Throws `ERR_GRAPHQL_API` if it is invalid. */
export function createApi(parts: ApiParts, context: Context): ExecutableApi {
  try {
    return apiOf(parts, context, 0);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw graphqlError('ERR_GRAPHQL_API', `${parts.ref.name}: ${reason}.`, error);
  }
}

function apiOf(parts: ApiParts, context: Context, depth: number): ExecutableApi {
  const { executableSchema, stitchedSchema } = parts.spec;
  if (depth > MAX_DEPTH) throw new Error('stitched APIs are nested too deep');
  if (stitchedSchema) return createStitchedApi(subschemasOf(parts, context, depth), parts.limits);
  if (executableSchema?.executor?.local) return localApi(executableSchema, parts, context);
  if (executableSchema?.executor?.remote) return remoteApi(executableSchema, parts, context);
  throw new Error('it has no executor');
}

function subschemasOf(parts: ApiParts, context: Context, depth: number) {
  return (parts.spec.stitchedSchema?.subschemas ?? []).map(({ name = '', namespace, typeMerge }) => {
    const ref = { name, namespace: namespace || parts.ref.namespace };
    const found = parts.findApi?.(ref);
    if (!found) throw new Error(`there is no GraphQLApi ${ref.namespace}.${ref.name}`);
    const { spec, descriptorSets } = found;
    const api = apiOf({ ...parts, ref, spec, descriptorSets, remotePath: () => SERVER_PATH }, context, depth + 1);
    return { name: `${ref.namespace}.${ref.name}`, api, typeMerge };
  });
}

function localApi(executable: ExecutableSchema, parts: ApiParts, context: Context): ExecutableApi {
  const { ref, limits, counts, findUpstream } = parts;
  return createLocalApi(executable, {
    namespace: ref.namespace,
    name: `${ref.namespace}.${ref.name}`,
    callUpstream: context.callUpstream ?? noUpstreams,
    findUpstream,
    secrets: context.secrets,
    limits,
    countsOf: counts.resolver,
    descriptorSets: parts.descriptorSets ?? [],
    log: context.log.get('graphql'),
  });
}

function remoteApi({ schemaDefinition, executor }: ExecutableSchema, parts: ApiParts, context: Context): ExecutableApi {
  const schema = schemaDefinition ? readSchema(schemaDefinition).schema : undefined;
  const upstream = upstreamOf(executor!.remote!, parts.ref.namespace);
  const asked = parts.remotePath;
  return createRemoteApi(schema, executor!.remote!, {
    namespace: parts.ref.namespace,
    callUpstream: context.callUpstream ?? noUpstreams,
    findUpstream: parts.findUpstream,
    limits: parts.limits,
    log: context.log.get('graphql'),
    now: context.now,
    pathOf: asked && ((facts) => namedPath(parts.findUpstream?.(upstream)?.spec) ?? asked(facts)),
    changes: parts.changes,
  });
}
