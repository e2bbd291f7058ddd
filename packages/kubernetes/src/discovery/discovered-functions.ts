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
import { childKey, leavesOf, ownedFields, withoutFields, type OwnedFields } from './owned-fields.ts';
import { UPSTREAM_API } from './service-upstream.ts';
import { createUnitWrites, readObject, type UnitWrites, type UnitWritesOptions } from './unit-writes.ts';

const UPSTREAMS = typeOfKind('Upstream');
/** Its own, because discovery of Upstreams removes fields that it no longer applies. */
const FUNCTIONS_MANAGER = 'edge-gateway-functions';

/** Receives the functions of upstreams, and writes them to the Upstreams of a cluster. */
export interface DiscoveredFunctions extends Pick<UnitWrites<ServiceSpec>, 'setLeading' | 'close'> {
  set(upstream: ResourceRef, functions: ServiceSpec): void;
  delete(upstream: ResourceRef): void;
  hasDiscovered(upstream: Resource): boolean;
}

/**
 * Creates a writer of discovered functions. What others have set in the `serviceSpec` of an Upstream stays as it is: their functions, and the
 * descriptors of their transcoder. An Upstream is never created.
 */
export function createDiscoveredFunctions(options: UnitWritesOptions): DiscoveredFunctions {
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
  const writes = createUnitWrites<ServiceSpec>({ what: 'functions', apply, remove }, options);
  return {
    set: (upstream, functions) => writes.set(unitOf(upstream), functions),
    delete: (upstream) => writes.delete(unitOf(upstream)),
    hasDiscovered: ({ metadata }) => metadata.annotations?.[FUNCTIONS_ANNOTATION] !== undefined,
    setLeading: writes.setLeading,
    close: writes.close,
  };
}

function unitOf({ namespace, name }: ResourceRef): string {
  return `discovery/${namespace}/${name}`;
}

/** Returns what has to be applied to an Upstream so that it has these functions, or none; `undefined` if nothing has to. */
function changeOf({ metadata, spec }: ClusterObject, functions: ServiceSpec | undefined): object | undefined {
  const { name, namespace, uid, annotations = {} } = metadata;
  const written = (spec ?? {}) as UpstreamSpec;
  const type = typeWithFunctions(written);
  const fields = ownedFields(metadata.managedFields, FUNCTIONS_MANAGER);
  const added = type && functions && undeclaredFunctions(declaredBy(written, type, fields), functions);
  const applied = {
    metadata: added ? { annotations: { [FUNCTIONS_ANNOTATION]: Object.keys(added)[0] } } : {},
    spec: added ? { [type]: { serviceSpec: added } } : {},
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

/** Returns the functions that others than discovery have set. */
function declaredBy(
  spec: UpstreamSpec,
  type: NonNullable<ReturnType<typeof typeWithFunctions>>,
  { own, foreign }: OwnedFields,
): ServiceSpec | undefined {
  const serviceSpec = serviceSpecOf(spec);
  if (!serviceSpec) return undefined;
  const path = ['spec', type, 'serviceSpec'].reduce((above, key) => childKey(above, key), '');
  const isDiscovered = (key: string): boolean => own.has(key) && !foreign.has(key);
  const declared = withoutFields(serviceSpec as Readonly<Record<string, unknown>>, isDiscovered, path);
  return Object.keys(declared).length > 0 ? (declared as ServiceSpec) : undefined;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
