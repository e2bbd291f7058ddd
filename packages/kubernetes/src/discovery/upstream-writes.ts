import { digestText, type Counter, type Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import { typeOfKind } from '../source/cluster-kinds.ts';
import { pathOf, type ClusterObject } from '../watch/cluster-object.ts';
import { createRetryTimes } from '../watch/retry-times.ts';
import { FIELD_MANAGER, type ExistingUpstream, type UpstreamDraft, type UpstreamPlan } from './upstream-plan.ts';

const UPSTREAMS = typeOfKind('Upstream');
/** Requests at a time. */
const CONCURRENCY = 8;
/** Between attempts after the API server did not respond, or rejected an upstream. */
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
/** The key of failures that concern all upstreams. */
const API_SERVER = 'API server';
/** Statuses with which the API server would reject all writes. */
const CONCERN_ALL = [401, 403, 429, 503] as const;

interface UpstreamWritesOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly stats: { readonly written: Counter; readonly failed: Counter };
  readonly signal: AbortSignal;
  readonly limit: Pick<WriteLimit, 'acquire'> | undefined;
  /** False as soon as another process leads. */
  isWanted(): boolean;
}

/** The namespace with discovered upstreams. */
interface UpstreamTarget {
  readonly namespace: string;
  /** Notes what the API server returned after a write, before the watch delivers it. */
  note(name: string, object: ClusterObject | undefined): void;
}

/** Writes Upstreams as planned. */
export interface UpstreamWrites {
  /** Sends what is due; returns the time until something is due again, or `undefined` if nothing is left. */
  send(plan: Pick<UpstreamPlan, 'apply' | 'remove'>, target: UpstreamTarget): Promise<number | undefined>;
}

/** One request. */
type Write = { readonly name: string; readonly key: string } & (
  | { readonly draft: UpstreamDraft }
  | { readonly upstream: ExistingUpstream }
);

interface Failure {
  readonly write: Write;
  readonly error: unknown;
}

interface Outcome {
  readonly failures: readonly Failure[];
  readonly succeeded: number;
}

/** Creates the writes. An upstream that the API server rejects is tried again ever more rarely, and delays no other. */
export function createUpstreamWrites(options: UpstreamWritesOptions): UpstreamWrites {
  const { client, log, stats, signal, limit, isWanted } = options;
  const retries = createRetryTimes(BACKOFF);

  /** Sends requests, a few at a time; stops when the API server does not respond, or would reject all. */
  async function sendAll(pending: readonly Write[], target: UpstreamTarget): Promise<Outcome> {
    const failures: Failure[] = [];
    let succeeded = 0;
    let next = 0;
    let isStopped = false;
    async function send(): Promise<void> {
      while (next < pending.length && !isStopped && isWanted() && !signal.aborted) {
        const write = pending[next++]!;
        try {
          await limit?.acquire(signal);
          if (!isWanted()) return;
          await sendOne(write, target);
          stats.written.value += 1;
          succeeded += 1;
        } catch (error) {
          stats.failed.value += 1;
          failures.push({ write, error });
          isStopped ||= concernsAll(error);
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, pending.length) }, send));
    return { failures, succeeded };
  }

  async function sendOne(write: Write, target: UpstreamTarget): Promise<void> {
    const path = pathOf(UPSTREAMS, target.namespace, write.name);
    if ('draft' in write) {
      const object = await client.send<ClusterObject>({
        method: 'PATCH',
        path,
        query: { fieldManager: FIELD_MANAGER, force: true },
        contentType: 'application/apply-patch+yaml',
        body: write.draft,
        signal,
      });
      return target.note(write.name, object);
    }
    const { uid, resourceVersion } = write.upstream;
    try {
      await client.send({ method: 'DELETE', path, body: { preconditions: { uid, resourceVersion } }, signal });
    } catch (error) {
      // It was deleted or changed in between: the watch delivers that.
      if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
      return;
    }
    target.note(write.name, undefined);
  }

  function note({ failures, succeeded }: Outcome): void {
    const ofAll = failures.find(({ error }) => concernsAll(error));
    // An overloaded API server that accepts some writes is asked again soon.
    if (succeeded > 0 || !ofAll) retries.succeeded(API_SERVER);
    if (ofAll) retries.failed(API_SERVER, isApiError(ofAll.error) ? ofAll.error.retryAfterMs : undefined);
    for (const { write, error } of failures) if (!concernsAll(error)) retries.failed(write.key);
    if (failures.length === 0 || signal.aborted) return;
    const { write, error } = ofAll ?? failures[0]!;
    log.warn(
      { count: failures.length, upstream: write.name, reason: connectionProblem(error) },
      'failed to write discovered upstreams',
    );
  }

  return {
    async send({ apply, remove }, target) {
      const all: Write[] = [
        ...apply.map((draft) => ({
          name: draft.metadata.name,
          key: `apply ${target.namespace} ${digestText(JSON.stringify(draft))}`,
          draft,
        })),
        ...remove.map((upstream) => ({ name: upstream.name, key: `delete ${upstream.uid}`, upstream })),
      ];
      retries.retain(new Set([API_SERVER, ...all.map(({ key }) => key)]));
      if (all.length === 0) return undefined;
      if (retries.remainingMs(API_SERVER) === 0)
        note(
          await sendAll(
            all.filter(({ key }) => retries.remainingMs(key) === 0),
            target,
          ),
        );
      const serverMs = retries.remainingMs(API_SERVER);
      if (serverMs > 0) return serverMs;
      const waits = all.flatMap(({ key }) => retries.remainingMs(key) || []);
      return waits.length > 0 ? Math.min(...waits) : undefined;
    },
  };
}

/** Whether the API server did not respond, or would reject every write. */
function concernsAll(error: unknown): boolean {
  return !isApiError(error) || isApiError(error, ...CONCERN_ALL);
}
