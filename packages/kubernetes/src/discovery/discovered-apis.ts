import type { Resource } from '@edge-gateway/core';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { pathOf } from '../watch/cluster-object.ts';
import { createObjectWrites, readObject, type ObjectWrites, type ObjectWritesOptions } from './object-writes.ts';
import { FIELD_MANAGER } from './upstream-plan.ts';

const APIS = typeOfKind('GraphQLApi');
const UPSTREAMS = typeOfKind('Upstream');
const LABEL = { name: 'discovered_by', value: 'discovery' } as const;

/** A GraphQLApi as function discovery makes it. */
interface DiscoveredApi {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: unknown;
}

/** Receives discovered GraphQLApis by unit, `discovery/<namespace>/<name>`, and writes them to a cluster. */
export interface DiscoveredApis extends Omit<ObjectWrites<DiscoveredApi>, 'set'> {
  set(unit: string, resource: unknown): void;
}

/** Returns whether function discovery has created a GraphQLApi. */
export function isDiscoveredApi({ metadata }: Pick<Resource, 'metadata'>): boolean {
  return metadata.labels?.[LABEL.name] === LABEL.value;
}

/**
 * Creates a writer of discovered GraphQLApis. Each has its Upstream as owner, so that the cluster removes it with the Upstream. An API
 * that somebody else has written is not replaced.
 */
export function createDiscoveredApis(options: ObjectWritesOptions): DiscoveredApis {
  const { client } = options;

  async function apply(_unit: string, api: DiscoveredApi, signal: AbortSignal): Promise<void> {
    const { name, namespace } = api.metadata;
    const path = pathOf(APIS, namespace, name);
    const [existing, upstream] = await Promise.all([
      readObject(client, path, signal),
      readObject(client, pathOf(UPSTREAMS, namespace, name), signal),
    ]);
    // Without its Upstream it would be removed again.
    if (!upstream || (existing && existing.metadata.labels?.[LABEL.name] !== LABEL.value)) return;
    const owner = { apiVersion: 'gw.vendor.io/v1', kind: 'Upstream', name, uid: upstream.metadata.uid };
    const metadata = { name, namespace, labels: { [LABEL.name]: LABEL.value }, ownerReferences: [owner] };
    await client.send({
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      body: { ...api, metadata },
      signal,
    });
  }

  async function remove(unit: string, signal: AbortSignal): Promise<void> {
    const [, namespace, name] = unit.split('/');
    const path = pathOf(APIS, namespace, name);
    const existing = await readObject(client, path, signal);
    if (!existing || existing.metadata.labels?.[LABEL.name] !== LABEL.value) return;
    const { uid, resourceVersion } = existing.metadata;
    await client.send({ method: 'DELETE', path, body: { preconditions: { uid, resourceVersion } }, signal });
  }

  const writes = createObjectWrites<DiscoveredApi>({ what: 'GraphQLApi', apply, remove }, options);
  return { ...writes, set: (unit, resource) => writes.set(unit, resource as DiscoveredApi) };
}
