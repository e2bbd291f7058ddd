import { isDeepStrictEqual } from 'node:util';
import {
  FUNCTIONS_ANNOTATION,
  serviceSpecOf,
  typeWithFunctions,
  undeclaredFunctions,
  type Resource,
  type ResourceRef,
} from '@edge-gateway/core';
import type { ServiceSpec, UpstreamSpec } from '@edge-gateway/core/schema';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import {
  childKey,
  leavesOf,
  ownedFields,
  withoutFields,
  withParents,
  type FieldKey,
  type OwnedFields,
} from './owned-fields.ts';
import { UPSTREAM_API } from './service-upstream.ts';
import { createObjectWrites, readObject, type ObjectWrites, type ObjectWritesOptions } from './object-writes.ts';

const UPSTREAMS = typeOfKind('Upstream');
/** Its own, because discovery of Upstreams removes fields that it no longer applies. */
const FUNCTIONS_MANAGER = 'edge-gateway-functions';

/** Receives the functions of upstreams, and writes them to the Upstreams of a cluster. */
export interface DiscoveredFunctions extends Pick<ObjectWrites<ServiceSpec>, 'setLeading' | 'close'> {
  set(upstream: ResourceRef, functions: ServiceSpec): void;
  delete(upstream: ResourceRef): void;
  hasDiscovered(upstream: Resource): boolean;
}

/**
 * Creates a writer of discovered functions. What others have set in the `serviceSpec` of an Upstream stays as it is: their functions, and the
 * descriptors of their transcoder. An Upstream is never created.
 */
export function createDiscoveredFunctions(options: ObjectWritesOptions): DiscoveredFunctions {
  const { client } = options;

  async function apply(unit: string, functions: ServiceSpec | undefined, signal: AbortSignal): Promise<void> {
    const [, namespace, name] = unit.split('/');
    const path = pathOf(UPSTREAMS, namespace, name);
    const upstream = await readObject(client, path, signal);
    const body = upstream && changeOf(upstream, functions);
    if (!body) return;
    await client.send({
      method: 'PATCH',
      path,
      // Not forced: a field that somebody else has set since it was read stays as it is.
      query: { fieldManager: FUNCTIONS_MANAGER, force: false },
      contentType: 'application/apply-patch+yaml',
      body,
      signal,
    });
  }

  const remove = (unit: string, signal: AbortSignal): Promise<void> => apply(unit, undefined, signal);
  const writes = createObjectWrites<ServiceSpec>({ what: 'functions', apply, remove }, options);
  return {
    set: (upstream, functions) => writes.set(sourceKeyOf(upstream), functions),
    delete: (upstream) => writes.delete(sourceKeyOf(upstream)),
    // Anyone who can write the object can set it; what is removed depends on the managed fields alone.
    hasDiscovered: ({ metadata }) => metadata.annotations?.[FUNCTIONS_ANNOTATION] !== undefined,
    setLeading: writes.setLeading,
    close: writes.close,
  };
}

function sourceKeyOf({ namespace, name }: ResourceRef): string {
  return `discovery/${namespace}/${name}`;
}

/** Returns what has to be applied to an Upstream so that it has these functions, or none; `undefined` if nothing has to. */
function changeOf({ metadata, spec }: ClusterObject, functions: ServiceSpec | undefined): object | undefined {
  const { name, namespace, uid, annotations = {} } = metadata;
  const written = (spec ?? {}) as UpstreamSpec;
  const type = typeWithFunctions(written);
  const fields = ownedFields(metadata.managedFields, FUNCTIONS_MANAGER);
  const added = type && functions && undeclaredFunctions(declaredBy(written, type, fields), functions);
  const parts = withParents(fields.foreign);
  const own = added && withForeign(added, { present: serviceSpecOf(written), path: serviceSpecPath(type), parts });
  const applied = {
    metadata: own ? { annotations: { [FUNCTIONS_ANNOTATION]: Object.keys(own)[0] } } : {},
    spec: own ? { [type!]: { serviceSpec: own } } : {},
  };
  const desired = leavesOf(applied as Readonly<Record<string, unknown>>);
  for (const empty of ['metadata', 'spec']) if (isEmpty(desired.get(empty))) desired.delete(empty);
  const present = leavesOf({ metadata: { annotations }, spec: written as Readonly<Record<string, unknown>> });
  const isOwned = fields.own.size === desired.size && [...desired.keys()].every((key) => fields.own.has(key));
  if (isOwned && [...desired].every(([key, value]) => isDeepStrictEqual(present.get(key), value))) return undefined;
  // With its uid, an Upstream that was deleted in between is not created again.
  const identity = { name, namespace, uid };
  return {
    apiVersion: UPSTREAM_API,
    kind: 'Upstream',
    metadata: { ...identity, ...applied.metadata },
    spec: applied.spec,
  };
}

type TypeWithFunctions = NonNullable<ReturnType<typeof typeWithFunctions>>;
type Json = Readonly<Record<string, unknown>>;

function serviceSpecPath(type: TypeWithFunctions): string {
  return keyAt(['spec', type, 'serviceSpec']);
}

function keyAt(path: readonly string[], above = ''): string {
  return path.reduce(childKey, above);
}

/** Returns the functions that others have set. One that discovery has set remains its own, even if others have changed a part of it. */
function declaredBy(spec: UpstreamSpec, type: TypeWithFunctions, fields: OwnedFields): ServiceSpec | undefined {
  const serviceSpec = serviceSpecOf(spec);
  if (!serviceSpec) return undefined;
  const path = serviceSpecPath(type);
  const isDiscovered = (key: string): boolean => fields.own.has(key) && !fields.foreign.has(key);
  const functions = keyAt(['rest', 'transformations'], path);
  const { rest: { transformations = {}, ...rest } = {}, ...others } = serviceSpec;
  const parts = withParents(fields.own);
  const foreign = Object.entries(transformations).filter(([name]) => !parts.has(childKey(functions, name)));
  const own = { ...rest, ...(foreign.length > 0 && { transformations: Object.fromEntries(foreign) }) };
  const written = { ...others, ...(Object.keys(own).length > 0 && { rest: own }) };
  const declared = withoutFields(written, isDiscovered, path);
  return Object.keys(declared).length > 0 ? (declared as ServiceSpec) : undefined;
}

interface Present {
  readonly present: unknown;
  readonly path: string;
  /** Fields that others have set, and those around them. */
  readonly parts: ReadonlySet<FieldKey>;
}

/** Returns functions with the values that others have set in them. They are applied as well: the API server would remove them with a field around them. */
function withForeign<T>(value: T, { present, path, parts }: Present): T {
  if (!isObject(value) || Object.keys(value).length === 0)
    return present !== undefined && parts.has(path) ? (present as T) : value;
  const entries = Object.entries(value).map(([key, child]) => {
    const inside = isObject(present) && Object.hasOwn(present, key) ? present[key] : undefined;
    return [key, withForeign(child, { present: inside, path: childKey(path, key), parts })];
  });
  return Object.fromEntries(entries) as T;
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
