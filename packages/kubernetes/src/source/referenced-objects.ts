import type { Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import { createReflector, type Reflector, type ReflectorTiming } from '../watch/reflector.ts';
import { typeOfKind, type ReferencedKind } from './cluster-kinds.ts';

/** Reads the objects of a kind that are wanted, and only those. */
export interface ReferencedObjects {
  /** Resolves when all wanted objects were read, or cannot be read. */
  start(): Promise<void>;
  /** Reads what is wanted now. Resolves when it was read, or cannot be read. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface ReferencedObjectsOptions {
  readonly client: ClusterClient;
  readonly kind: ReferencedKind;
  /** Namespaces to read; `undefined` for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly log: Logger;
  readonly timing: Partial<ReflectorTiming> | undefined;
  isWanted(key: string, labels: Readonly<Record<string, string>>): boolean;
  /** Keys that are wanted by name. */
  named(): Iterable<string>;
  /** Called with the content of a wanted object, or `undefined` if there is none or it is no longer wanted. */
  onObject(key: string, object: ClusterObject | undefined): void;
}

interface Listed {
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Objects that are read at the same time. */
const CONCURRENCY = 8;
/** How often objects are read by name if their list is forbidden. */
const FORBIDDEN_POLL_MS = 30_000;
const RETRY_MS = 2_000;
/** Credentials of the cluster and of other programs, which no resource can use. Selectors of fields have no "or". */
const FIELD_SELECTORS: Partial<Record<ReferencedKind, string>> = {
  Secret: [
    'kubernetes.io/service-account-token',
    'kubernetes.io/dockercfg',
    'kubernetes.io/dockerconfigjson',
    'bootstrap.kubernetes.io/token',
    'helm.sh/release.v1',
  ]
    .map((type) => `type!=${type}`)
    .join(),
};

/**
 * Follows the metadata of all objects of a kind, and reads the content of those that are wanted. Without permission for the list, wanted
 * objects are read by name and compared every 30 s.
 */
export function createReferencedObjects(options: ReferencedObjectsOptions): ReferencedObjects {
  const { client, kind, log, isWanted, named, onObject } = options;
  const type = typeOfKind(kind);
  const closing = new AbortController();
  const { signal } = closing;
  const listed = new Map<string, Listed>();
  /** Resource versions of the objects that were delivered. */
  const delivered = new Map<string, string>();
  const queue = new Set<string>();
  const reading = new Set<string>();
  /** Waited for while objects are read. */
  let idle: PromiseWithResolvers<void> | undefined;
  let isForbidden = false;
  let poll: NodeJS.Timeout | undefined;
  const timers = new Set<NodeJS.Timeout>();

  const reflectors: Reflector[] = (options.namespaces ?? [undefined]).map((namespace) =>
    createReflector<Listed>({
      client,
      type,
      namespace,
      fieldSelector: FIELD_SELECTORS[kind],
      log,
      metadataOnly: true,
      select: ({ metadata: { resourceVersion = '', labels = {} } }) => ({ resourceVersion, labels }),
      onChange({ changed, deleted }) {
        for (const [key, object] of changed) listed.set(key, object);
        for (const key of deleted) listed.delete(key);
        for (const key of [...changed.keys(), ...deleted]) check(key);
        pump();
      },
      timing: options.timing,
    }),
  );

  function check(key: string): void {
    const known = listed.get(key);
    const wanted = known !== undefined && isWanted(key, known.labels);
    if (!wanted) {
      queue.delete(key);
      if (delivered.delete(key)) onObject(key, undefined);
    } else if (delivered.get(key) !== known.resourceVersion) queue.add(key);
  }

  function refresh(): void {
    if (isForbidden) {
      const wanted = new Set(named());
      for (const key of wanted) if (isInScope(key)) queue.add(key);
      for (const key of delivered.keys()) if (!wanted.has(key) && delivered.delete(key)) onObject(key, undefined);
    } else {
      for (const key of new Set([...named(), ...delivered.keys(), ...listed.keys()])) check(key);
    }
    pump();
  }

  function isInScope(key: string): boolean {
    return options.namespaces === undefined || options.namespaces.includes(key.split('/', 1)[0]!);
  }

  function pump(): void {
    for (const key of queue) {
      if (reading.size >= CONCURRENCY || signal.aborted) break;
      if (reading.has(key)) continue;
      queue.delete(key);
      reading.add(key);
      void read(key);
    }
    if (queue.size > 0 || reading.size > 0) return;
    idle?.resolve();
    idle = undefined;
  }

  async function read(key: string): Promise<void> {
    const [namespace, name] = key.split('/') as [string, string];
    try {
      const object = await client.send<ClusterObject>({ path: pathOf(type, namespace, name), signal });
      deliver(key, object);
    } catch (error) {
      if (signal.aborted) return;
      if (isApiError(error, 404)) deliver(key, undefined);
      else {
        log.warn(
          { resource: `${type.plural} ${key}`, reason: connectionProblem(error) },
          'failed to read referenced object',
        );
        if (!isApiError(error, 403)) again(key);
      }
    } finally {
      reading.delete(key);
      pump();
    }
  }

  function deliver(key: string, object: ClusterObject | undefined): void {
    // It may have become unwanted while it was read, and its labels may be newer than the list.
    if (signal.aborted || !isStillWanted(key, object)) return;
    const version = object?.metadata.resourceVersion ?? '';
    // It may have been queued while it was read.
    if (version === listed.get(key)?.resourceVersion) queue.delete(key);
    if (!object) {
      if (delivered.delete(key)) onObject(key, undefined);
    } else if (delivered.get(key) !== version) {
      delivered.set(key, version);
      onObject(key, object);
    }
  }

  function isStillWanted(key: string, object: ClusterObject | undefined): boolean {
    if (isForbidden) return new Set(named()).has(key);
    const known = listed.get(key);
    return known !== undefined && isWanted(key, known.labels) && isWanted(key, object?.metadata.labels ?? known.labels);
  }

  function again(key: string): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      queue.add(key);
      pump();
    }, RETRY_MS);
    timers.add(timer);
  }

  async function settled(): Promise<void> {
    if ((queue.size === 0 && reading.size === 0) || signal.aborted) return;
    idle ??= Promise.withResolvers();
    await idle.promise;
  }

  /** Resolves when the list arrived, or is forbidden. */
  async function listOrForbidden(): Promise<void> {
    const all = Promise.all(reflectors.map((reflector) => reflector.start())).then(() => true);
    const { resolve, promise } = Promise.withResolvers<boolean>();
    const timer = setInterval(() => {
      if (reflectors.some(({ problem }) => problem?.apiStatus === 403)) resolve(false);
    }, 50);
    isForbidden = !(await Promise.race([all, promise]));
    clearInterval(timer);
    if (!isForbidden) return;
    poll = setInterval(refresh, FORBIDDEN_POLL_MS);
    void all.then(() => {
      clearInterval(poll);
      isForbidden = false;
      refresh();
    });
  }

  return {
    async start() {
      await listOrForbidden();
      refresh();
      await settled();
    },
    async refresh() {
      refresh();
      await settled();
    },
    async close() {
      closing.abort();
      clearInterval(poll);
      for (const timer of timers) clearTimeout(timer);
      idle?.resolve();
      await Promise.all(reflectors.map((reflector) => reflector.close()));
    },
  };
}
