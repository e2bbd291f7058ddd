import { keyOf, type Resource, type ResourceRef } from '../resource.ts';
import type { Ref } from '../schema/field.ts';
import type { GraphQLApiSpec } from '../schema/graphql-api.ts';
import type { Route, SnapshotGraphQLApi } from '../snapshot.ts';
import { contentOf } from './content.ts';
import { dotted } from './names.ts';
import type { Reader } from './world.ts';

/** APIs that are joined from APIs that are joined: at most so deep. */
const MAX_DEPTH = 8;
const NO_APIS: readonly SnapshotGraphQLApi[] = Object.freeze([]);

/** A GraphQLApi with all it refers to, or why it cannot be served. */
export type FoundApi =
  | { readonly api: SnapshotGraphQLApi; readonly warnings: readonly string[] }
  | { readonly broken: string };

/** Follows a reference to a GraphQLApi. */
export function findGraphQLApi(written: Ref, namespace: string, reader: Reader): FoundApi {
  return resolve({ name: written.name ?? '', namespace: written.namespace || namespace }, reader, []);
}

function resolve(ref: ResourceRef, reader: Reader, above: readonly string[]): FoundApi {
  const name = `GraphQLApi ${dotted(ref)}`;
  if (above.includes(name)) return { broken: `${name} is joined from itself: ${[...above, name].join(', ')}` };
  if (above.length >= MAX_DEPTH) return { broken: `${name} lies more than ${MAX_DEPTH} APIs deep` };
  const found = reader.find<GraphQLApiSpec>('GraphQLApi', ref);
  if (found.state === 'missing') return { broken: `${name} not found` };
  if (found.state === 'refused') return { broken: `${name} is refused: ${found.cause}` };
  const { resource, stale } = found;
  const warnings = [
    ...(stale === undefined ? [] : [`${name} serves its last valid version: ${stale}`]),
    ...missingUpstreams(resource, reader),
  ];
  const subschemas: SnapshotGraphQLApi[] = [];
  for (const part of resource.spec.stitchedSchema?.subschemas ?? []) {
    const child = { name: part.name ?? '', namespace: part.namespace || ref.namespace };
    const inner = resolve(child, reader, [...above, name]);
    if ('broken' in inner) return { broken: `${name}: ${inner.broken}` };
    subschemas.push(inner.api);
    warnings.push(...inner.warnings);
  }
  const descriptors = descriptorsOf(resource, reader);
  if ('broken' in descriptors) return { broken: `${name}: ${descriptors.broken}` };
  const api = {
    ref,
    spec: resource.spec,
    subschemas,
    ...(descriptors.sets.length > 0 && { descriptorSets: descriptors.sets }),
    ...serverSchemaOf(resource, reader),
  };
  return { api: sameApi(api), warnings };
}

/** What the server of a remote API said of itself, where the API declares nothing. */
function serverSchemaOf({ spec, metadata }: Resource<GraphQLApiSpec>, reader: Reader): { serverSchema?: string } {
  const told = reader.world.stored.get(keyOf('GraphQLApi', metadata))?.learned?.serverSchema;
  return told === undefined || spec.executableSchema?.schemaDefinition ? {} : { serverSchema: told };
}

const known = new WeakMap<GraphQLApiSpec, SnapshotGraphQLApi>();

/** The object made before where nothing differs, so that virtual hosts can be compared by it. */
function sameApi(made: SnapshotGraphQLApi): SnapshotGraphQLApi {
  const before = known.get(made.spec);
  const api = Object.freeze({
    ...made,
    ref: Object.freeze({ ...made.ref }),
    subschemas: Object.freeze(made.subschemas),
  });
  if (before && contentOf(before) === contentOf(api)) return before;
  known.set(made.spec, api);
  return api;
}

/** An API whose upstream is gone goes on: the fields that need it are errors. */
function missingUpstreams({ spec, metadata }: Resource<GraphQLApiSpec>, reader: Reader): string[] {
  const { local, remote } = spec.executableSchema?.executor ?? {};
  const refs = [
    remote?.upstreamRef,
    ...Object.values(local?.resolutions ?? {}).map((one) => (one.restResolver ?? one.grpcResolver)?.upstreamRef),
  ];
  const problems = refs.flatMap((ref) => {
    if (!ref?.name) return [];
    return reader.upstream({ name: ref.name, namespace: ref.namespace || metadata.namespace }).broken ?? [];
  });
  return [...new Set(problems)];
}

type Descriptors = { readonly sets: readonly string[] } | { readonly broken: string };

/** The descriptor sets that lie in ConfigMaps. */
function descriptorsOf({ spec, metadata }: Resource<GraphQLApiSpec>, reader: Reader): Descriptors {
  const sets: string[] = [];
  const refs = spec.executableSchema?.grpcDescriptorRegistry?.protoRefsList?.configMapRefs ?? [];
  for (const { name = '', namespace } of refs) {
    const ref = { name, namespace: namespace || metadata.namespace };
    const found = reader.find<{ readonly data?: Readonly<Record<string, string>> }>('ConfigMap', ref);
    if (found.state !== 'usable') return { broken: `ConfigMap ${dotted(ref)} not found` };
    sets.push(...Object.values(found.resource.spec.data ?? {}));
  }
  return { sets: Object.freeze(sets) };
}

/** The GraphQLApis that the routes of a virtual host answer with, sorted, each once. */
export function graphqlApisOf(routes: readonly Route[], reader: Reader): readonly SnapshotGraphQLApi[] {
  const apis = new Map<string, SnapshotGraphQLApi>();
  for (const { action } of routes) {
    if (action.type !== 'graphql') continue;
    const found = findGraphQLApi(action.api, action.api.namespace, reader);
    if ('api' in found) apis.set(dotted(action.api), found.api);
  }
  if (apis.size === 0) return NO_APIS;
  return Object.freeze([...apis].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, api]) => api));
}
