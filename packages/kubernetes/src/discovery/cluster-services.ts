import type { ClusterService, ClusterServices, Logger } from '@edge-gateway/core';
import type { ClusterClient } from '../client/cluster-client.ts';
import { followNewestScope } from '../source/follow-scope.ts';
import type { Scope } from '../source/generation.ts';
import { followScopes } from '../source/scopes.ts';
import type { ReflectorProblem, ReflectorTiming } from '../watch/reflector.ts';
import type { Service } from './cluster-objects.ts';
import { createServiceTable, type ServiceTable } from './service-table.ts';
import { createServiceWatch, type ServiceWatch } from './service-watch.ts';

/** Options of {@link createClusterServices}. */
export interface ClusterServicesOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly timing?: Partial<ReflectorTiming>;
  /** False: only Services are followed, and have no endpoints. Default true. */
  readonly endpoints?: boolean;
}

/** The Services of a cluster, as the API server has them. */
export interface WatchedServices extends ClusterServices {
  /** The Services in scope by `<namespace>/<name>`; `undefined` before they were listed. */
  readonly services: ReadonlyMap<string, Service> | undefined;
  /** Calls back after Services changed. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /** Sets the default annotations of all Services (Settings `upstreamOptions.globalAnnotations`). */
  setDefaults(annotations: Service['annotations']): void;
  /** Resource types that cannot be followed now, and why. */
  problems(): ReadonlyMap<string, ReflectorProblem>;
}

/** Changes within this time are one. */
const COLLECT_MS = 20;

/** The Services of one scope. */
interface Generation extends Pick<ServiceWatch, 'start' | 'close' | 'problems'> {
  readonly table: ServiceTable;
}

/**
 * Follows the Services of a cluster with their endpoints, in the namespaces that the Settings choose. A change of this choice replaces all of
 * them at once, when those of the new choice are known.
 *
 * @example
 * const services = createClusterServices({ client, log: loggers.get('config') });
 * const controlPlane = createControlPlane({ source: kubernetesSource({ client, log }), services });
 */
export function createClusterServices({
  client,
  log,
  timing,
  endpoints = true,
}: ClusterServicesOptions): WatchedServices {
  const scopes = followScopes({ client, log, timing });
  const closing = new AbortController();
  const { signal } = closing;
  const listeners = new Set<() => void>();
  const delivered = new Set<string>();
  const started = Promise.withResolvers<void>();
  let defaults: Service['annotations'] = {};
  let active: Generation | undefined;
  let deliver: Parameters<ClusterServices['start']>[0] | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  function create(scope: Scope): Generation {
    const table = createServiceTable();
    table.setDefaults(defaults);
    const watch = createServiceWatch({
      client,
      scope,
      table,
      log,
      timing,
      hasEndpoints: endpoints,
      onChange() {
        if (active?.table === table) timer ??= setTimeout(flush, COLLECT_MS);
      },
    });
    return { table, ...watch };
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!active || signal.aborted) return;
    const changes = active.table.take();
    for (const [key, service] of changes) {
      if (service) delivered.add(key);
      else delivered.delete(key);
    }
    publish(changes);
  }

  function publish(changes: Map<string, ClusterService | undefined>): void {
    if (changes.size > 0) deliver?.(changes);
    for (const listener of listeners) listener();
  }

  async function activate(next: Generation): Promise<void> {
    const before = active;
    active = next;
    await before?.close();
    const changes = next.table.take();
    for (const key of delivered) if (!next.table.services.has(key)) changes.set(key, undefined);
    delivered.clear();
    for (const [key, service] of changes) if (service) delivered.add(key);
    // The first listing is delivered even if it is empty.
    if (!before) deliver?.(changes);
    publish(before ? changes : new Map());
    started.resolve();
  }

  return {
    get services() {
      return active?.table.services;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setDefaults(annotations) {
      defaults = annotations;
      active?.table.setDefaults(annotations);
      if (active) timer ??= setTimeout(flush, COLLECT_MS);
    },
    problems: () => active?.problems() ?? new Map(),
    async start(onChange) {
      deliver = onChange;
      running = followNewestScope({ scopes, signal, create, activate });
      await Promise.race([started.promise, running]);
    },
    async close() {
      deliver = undefined;
      closing.abort();
      clearTimeout(timer);
      await scopes.close();
      await running;
      await active?.close();
    },
  };
}
