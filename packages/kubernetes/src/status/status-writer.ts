import {
  differingKeys,
  type Kind,
  type Logger,
  type ResourceKey,
  type ResourceStatus,
  startTimer,
} from '@edge-gateway/core';
import { isApiError, isRejectedObject } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import { pathOf, type ResourceType } from '../watch/cluster-object.ts';
import { typesOfKind } from '../source/cluster-kinds.ts';
import { sourceKeyOf } from '../source/written-object.ts';
import { ownStatus, statusDigest, type OwnStatus } from './status-report.ts';

/** Options of {@link createStatusWriter}. */
export interface StatusWriterOptions {
  readonly client: Pick<ClusterClient, 'send'>;
  /** Namespace of the control plane: the key under which it reports, and part of the name of its field manager. */
  readonly namespace: string;
  readonly log: Logger;
  /** Whether this process may write now. */
  isLeader(): boolean;
  readonly timing?: Partial<StatusTiming>;
  /** Default: none besides that of the API server. */
  readonly limit?: Pick<WriteLimit, 'acquire'>;
}

/** How often statuses are written. */
export interface StatusTiming {
  /** The status of an object is written at most this often; twice as rarely after each write in a row. Default 1 s. */
  readonly intervalMs: number;
  /** Upper limit of that. Default 60 s. */
  readonly maxIntervalMs: number;
  /** Writes at the same time. Default 16. */
  readonly concurrency: number;
}

/** Writes the statuses of resources to their objects. */
export interface StatusWriter {
  /** Notes the status that an object has in the cluster; `undefined` for one that does not exist. */
  observe(unit: string, digest: string | undefined, exists: boolean): void;
  /** The statuses that objects should have. */
  update(statuses: ReadonlyMap<ResourceKey, ResourceStatus>): void;
  /** Starts with all differing statuses, after this process became leader. */
  resume(): void;
  /** Number of objects whose status differs. */
  readonly pending: number;
  /** Successful writes so far. */
  readonly written: number;
  close(): Promise<void>;
}

const DEFAULT_TIMING: StatusTiming = { intervalMs: 1_000, maxIntervalMs: 60_000, concurrency: 16 };
/** Without a write for so long, the interval is the first again. */
const CALM_FACTOR = 4;
/** How long all writes pause if they are forbidden or the API server is overloaded or away. */
const PAUSE_MS = 2_000;
const NONE: ReadonlyMap<ResourceKey, ResourceStatus> = new Map();

interface Wanted {
  readonly kind: Kind;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** `undefined` if nothing is to be reported. */
  readonly status: ResourceStatus | undefined;
}

/** Of an object whose status was written not long ago. */
interface Cooling {
  readonly until: number;
  readonly intervalMs: number;
}

/**
 * Writes statuses by server-side apply, under the name of one control plane: reports of others stay. Writes only what differs from the
 * cluster, only as leader, and each object ever more rarely if somebody else keeps changing it.
 */
