import type { FieldProblem } from '../../resource/problem.ts';
import { keyOf, type Resource, type ResourceKey, type ResourceRef } from '../../resource/resource.ts';
import type { Ref } from '../../schema/field.ts';
import type { GraphQLApiSpec } from '../../schema/kind/graphql-api.ts';
import type { Route, SnapshotGraphQLApi } from '../../contract/snapshot.ts';
import { contentOf } from '../snapshot/content.ts';
import type { Derived } from '../derived.ts';
import { faultOf } from './missing.ts';
import { dotted } from '../names.ts';
import type { Reader } from '../input.ts';

/** Maximum nesting depth of joined APIs. */
const MAX_DEPTH = 8;
const NO_APIS: readonly SnapshotGraphQLApi[] = Object.freeze([]);

/** A fault, and the target of the broken reference, if any. */
export interface KeyedFault extends FieldProblem {
  readonly key: ResourceKey | undefined;
}

/** A GraphQLApi with everything it refers to. */
export interface FoundApi {
  /** Missing if it cannot be served. */
  readonly api?: SnapshotGraphQLApi;
  /** Everything that it refers to, including itself. */
  readonly refs: readonly ResourceKey[];
  readonly faults: readonly KeyedFault[];
  readonly warnings: readonly string[];
}

/** Follows a reference to a GraphQLApi. */
export function findGraphQLApi(written: Ref, namespace: string, reader: Reader): FoundApi {
  const ref = { name: written.name ?? '', namespace: written.namespace || namespace };
  const reading: Reading = { reader, refs: new Set(), faults: [], warnings: [] };
  const api = resolve(ref, reading, []);
  const { refs, faults, warnings } = reading;
  return { ...(api && { api }), refs: Object.freeze([...refs]), faults, warnings };
}

interface Reading {
  readonly reader: Reader;
  readonly refs: Set<ResourceKey>;
  readonly faults: KeyedFault[];
  readonly warnings: string[];
}

function resolve(ref: ResourceRef, reading: Reading, above: readonly string[]): SnapshotGraphQLApi | undefined {
  const { reader, refs, warnings } = reading;
  const name = `GraphQLApi ${dotted(ref)}`;
  const key = keyOf('GraphQLApi', ref);
  const fail = (fault: FieldProblem, at?: ResourceKey): undefined => {
    reading.faults.push({ ...fault, message: [...above, fault.message].join(': '), key: at });
  };
  refs.add(key);
  if (above.includes(name)) return fail(faultOf(`${name} joins itself: ${[...above, name].join(', ')}`));
  if (above.length >= MAX_DEPTH) return fail(faultOf(`${name} is nested more than ${MAX_DEPTH} APIs deep`));
  const found = reader.find<GraphQLApiSpec>('GraphQLApi', ref);
  if (found.state === 'missing') return fail(reader.missing(`${name} not found`, 'GraphQLApi', ref), key);
  if (found.state === 'rejected') return fail(faultOf(`${name} is rejected: ${found.cause}`), key);
  const { resource, stale } = found;
  if (stale !== undefined) warnings.push(`${name} serves its last good version: ${stale}`);
  readUpstreams(resource, reading);
  const subschemas: SnapshotGraphQLApi[] = [];
  for (const part of resource.spec.stitchedSchema?.subschemas ?? []) {
    const child = { name: part.name ?? '', namespace: part.namespace || ref.namespace };
    const inner = resolve(child, reading, [...above, name]);
    if (!inner) return undefined;
    subschemas.push(inner);
  }
  const sets = descriptorSets(resource, reading, [...above, name]);
  if (!sets) return undefined;
  const api: SnapshotGraphQLApi = {
    ref,
    spec: resource.spec,
    subschemas,
    ...(sets.length > 0 && { descriptorSets: sets }),
    ...serverSchemaOf(resource, reader),
  };
  return sameApi(api, reader.input.derived);
}

/** Returns the schema from the server of a remote API that declares none. */
function serverSchemaOf({ spec, metadata }: Resource<GraphQLApiSpec>, reader: Reader): { serverSchema?: string } {
  const serverSchema = reader.input.stored.get(keyOf('GraphQLApi', metadata))?.observed?.serverSchema;
  return serverSchema === undefined || spec.executableSchema?.schemaDefinition ? {} : { serverSchema };
}

