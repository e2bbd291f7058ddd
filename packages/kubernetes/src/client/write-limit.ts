import { createRequestLimiter, type RequestLimit } from './token-bucket.ts';

/** A limit of all writes of one process to a cluster, which can change. */
export interface WriteLimit {
  /** Sets the limit; `undefined` for none besides that of the API server. */
  set(limit: RequestLimit | undefined): void;
  /** Resolves when the next write may be sent. */
  acquire(signal?: AbortSignal): Promise<void>;
}

/** Creates a limit that limits nothing yet. */
export function createWriteLimit(): WriteLimit {
  let current: RequestLimit | undefined;
  let acquire: ReturnType<typeof createRequestLimiter> | undefined;
  return {
    set(limit) {
      if (limit?.qps === current?.qps && limit?.burst === current?.burst) return;
      current = limit;
      acquire = limit && createRequestLimiter(limit);
    },
    acquire: async (signal) => acquire?.(signal),
  };
}