export function createStatusWriter(options: StatusWriterOptions): StatusWriter {
  const { client, namespace: own, log, isLeader, limit } = options;
  const { intervalMs, maxIntervalMs, concurrency } = { ...DEFAULT_TIMING, ...options.timing };
  const closing = new AbortController();
  const { signal } = closing;
  let statuses = NONE;
  const wanted = new Map<string, Wanted>();
  /** Digests in the cluster of all objects that exist; empty without a status. */
  const existing = new Map<string, string>();
  const dirty = new Set<string>();
  const writing = new Map<string, Promise<void>>();
  const cooling = new Map<string, Cooling>();
  /** Digests of statuses that the API server rejected: they are not sent again until the object or the status changes. */
  const rejected = new Map<string, string>();
  let wake: NodeJS.Timeout | undefined;
  let pausedUntil = 0;
  let written = 0;
  let reported: string | undefined;

  function digestOf({ kind, status }: Wanted): string {
    return status ? statusDigest(ownStatus(kind, status)) : '';
  }

  function check(unit: string): void {
    const known = existing.get(unit);
    const target = wanted.get(unit);
    const digest = target && digestOf(target);
    if (known !== undefined && digest !== undefined && digest !== known && digest !== rejected.get(unit))
      dirty.add(unit);
    else dirty.delete(unit);
  }

  function want(next: Wanted): void {
    const unit = sourceKeyOf(next.kind, `${next.namespace}/${next.name}`, next.type);
    if (next.status || wanted.has(unit)) wanted.set(unit, next);
    check(unit);
    if (!next.status && !existing.has(unit)) wanted.delete(unit);
  }

  function pump(): void {
    clearTimeout(wake);
    if (signal.aborted || dirty.size === 0 || !isLeader()) return;
    const now = performance.now();
    let next = pausedUntil > now ? pausedUntil : Infinity;
    if (pausedUntil <= now) {
      for (const unit of dirty) {
        if (writing.size >= concurrency) break;
        if (writing.has(unit)) continue;
        const { until } = cooling.get(unit) ?? { until: 0 };
        if (until <= now) writing.set(unit, write(unit));
        else next = Math.min(next, until);
      }
    }
    if (writing.size < concurrency && next !== Infinity) wake = startTimer(pump, Math.max(1, next - now));
  }

  async function write(unit: string): Promise<void> {
    let digest = '';
    try {
      await limit?.acquire(signal);
      const target = wanted.get(unit);
      // Leadership may have ended while it waited.
      if (!target || !dirty.has(unit) || !isLeader() || signal.aborted) return;
      digest = digestOf(target);
      cool(unit);
      await apply(target);
      written += 1;
      reported = undefined;
      if (existing.has(unit)) existing.set(unit, digest);
      check(unit);
    } catch (error) {
      failed(unit, error, digest);
    } finally {
      writing.delete(unit);
      // Not from the stack of a caller that still counts this write.
      setImmediate(pump);
    }
  }

  function cool(unit: string): void {
    const now = performance.now();
    const last = cooling.get(unit);
    const isCalm = !last || now - last.until > last.intervalMs * CALM_FACTOR;
    const interval = isCalm ? intervalMs : Math.min(maxIntervalMs, last.intervalMs * 2);
    cooling.set(unit, { until: now + interval, intervalMs: interval });
  }

  async function apply({ kind, type, namespace, name, status }: Wanted): Promise<void> {
    const body = {
      apiVersion: `${type.group}/${type.version}`,
      kind,
      metadata: { name, namespace },
      status: status ? ownStatus(kind, status) : emptyStatus(kind),
    };
    await client.send({
      method: 'PATCH',
      path: `${pathOf(type, namespace, name)}/status`,
      query: { fieldManager: `edge-gateway-${own}`, force: true },
      contentType: 'application/apply-patch+yaml',
      body,
      signal,
    });
  }

  function failed(unit: string, error: unknown, digest: string): void {
    if (signal.aborted) return;
    if (isApiError(error, 404)) {
      // Deleted in the meantime, or its definition has no status.
      dirty.delete(unit);
      return;
    }
    if (isRejectedObject(error)) {
      rejected.set(unit, digest);
      check(unit);
      log.warn({ resource: unit, reason: connectionProblem(error) }, 'status rejected by the API server');
      return;
    }
    const isOfObject =
      isApiError(error) &&
      error.apiStatus >= 400 &&
      error.apiStatus < 500 &&
      ![401, 403, 429].includes(error.apiStatus);
    if (!isOfObject) {
      const { retryAfterMs } = isApiError(error) ? error : {};
      pausedUntil = performance.now() + (retryAfterMs ?? PAUSE_MS);
    }
    const reason = connectionProblem(error);
    if (reason === reported) return;
    reported = reason;
    log.warn({ resource: unit, reason }, 'failed to write status');
  }

  return {
    get pending() {
      return dirty.size;
    },
    get written() {
      return written;
    },
    observe(unit, digest, exists) {
      rejected.delete(unit);
      if (exists) existing.set(unit, digest ?? '');
      else {
        existing.delete(unit);
        cooling.delete(unit);
      }
      check(unit);
      pump();
    },
    update(next) {
      for (const key of differingKeys(statuses, next)) {
        const [kind, namespace, name] = key.split('/') as [Kind, string, string];
        const status = next.get(key);
        for (const type of typesOfKind(kind)) want({ kind, type, namespace, name, status });
      }
      statuses = next;
      pump();
    },
    resume() {
      rejected.clear();
      for (const unit of wanted.keys()) check(unit);
      pump();
    },
    async close() {
      closing.abort();
      clearTimeout(wake);
      await Promise.all(writing.values());
    },
  };
}

/** Server-side apply removes what the manager applied before. */
function emptyStatus(kind: Kind): OwnStatus | Record<string, never> {
  return kind === 'RateLimitConfig' ? {} : { statuses: {} };
}
