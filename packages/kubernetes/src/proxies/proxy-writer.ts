import type { Logger, Resource } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { sourceKeyOf } from '../source/written-object.ts';
import { objectKey, pathOf, type ObjectMetadata } from '../watch/cluster-object.ts';
import { digestOf, isManaged, proxyObject } from './proxy-object.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';

/** Options of {@link createProxyWriter}. */
export interface ProxyWriterOptions {
  readonly client: Pick<ClusterClient, 'send' | 'stream'>;
  /** Namespace of the control plane: part of the name of its field manager. */
  readonly namespace: string;
  readonly log: Logger;
  /** Whether this process may write now. */
  isLeader(): boolean;
  /** Called when a Proxy appears in the cluster or disappears, with its unit. */
  onProxy?(unit: string, exists: boolean): void;
  readonly timing?: Partial<ProxyTiming>;
  readonly watchTiming?: Partial<ReflectorTiming>;
}

/** How often Proxies are written. */
export interface ProxyTiming {
  /** Proxies are written at most this often. Default 5 s. */
  readonly intervalMs: number;
  /** Pause after a failed write. Default 10 s. */
  readonly retryMs: number;
}

/** The Proxies of one namespace. */
export interface WrittenProxies {
  readonly namespace: string;
  readonly proxies: readonly Resource[];
}

/** Writes Proxies to the cluster. */
export interface ProxyWriter {
  /** The Proxies that the cluster should have; `undefined` for none, because the Settings do not ask for them. */
  update(wanted: WrittenProxies | undefined): void;
  /** Starts to write, after this process became leader. */
  resume(): void;
  close(): Promise<void>;
}

const TYPE = typeOfKind('Proxy');
const DEFAULT_TIMING: ProxyTiming = { intervalMs: 5_000, retryMs: 10_000 };
const COLLECT_MS = 100;
/** The API server stores no object that is much larger. */
const MAX_BYTES = 2 ** 20;

/** A Proxy in the cluster. */
interface Existing {
  readonly isOwn: boolean;
  readonly generation: number | undefined;
}

/** The last write of a Proxy. */
interface Written {
  readonly proxy: Resource;
  readonly digest: string;
  /** Of the object after the write; `undefined` if it was too large. */
  readonly generation: number | undefined;
}

/**
 * Writes Proxies by server-side apply under a manager of its own, only as leader and only if they changed, and deletes those that it wrote and that are no
 * longer wanted. Secret values are redacted. A Proxy of more than 1 MiB is reported and not written until it changes.
 */
