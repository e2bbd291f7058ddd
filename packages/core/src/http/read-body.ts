import type { IncomingMessage } from 'node:http';

/**
 * Reads a body of at most `maxBytes`. Returns `undefined` for a larger one, and does not wait for the rest of it: the connection
 * cannot be used again. Rejects if the client closes the connection before the end.
 */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    const more: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) {
        req.off('data', onData);
        req.pause();
        resolve(undefined);
      } else if (first) more.push(chunk);
      else first = chunk;
    };
    req.on('data', onData);
    req.once('end', () => resolve(first ? (more.length > 0 ? Buffer.concat([first, ...more]) : first) : NO_BYTES));
    req.once('error', reject);
    req.once('close', () => {
      if (!req.complete) reject(new Error('the client closed the connection'));
    });
  });
}

/** Reads a stream of at most `maxBytes`; returns `undefined` for a longer one, and ends it. */
export async function readLimited(
  stream: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream ?? []) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const NO_BYTES = Buffer.alloc(0);
