import { GraphQLError } from 'graphql';
import type { Context, Facts, ResourceRef, SnapshotUpstream } from '@edge-gateway/core';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import type { ExecutableApi } from './execute/executable-api.ts';
import type { Limits } from './document/limits.ts';
import { createLocalApi } from './execute/local-api.ts';
import { readSchema } from './schema/read-schema.ts';
import { graphqlError } from './errors/refusal.ts';
import type { ChangePolicy } from './remote/judge-schema.ts';
import { createRemoteApi, upstreamOf } from './remote/remote-api.ts';
import { namedPath, SERVER_PATH } from './remote/server-path.ts';
import type { ApiCounts } from './observe/statistics.ts';
import { createStitchedApi } from './join/stitched-api.ts';
import { noUpstreams } from './resolvers/upstream-urls.ts';

/** An API that another one joins. */
export interface FoundApi {
  readonly spec: GraphQLApiSpec;
  /** Its descriptor sets from ConfigMaps and files, as base64. */
  readonly descriptorSets?: readonly string[];
}

export interface ApiParts extends FoundApi {
  readonly ref: ResourceRef;
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
    const [at] = error instanceof GraphQLError ? (error.locations ?? []) : [];
    const place = at ? ` (line ${at.line}, column ${at.column})` : '';
    throw graphqlError('ERR_GRAPHQL_API', `${parts.ref.name}: ${reason.replace(/\.$/, '')}${place}.`, error);
  }
}

function apiOf(parts: ApiParts, context: Context, depth: number): ExecutableApi {
  const { ref, spec, limits, findUpstream } = parts;
  const { executableSchema, stitchedSchema } = spec;
  if (depth > MAX_DEPTH) throw new Error('stitched APIs are nested too deep');
  if (stitchedSchema) return createStitchedApi(subschemasOf(parts, context, depth), limits);
  const { local, remote } = executableSchema?.executor ?? {};
  const { namespace } = ref;
  const { secrets, now, callUpstream = noUpstreams } = context;
  const log = context.log.get('graphql');
  const name = `${namespace}.${ref.name}`;
  const shared = { namespace, name, secrets, now, callUpstream, findUpstream, limits, log };
  if (local) {
    const { counts, descriptorSets = [] } = parts;
    return createLocalApi(executableSchema!, { ...shared, countsOf: counts.resolver, descriptorSets });
  }
  if (!remote) throw new Error('it has no executor');
  const { remotePath, changes } = parts;
  const upstream = upstreamOf(remote, namespace);
  const pathOf = remotePath && ((facts: Facts) => namedPath(findUpstream?.(upstream)?.spec) ?? remotePath(facts));
  const { schemaDefinition } = executableSchema!;
  const schema = schemaDefinition ? readSchema(schemaDefinition).schema : undefined;
  return createRemoteApi(schema, remote, { ...shared, pathOf, changes });
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
