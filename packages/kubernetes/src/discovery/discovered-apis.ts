import type { Logger, Resource } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import { createRetryTimes } from '../watch/retry-times.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';
import { FIELD_MANAGER } from './upstream-plan.ts';

const APIS = typeOfKind('GraphQLApi');
const UPSTREAMS = typeOfKind('Upstream');
const LABEL = { name: 'discovered_by', value: 'discovery' } as const;
const RETRY_MS = 5_000;
/** The longest time between attempts, in times of the first. */
const MAX_RETRY_FACTOR = 12;

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
 * that somebody else has written is not replaced. A write that fails is tried again, ever more rarely.
 */
export function createDiscoveredApis({
  client,
  log,
  limit,
  retryMs = RETRY_MS,
}: {
  readonly client: Pick<ClusterClient, 'send'>;
  readonly log: Logger;
  /** Default: none besides that of the API server. */
  readonly limit?: Pick<WriteLimit, 'acquire'>;
  /** Time after the first failed write of an API; it doubles with each further one. Default 5 s. */
  readonly retryMs?: number;
}): DiscoveredApis {
  const closing = new AbortController();
  const { signal } = closing;
  /** What has to be written next, by unit; `undefined` is a deletion. */
  const pending = new Map<string, DiscoveredApi | undefined>();
  const retries = createRetryTimes({ firstMs: retryMs, maxMs: retryMs * MAX_RETRY_FACTOR });
  const runs = createScheduledWork({ collectMs: 0, retryMs, log, work });
  let isLeading = false;

  function enqueue(unit: string, api: DiscoveredApi | undefined): void {
    if (!isLeading) return;
    pending.set(unit, api);
    retries.succeeded(unit);
    runs.schedule();
  }

  /** Writes what is due. One that fails delays no other. */
  async function work(): Promise<void> {
    for (const [unit, api] of pending) {
      if (signal.aborted) return;
      if (retries.remainingMs(unit) > 0) continue;
      pending.delete(unit);
      try {
        await limit?.acquire(signal);
        if (api) await apply(api);
        else await remove(unit);
        retries.succeeded(unit);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ resource: unit, reason: connectionProblem(error) }, 'failed to write discovered GraphQLApi');
        retries.failed(unit);
        // Another process writes it if this one no longer leads.
        if (isLeading && !pending.has(unit)) pending.set(unit, api);
      }
    }
    if (pending.size > 0) runs.schedule(Math.min(...[...pending.keys()].map(retries.remainingMs)));
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
      if (leads) return;
      pending.clear();
      retries.retain(new Set());
    },
    async close() {
      closing.abort();
      await runs.close();
    },
  };
}