/** Returns the previous object if nothing differs, so that virtual hosts can be compared by identity. */
function sameApi(made: SnapshotGraphQLApi, derived: Derived): SnapshotGraphQLApi {
  const last = derived.of(noApi, made.spec);
  const api = Object.freeze({
    ...made,
    ref: Object.freeze({ ...made.ref }),
    subschemas: Object.freeze(made.subschemas),
  });
  if (!last.api || contentOf(last.api, derived) !== contentOf(api, derived)) last.api = api;
  return last.api;
}

/** The last API that was made of a spec. */
function noApi(_spec: GraphQLApiSpec): { api?: SnapshotGraphQLApi } {
  return {};
}

/** An API without its upstream stays in use; the fields that need it return errors. */
function readUpstreams({ spec, metadata }: Resource<GraphQLApiSpec>, { reader, refs, faults }: Reading): void {
  const { local, remote } = spec.executableSchema?.executor ?? {};
  const written = [
    remote?.upstreamRef,
    ...Object.values(local?.resolutions ?? {}).map((one) => (one.restResolver ?? one.grpcResolver)?.upstreamRef),
  ];
  for (const { name, namespace } of written.flatMap((ref) => ref ?? [])) {
    if (!name) continue;
    const ref = { name, namespace: namespace || metadata.namespace };
    const key = keyOf('Upstream', ref);
    if (refs.has(key)) continue;
    refs.add(key);
    const { fault } = reader.upstream(ref);
    if (fault) faults.push({ ...fault, key });
  }
}

/** Returns the descriptor sets from ConfigMaps and from a file; `undefined` if one of them cannot be used. */
function descriptorSets(
  { spec, metadata }: Resource<GraphQLApiSpec>,
  { reader, refs, faults }: Reading,
  path: readonly string[],
): readonly string[] | undefined {
  const sets: string[] = [];
  const written = spec.executableSchema?.grpcDescriptorRegistry?.protoRefsList?.configMapRefs ?? [];
  for (const { name = '', namespace } of written) {
    const ref = { name, namespace: namespace || metadata.namespace };
    const key = keyOf('ConfigMap', ref);
    refs.add(key);
    const found = reader.find<{ readonly data?: Readonly<Record<string, string>> }>('ConfigMap', ref);
    if (found.state !== 'usable') {
      const fault = reader.missing(`ConfigMap ${dotted(ref)} not found`, 'ConfigMap', ref);
      faults.push({ ...fault, message: [...path, fault.message].join(': '), key });
      return undefined;
    }
    sets.push(...Object.values(found.resource.spec.data ?? {}));
  }
  const { descriptorSet, filesRevision, problems } =
    reader.input.stored.get(keyOf('GraphQLApi', metadata))?.observed ?? {};
  if (descriptorSet !== undefined) sets.push(descriptorSet);
  else if (filesRevision !== undefined && spec.executableSchema?.grpcDescriptorRegistry?.protoDescriptor) {
    const fault = faultOf(`its descriptor file cannot be used: ${problems?.[0]?.message}`);
    faults.push({ ...fault, message: [...path, fault.message].join(': '), key: undefined });
    return undefined;
  }
  return Object.freeze(sets);
}

/** Returns the GraphQLApis of the routes of a virtual host, sorted and unique; those in `kept` unchanged. */
export function graphqlApisOf(
  routes: readonly Route[],
  reader: Reader,
  kept: ReadonlyMap<string, SnapshotGraphQLApi>,
): readonly SnapshotGraphQLApi[] {
  const apis = new Map<string, SnapshotGraphQLApi>();
  for (const { action } of routes) {
    if (action.type !== 'graphql') continue;
    const name = dotted(action.api);
    const api = kept.get(name) ?? findGraphQLApi(action.api, action.api.namespace, reader).api;
    if (api) apis.set(name, api);
  }
  if (apis.size === 0) return NO_APIS;
  return Object.freeze([...apis].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, api]) => api));
}
