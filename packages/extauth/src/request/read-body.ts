import type { IncomingMessage } from 'node:http';
import type { ReadBody } from '@edge-gateway/core';

/**
 * Reads at most `maxBytes` of a body and puts them back, so that the stream still returns all of it. Rejects if
 * the client disconnects.
 */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;

    function settle(whole: boolean): void {
      req.off('readable', onReadable).off('error', onError).off('close', onClose);
      const bytes = Buffer.concat(chunks);
      if (size > 0) req.unshift(bytes);
      resolve({ bytes: whole ? bytes : bytes.subarray(0, maxBytes), whole });
    }

    function onReadable(): void {
      let chunk: Buffer | null;
      while ((chunk = req.read() as Buffer | null) !== null) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) return settle(false);
      }
      // The end is only emitted in the next tick, so the bytes can still be put back before it.
      if (req.complete) settle(true);
    }

    const onError = (error: Error): void => reject(error);
    const onClose = (): void => reject(new Error('the client disconnected'));
    req.on('readable', onReadable).on('error', onError).on('close', onClose);
  });
}

/** Returns true if a request has a body, by its framing (RFC 9112 §6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
