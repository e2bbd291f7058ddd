import type { Kind, Logger, Source, SourceChange, WrittenResource } from '@edge-gateway/core';
import { setTimeout as wait } from 'node:timers/promises';
import type { ClusterClient } from '../client/cluster-client.ts';
import type { ReflectorProblem, ReflectorTiming } from '../watch/reflector.ts';
import { createGeneration, type Generation } from './generation.ts';
import { followNewestScope } from './follow-scope.ts';
import { followScopes } from './scopes.ts';
import type { WrittenObject } from './written-object.ts';

/** Options of {@link kubernetesSource}. */
export interface KubernetesSourceOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  /** Kinds to read, e.g. `['Settings', 'AuthConfig', 'Secret']`; no request is made for others. Settings are always read. Default: all. */
  readonly kinds?: ReadonlySet<Kind> | undefined;
  readonly timing?: Partial<ReflectorTiming>;
  /** Called with the digest of the status that an object has, which may be none, and when an object is gone. */
  readonly onStatus?: (unit: string, digest: string | undefined, exists: boolean) => void;
}

/** The resources of a cluster. */
export interface KubernetesSource extends Source {
  /** Resource types that cannot be followed now, and why. */
  problems(): ReadonlyMap<string, ReflectorProblem>;
  /** Returns whether the resources of a namespace are read. */
  isWatched(namespace: string): boolean;
  /** Returns the units of all objects of a namespace. */
  unitsIn(namespace: string): string[];
}

/** Changes within this time are one. */
const COLLECT_MS = 20;
/** A change waits so long for the Secrets that it refers to. */
const MAX_READ_MS = 2_000;

/**
 * Creates the source of all resources in a cluster. Each object is a unit, named as kubectl names it, e.g.
 * `upstreams.gw.vendor.io gw-system/a`; a status is no change. Settings choose the namespaces. Secrets and ConfigMaps are read only if a
 * resource refers to them or selects them.
 *
 * @example
 * const client = await createClusterClient(findClusterAccess({ env: process.env }));
 * const controlPlane = createControlPlane({ source: kubernetesSource({ client, log: loggers.get('config') }) });
 */
export function kubernetesSource({ client, log, kinds, timing, onStatus }: KubernetesSourceOptions): KubernetesSource {
  const closing = new AbortController();
  const { signal } = closing;
  const delivered = new Map<string, string>();
  let pending = new Map<string, readonly WrittenResource[]>();
  let deliver: ((change: SourceChange) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushing = Promise.resolve();
  let active: Generation | undefined;
  const started = Promise.withResolvers<void>();

  function take(unit: string, object: WrittenObject | undefined): void {
    onStatus?.(unit, object?.status, object !== undefined);
    if (object ? delivered.get(unit) === object.digest : !delivered.has(unit)) return;
    if (object) delivered.set(unit, object.digest);
    else delivered.delete(unit);
    pending.set(unit, object?.written ?? []);
    timer ??= setTimeout(() => {
      timer = undefined;
      flushing = flushing.then(flush);
    }, COLLECT_MS);
  }

  /** Delivers changes together with the Secrets that they refer to, so that no valid resource is rejected in between. */
  async function flush(): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_READ_MS)]);
    const late = wait(MAX_READ_MS, undefined, { signal: limit, ref: false }).catch(() => undefined);
    await Promise.race([active?.readReferenced(), late]);
    if (pending.size === 0 || signal.aborted) return;
    const change = pending;
    pending = new Map();
    deliver?.(change);
  }

  /** Replaces the objects of the previous scope. */
  async function activate(next: Generation): Promise<void> {
    const before = active;
    active = next;
    await before?.close();
    const isFirst = before === undefined;
    for (const unit of delivered.keys()) if (!next.objects.has(unit)) take(unit, undefined);
    for (const [unit, object] of next.objects) take(unit, object);
    next.release(take);
    if (!isFirst) return;
    clearTimeout(timer);
    timer = undefined;
    const change = pending;
    pending = new Map();
    deliver?.(change);
    started.resolve();
  }

  const scopes = followScopes({ client, log, timing });

  let running: Promise<void> | undefined;
  return {
    name: 'kubernetes',
    platform: 'kubernetes',
    kinds,
    isWatched: (namespace) => active?.isWatched(namespace) ?? false,
    unitsIn: (namespace) => [...delivered.keys()].filter((unit) => unit.includes(` ${namespace}/`)),
    problems: () => active?.problems() ?? new Map(),
    async start(onChange) {
      deliver = onChange;
      running = followNewestScope({
        scopes,
        signal,
        create: (scope) => createGeneration({ client, scope, kinds, log, timing }),
        activate,
      });
      await Promise.race([started.promise, running]);
    },
    async close() {
      deliver = undefined;
      closing.abort();
      await scopes.close();
      await running;
      clearTimeout(timer);
      await active?.close();
    },
  };
}
