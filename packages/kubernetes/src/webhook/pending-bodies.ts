import type { IncomingMessage } from 'node:http';
import { readBody } from '@edge-gateway/core';

/** Reads bodies within a limit for all of them. */
export interface PendingBodies {
  /** Returns a body; `undefined` if it is larger than allowed. Rejects if its connection is closed. */
  read(req: IncomingMessage, maxBytes: number): Promise<Buffer | undefined>;
}

/**
 * Limits what all incomplete bodies have in memory together. Only received bytes count, and those of the oldest body are given up first, with its
 * connection: clients that send slowly, or declare more than they send, do not keep others from being served.
 */
export function createPendingBodies(maxBytes: number): PendingBodies {
  /** Received bytes; the oldest first. */
  const received = new Map<IncomingMessage, number>();
  let sum = 0;

  function count(req: IncomingMessage, bytes: number): void {
    const before = received.get(req);
    if (before === undefined) return;
    received.set(req, before + bytes);
    sum += bytes;
    while (sum > maxBytes) {
      const [oldest] = received.keys();
      forget(oldest!);
      oldest!.destroy();
    }
  }

  function forget(req: IncomingMessage): void {
    sum -= received.get(req) ?? 0;
    received.delete(req);
  }

  return {
    async read(req, max) {
      received.set(req, 0);
      const body = readBody(req, max);
      const onData = (chunk: Buffer): void => count(req, chunk.length);
      // A body that is declared to be too large is not read.
      if (req.listenerCount('data') > 0) req.on('data', onData);
      try {
        return await body;
      } finally {
        req.off('data', onData);
        forget(req);
      }
    },
  };
}
