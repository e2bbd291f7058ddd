import { setTimeout as wait } from 'node:timers/promises';
import type { Logger, Resource } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import { FIELD_MANAGER } from './upstream-plan.ts';

const APIS = typeOfKind('GraphQLApi');
const UPSTREAMS = typeOfKind('Upstream');
const LABEL = { name: 'discovered_by', value: 'discovery' } as const;
const RETRY_MS = 5_000;

/** A GraphQLApi as function discovery makes it. */
interface DiscoveredApi {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: unknown;
}

/** Receives discovered GraphQLApis by unit, `discovery/<namespace>/<name>`, and writes them to a cluster. */
export interface DiscoveredApis {
  set(unit: string, resource: unknown): void;
  delete(unit: string): void;
  /** Ignores both while it does not lead. */
  setLeading(isLeading: boolean): void;
  close(): Promise<void>;
}

/** Returns whether function discovery has created a GraphQLApi. */
export function isDiscoveredApi({ metadata }: Pick<Resource, 'metadata'>): boolean {
  return metadata.labels?.[LABEL.name] === LABEL.value;
}

/**
 * Creates a writer of discovered GraphQLApis. Each has its Upstream as owner, so that the cluster removes it with the Upstream. An API
 * that somebody else has written is not replaced. A write that fails is tried again.
 */
export function createDiscoveredApis({
  client,
  log,
  retryMs = RETRY_MS,
}: {
  readonly client: Pick<ClusterClient, 'send'>;
  readonly log: Logger;
  /** Time after a failed write. Default 5 s. */
  readonly retryMs?: number;
}): DiscoveredApis {
  const closing = new AbortController();
  const { signal } = closing;
  /** What has to be written next, by unit; `undefined` is a deletion. */
  const pending = new Map<string, DiscoveredApi | undefined>();
  let working: Promise<void> | undefined;
  let isLeading = false;

  function enqueue(unit: string, api: DiscoveredApi | undefined): void {
    if (!isLeading) return;
    pending.set(unit, api);
    working ??= work().finally(() => {
      working = undefined;
    });
  }

  async function work(): Promise<void> {
    while (pending.size > 0 && !signal.aborted) {
      const [unit, api] = pending.entries().next().value!;
      pending.delete(unit);
      try {
        if (api) await apply(api);
        else await remove(unit);
      } catch (error) {
        log.warn({ resource: unit, reason: connectionProblem(error) }, 'failed to write discovered GraphQLApi');
        // Another process writes it if this one no longer leads.
        if (isLeading && !pending.has(unit)) pending.set(unit, api);
        await wait(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async function apply(api: DiscoveredApi): Promise<void> {
    const { name, namespace } = api.metadata;
    const path = pathOf(APIS, namespace, name);
    const [existing, upstream] = await Promise.all([read(path), read(pathOf(UPSTREAMS, namespace, name))]);
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

  async function remove(unit: string): Promise<void> {
    const [, namespace, name] = unit.split('/');
    const path = pathOf(APIS, namespace, name);
    const existing = await read(path);
    if (!existing || existing.metadata.labels?.[LABEL.name] !== LABEL.value) return;
    const { uid, resourceVersion } = existing.metadata;
    await client.send({ method: 'DELETE', path, body: { preconditions: { uid, resourceVersion } }, signal });
  }

  async function read(path: string): Promise<ClusterObject | undefined> {
    try {
      return await client.send<ClusterObject>({ path, signal });
    } catch (error) {
      if (isApiError(error, 404)) return undefined;
      throw error;
    }
  }

  return {
    set: (unit, resource) => enqueue(unit, resource as DiscoveredApi),
    delete: (unit) => enqueue(unit, undefined),
    setLeading(leads) {
      isLeading = leads;
      if (!leads) pending.clear();
    },
    async close() {
      closing.abort();
      await working;
    },
  };
}