export function createProxyWriter(options: ProxyWriterOptions): ProxyWriter {
  const { client, namespace: own, log, isLeader, onProxy, watchTiming } = options;
  const { intervalMs, retryMs } = { ...DEFAULT_TIMING, ...options.timing };
  const manager = `edge-gateway-${own}-proxies`;
  const closing = new AbortController();
  const { signal } = closing;
  let wanted: WrittenProxies | undefined;
  let watched: { readonly namespace: string; readonly reflector: Reflector } | undefined;
  /** By name; `undefined` before they are listed. */
  let existing: Map<string, Existing> | undefined;
  const written = new Map<string, Written>();
  let reported: string | undefined;
  let lastAt = -Infinity;

  /** Proxies that were not asked for in this process may be left from the one before. */
  function watch(namespace: string): void {
    const proxies = new Map<string, Existing>();
    const reflector = createReflector<ObjectMetadata>({
      client,
      type: TYPE,
      namespace,
      metadataOnly: true,
      log,
      timing: watchTiming,
      select: ({ metadata }) => metadata,
      onChange({ changed, deleted }) {
        if (watched?.reflector !== reflector) return;
        for (const metadata of changed.values()) {
          if (!proxies.has(metadata.name)) onProxy?.(sourceKeyOf('Proxy', objectKey(metadata)), true);
          proxies.set(metadata.name, { isOwn: isManaged(metadata, manager), generation: metadata.generation });
        }
        for (const key of deleted) {
          proxies.delete(key.slice(key.indexOf('/') + 1));
          onProxy?.(sourceKeyOf('Proxy', key), false);
        }
        existing = proxies;
        work.schedule();
      },
    });
    watched = { namespace, reflector };
    void reflector.start();
  }

  async function reconcile(): Promise<void> {
    if (!existing || !watched || !isLeader() || signal.aborted) return;
    const proxies = wanted?.namespace === watched.namespace ? wanted.proxies : [];
    const names = new Set(proxies.map(({ metadata }) => metadata.name));
    const gone = [...existing].filter(([name, { isOwn }]) => isOwn && !names.has(name)).map(([name]) => name);
    const changed = proxies.filter(mayBeDue);
    if (changed.length === 0 && gone.length === 0) return move();
    // The specs of Proxies are large: they are also compared at most this often.
    const wait = lastAt + intervalMs - performance.now();
    if (wait > 0) return work.schedule(wait);
    lastAt = performance.now();
    try {
      for (const name of gone) await remove(name);
      for (const proxy of changed) if (isDue(proxy)) await write(proxy);
      reported = undefined;
      move();
    } catch (error) {
      failed(error);
    }
  }

  /** Follows the namespace of the Settings once nothing is left in the one before. */
  function move(): void {
    if (!wanted || !watched || wanted.namespace === watched.namespace) return;
    const { reflector } = watched;
    watched = undefined;
    existing = undefined;
    written.clear();
    void reflector.close();
    watch(wanted.namespace);
  }

  function mayBeDue(proxy: Resource): boolean {
    const last = written.get(proxy.metadata.name);
    return last?.proxy !== proxy || isAltered(last);
  }

  /** True for a Proxy whose object somebody else changed or deleted. */
  function isAltered({ proxy, generation }: Written): boolean {
    return generation !== undefined && existing!.get(proxy.metadata.name)?.generation !== generation;
  }

  function isDue(proxy: Resource): boolean {
    const last = written.get(proxy.metadata.name);
    if (!last || last.digest !== digestOf(proxy)) return true;
    written.set(proxy.metadata.name, { ...last, proxy });
    return isAltered(last);
  }

  async function write(proxy: Resource): Promise<void> {
    const { name, namespace } = proxy.metadata;
    const body = proxyObject(proxy);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const digest = digestOf(proxy);
    if (bytes > MAX_BYTES) return tooLarge(proxy, bytes);
    try {
      const path = pathOf(TYPE, namespace, name);
      const { metadata: after } = await client.send<{ metadata: ObjectMetadata }>({
        method: 'PATCH',
        path,
        query: { fieldManager: manager, force: true },
        contentType: 'application/apply-patch+yaml',
        body,
        signal,
      });
      written.set(name, { proxy, digest, generation: after.generation });
      existing?.set(name, { isOwn: true, generation: after.generation });
    } catch (error) {
      if (isTooLarge(error)) return tooLarge(proxy, bytes);
      throw error;
    }
  }

  /** An older version of it would be misleading. */
  async function tooLarge(proxy: Resource, bytes: number): Promise<void> {
    const { name, namespace } = proxy.metadata;
    const wasTooLarge = written.has(name) && written.get(name)!.generation === undefined;
    written.set(name, { proxy, digest: digestOf(proxy), generation: undefined });
    if (!wasTooLarge)
      log.warn(
        { proxy: `${namespace}/${name}`, bytes, maxBytes: MAX_BYTES },
        'Proxy not written: it is too large for the API server; gateway.compressedProxySpec of the Settings makes it smaller',
      );
    if (existing?.get(name)?.isOwn) await remove(name);
  }

  async function remove(name: string): Promise<void> {
    try {
      await client.send({ method: 'DELETE', path: pathOf(TYPE, watched!.namespace, name), signal });
    } catch (error) {
      if (!isApiError(error, 404)) throw error;
    }
    existing?.delete(name);
  }

  function failed(error: unknown): void {
    if (signal.aborted) return;
    work.schedule(isApiError(error) ? Math.max(retryMs, error.retryAfterMs ?? 0) : retryMs);
    const reason = connectionProblem(error);
    if (reason !== reported) log.warn({ reason }, 'failed to write Proxies');
    reported = reason;
  }

  const work = createScheduledWork({ collectMs: COLLECT_MS, retryMs, log, work: reconcile });
  return {
    update(next) {
      wanted = next;
      if (!watched) watch(next?.namespace ?? own);
      work.schedule();
    },
    resume: () => work.schedule(),
    async close() {
      closing.abort();
      await work.close();
      await watched?.reflector.close();
    },
  };
}

/** The API server, or its store, does not accept a request of this size. */
function isTooLarge(error: unknown): boolean {
  return isApiError(error) && (error.apiStatus === 413 || /request is too large|too large/i.test(error.message));
}
