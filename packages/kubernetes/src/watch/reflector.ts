import { startTimer, type Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import { createBackoff, type PauseLimits } from './backoff.ts';
import { objectKey, pathOf, typeName, type ClusterObject, type ResourceType } from './cluster-object.ts';
import { jsonLines } from './json-lines.ts';
import { DEFAULT_PAGE, listPages, type PageLimits } from './list-pages.ts';

/** What changed, by `namespace/name`. A key is in one of both. */
export interface ReflectorChange<T> {
  readonly changed: ReadonlyMap<string, T>;
  readonly deleted: readonly string[];
}

/** Options of {@link createReflector}. */
export interface ReflectorOptions<T> {
  readonly client: Pick<ClusterClient, 'send' | 'stream'>;
  readonly type: ResourceType;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** True for a type that a cluster may lack: its absence is not logged as a problem. */
  readonly isOptional?: boolean;
  /** True if only the metadata of objects is transferred. */
  readonly metadataOnly?: boolean;
  readonly log: Logger;
  /** Returns what to keep of an object; `undefined` if it is to be ignored. */
  select(object: ClusterObject): T | undefined;
  /** Called in the order of the changes: first with the whole list, which may be empty. Must not throw. */
  onChange(change: ReflectorChange<T>): void;
  readonly timing?: Partial<ReflectorTiming>;
}

/** Defaults are in {@link DEFAULT_TIMING}. */
export interface ReflectorTiming extends PageLimits {
  readonly maxEventBytes: number;
  readonly listTimeoutMs: number;
  /** The server ends a watch after a random time between this and twice this. */
  readonly watchMs: number;
  /** A watch without an event or bookmark for so long is dead: servers send a bookmark each minute. */
  readonly silentMs: number;
  /** A resource type has to be unknown to the server for so long before its objects count as deleted: a starting server does not know it yet. */
  readonly unknownMs: number;
  readonly backoff: PauseLimits;
}

export const DEFAULT_TIMING: ReflectorTiming = {
  ...DEFAULT_PAGE,
  maxEventBytes: 32 * 2 ** 20,
  listTimeoutMs: 60_000,
  watchMs: 300_000,
  silentMs: 150_000,
  unknownMs: 5_000,
  backoff: { firstMs: 800, maxMs: 10_000, resetMs: 120_000 },
};

/** Why a reflector has no current objects. */
export interface ReflectorProblem {
  /** The HTTP status of the API server, if it responded. */
  readonly apiStatus: number | undefined;
  readonly message: string;
}

/** Follows the objects of one resource type. */
export interface Reflector {
  /** Resolves after the first list was delivered, or after `close`. Never rejects: it waits until the API server responds and permits the list. */
  start(): Promise<void>;
  /** `undefined` while the objects are current. */
  readonly problem: ReflectorProblem | undefined;
  close(): Promise<void>;
}

/** A watch that ended sooner, without an event, counts as failed. */
const SHORT_WATCH_MS = 1_000;
/** Rejected watches, after which the objects are listed again. */
const MAX_REJECTED_WATCHES = 3;
const METADATA = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/**
 * Lists the objects of a resource type page by page, then watches them, and delivers what changed. Keeps only their resource versions. After
 * errors it continues where it stopped, or lists again if the server has forgotten that version, always with a back-off; objects stay
 * delivered meanwhile.
 *
 * @example
 * const reflector = createReflector({
 *   client,
 *   type: { group: '', version: 'v1', plural: 'services' },
 *   log: loggers.get('config'),
 *   select: ({ metadata, spec }) => ({ metadata, spec }),
 *   onChange: ({ changed, deleted }) => {},
 * });
 * await reflector.start();
 */
export function createReflector<T>(options: ReflectorOptions<T>): Reflector {
  const { client, type, log, select, onChange } = options;
  const timing = { ...DEFAULT_TIMING, ...options.timing };
  const path = pathOf(type, options.namespace);
  const selectors = { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector };
  const closing = new AbortController();
  const { signal } = closing;
  const backoff = createBackoff(timing.backoff);
  let known = new Map<string, string>();
  let version: string | undefined;
  let rejectedWatches = 0;
  let unknownSince: number | undefined;
  let problem: ReflectorProblem | undefined;
  let running: Promise<void> | undefined;
  let isSynced = false;
  const synced = Promise.withResolvers<void>();

  function accept(): string {
    return options.metadataOnly ? `application/json;${METADATA},application/json` : 'application/json';
  }

  async function list(): Promise<void> {
    let listed = new Map<string, string>();
    let changed = new Map<string, T>();
    const acceptList = accept().replace('PartialObjectMetadata;', 'PartialObjectMetadataList;');
    const request = { path, query: selectors, accept: acceptList, signal, timeoutMs: timing.listTimeoutMs };
    version = await listPages(
      client,
      { ...request, ...timing },
      {
        onRestart() {
          listed = new Map();
          changed = new Map();
        },
        onObject(object) {
          const kept = select(object);
          if (kept === undefined) return;
          const key = objectKey(object.metadata);
          const { resourceVersion = '' } = object.metadata;
          listed.set(key, resourceVersion);
          if (known.get(key) !== resourceVersion) changed.set(key, kept);
        },
      },
    );
    replace(listed, changed);
  }

  function replace(listed: Map<string, string>, changed: ReadonlyMap<string, T>): void {
    // Closed while the list was read.
    if (signal.aborted) return;
    const deleted = [...known.keys()].filter((key) => !listed.has(key));
    known = listed;
    rejectedWatches = 0;
    unknownSince = undefined;
    if (!isSynced || changed.size > 0 || deleted.length > 0) onChange({ changed, deleted });
    isSynced = true;
    synced.resolve();
  }

  async function watch(): Promise<void> {
    const began = performance.now();
    const seconds = Math.ceil((timing.watchMs * (1 + Math.random())) / 1000);
    const query = { watch: true, allowWatchBookmarks: true, resourceVersion: version, timeoutSeconds: seconds };
    const body = await client.stream({ path, query: { ...selectors, ...query }, accept: accept(), signal });
    recovered();
    let events = 0;
    let isSilent = false;
    const timer = startTimer(() => {
      isSilent = true;
      body.destroy();
    }, timing.silentMs);
    try {
      for await (const batch of jsonLines(body, timing.maxEventBytes)) {
        timer.refresh();
        events += batch.length;
        apply(batch as WatchEvent[]);
        rejectedWatches = 0;
      }
    } catch (error) {
      if (isSilent) throw new Error(`no event or bookmark for ${timing.silentMs} ms`, { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
      body.destroy();
    }
    if (isSilent) throw new Error(`no event or bookmark for ${timing.silentMs} ms`);
    if (events === 0 && performance.now() - began < SHORT_WATCH_MS) throw new Error('the watch ended immediately');
  }

  function apply(events: readonly WatchEvent[]): void {
    const changed = new Map<string, T>();
    const deleted = new Set<string>();
    try {
      for (const event of events) applyEvent(event, changed, deleted);
    } finally {
      if (!signal.aborted && (changed.size > 0 || deleted.size > 0)) onChange({ changed, deleted: [...deleted] });
    }
  }

  function applyEvent({ type: kind, object }: WatchEvent, changed: Map<string, T>, deleted: Set<string>): void {
    if (kind === 'ERROR') throw new WatchRejected(object as WatchStatus);
    const { metadata } = object as ClusterObject;
    const { resourceVersion = '' } = metadata;
    version = resourceVersion;
    if (kind === 'BOOKMARK') return;
    const key = objectKey(metadata);
    const kept = kind === 'DELETED' ? undefined : select(object as ClusterObject);
    if (kept !== undefined) {
      if (known.get(key) === resourceVersion) return;
      known.set(key, resourceVersion);
      deleted.delete(key);
      changed.set(key, kept);
    } else if (known.delete(key)) {
      changed.delete(key);
      deleted.add(key);
    }
  }

  /** Decides where to continue after an error. */
  function afterError(error: unknown): void {
    if (isExpired(error)) version = undefined;
    else if (isApiError(error, 404)) {
      version = undefined;
      unknownSince ??= performance.now();
      if (performance.now() - unknownSince >= timing.unknownMs) replace(new Map(), new Map());
    } else if (version !== undefined && (isApiError(error) || error instanceof WatchRejected)) {
      rejectedWatches += 1;
      if (rejectedWatches >= MAX_REJECTED_WATCHES) version = undefined;
    }
  }

  function failed(error: unknown): void {
    const message = connectionProblem(error);
    const apiStatus = isApiError(error) ? error.apiStatus : undefined;
    if (problem?.message !== message) {
      const isExpected = isExpired(error) || (options.isOptional === true && apiStatus === 404);
      const level = isExpected ? 'debug' : 'warn';
      log[level](
        { resource: typeName(type), namespace: options.namespace, reason: message },
        'failed to watch resources',
      );
    }
    problem = { apiStatus, message };
  }

  function recovered(): void {
    if (problem) log.info({ resource: typeName(type), namespace: options.namespace }, 'watching resources again');
    problem = undefined;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (version === undefined) await list();
        await watch();
      } catch (error) {
        if (signal.aborted) return;
        afterError(error);
        failed(error);
        const atLeast = isApiError(error) ? error.retryAfterMs : undefined;
        await backoff.pause(signal, atLeast).catch(() => undefined);
      }
    }
  }

  return {
    start() {
      running ??= run();
      return synced.promise;
    },
    get problem() {
      return problem;
    },
    async close() {
      closing.abort();
      await running;
      known = new Map();
      synced.resolve();
    },
  };
}

interface WatchStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: ClusterObject | WatchStatus;
}

/** An error inside of a watch. */
class WatchRejected extends Error {
  readonly apiStatus: number | undefined;

  constructor({ code, reason, message }: WatchStatus) {
    super(`the watch was rejected: ${message ?? reason ?? code}`);
    this.apiStatus = code;
  }
}

/** Whether the server has forgotten the resource version. */
function isExpired(error: unknown): boolean {
  return isApiError(error, 410) || (error instanceof WatchRejected && error.apiStatus === 410);
}
