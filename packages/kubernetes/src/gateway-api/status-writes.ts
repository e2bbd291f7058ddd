import { digestText, type Logger } from '@edge-gateway/core';
import { isApiError, isRejectedObject } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import { objectKey, pathOf } from '../watch/cluster-object.ts';
import { GATEWAY_TYPES } from './gateway-watch.ts';
import { statusPatch } from './status-patches.ts';
import type { NewStatus } from './translation.ts';

const TYPES = {
  GatewayClass: GATEWAY_TYPES.classes,
  Gateway: GATEWAY_TYPES.gateways,
  HTTPRoute: GATEWAY_TYPES.httpRoutes,
  GRPCRoute: GATEWAY_TYPES.grpcRoutes,
} as const;

const CONCURRENCY = 8;

interface StatusWritesOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly limit: Pick<WriteLimit, 'acquire'> | undefined;
}

/** Writes statuses of Gateway API objects. */
export interface StatusWrites {
  /** Writes those that differ. Returns false if one must be written again later. Stops when `mayWrite` is false. */
  write(statuses: readonly NewStatus[], mayWrite: () => boolean): Promise<boolean>;
  /** Writes statuses again that the API server rejected. */
  forget(): void;
}

/** Creates a writer. A status that the API server rejects as invalid is reported once, until the object or the status changes. */
export function createStatusWrites({ client, log, signal, limit }: StatusWritesOptions): StatusWrites {
  /** Digests of rejected statuses, by object. */
  let rejected = new Map<string, string>();

  async function writeOne({ kind, object, status }: NewStatus, patch: Record<string, unknown>): Promise<boolean> {
    const { name, namespace, resourceVersion } = object.metadata;
    try {
      await limit?.acquire(signal);
      await client.send({
        method: 'PATCH',
        path: `${pathOf(TYPES[kind], namespace, name)}/status`,
        query: { fieldManager: 'edge-gateway' },
        contentType: 'application/merge-patch+json',
        // It fails if the object has changed since it was read; the change brings it here again.
        body: { metadata: { resourceVersion }, status: patch },
        signal,
      });
    } catch (error) {
      if (isApiError(error, 404) || isApiError(error, 409) || signal.aborted) return true;
      log.warn({ kind, namespace, resource: name, reason: connectionProblem(error) }, 'failed to write status');
      if (!isRejectedObject(error)) return false;
      rejected.set(nameOf(kind, object), digestOf(object, status));
    }
    return true;
  }

  return {
    async write(statuses, mayWrite) {
      const now = `${new Date().toISOString().slice(0, 19)}Z`;
      const known = rejected;
      rejected = new Map();
      const pending = statuses.flatMap((each) => {
        const patch = statusPatch(each, now);
        if (!patch) return [];
        const name = nameOf(each.kind, each.object);
        const digest = known.get(name);
        if (digest === undefined || digest !== digestOf(each.object, each.status)) return [{ each, patch }];
        rejected.set(name, digest);
        return [];
      });
      let next = 0;
      let areWritten = true;
      const send = async (): Promise<void> => {
        while (next < pending.length && mayWrite()) {
          const { each, patch } = pending[next++]!;
          if (!(await writeOne(each, patch))) areWritten = false;
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, send));
      return areWritten;
    },
    forget() {
      rejected = new Map();
    },
  };
}

const nameOf = (kind: NewStatus['kind'], { metadata }: NewStatus['object']): string => `${kind} ${objectKey(metadata)}`;

function digestOf({ metadata }: NewStatus['object'], status: NewStatus['status']): string {
  return digestText(JSON.stringify([metadata.uid, metadata.generation, status]));
}
