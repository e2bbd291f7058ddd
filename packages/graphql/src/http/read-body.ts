import type { IncomingMessage } from 'node:http';
import { refusal, type Refusal } from '../api/refusal.ts';

/** Reads a body as text, at most `maxBytes` of it. Rejects when the client has left. */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<string | Refusal> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.resolve(refusal('ERR_GRAPHQL_BODY_TOO_LARGE'));
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    const more: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) {
        req.off('data', onData);
        req.pause();
        resolve(refusal('ERR_GRAPHQL_BODY_TOO_LARGE'));
      } else if (first) more.push(chunk);
      else first = chunk;
    };
    req.on('data', onData);
    req.once('end', () => resolve(textOf(first, more)));
    req.once('error', reject);
    req.once('close', () => {
      if (!req.complete) reject(new Error('the client has left'));
    });
  });
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function textOf(first: Buffer | undefined, more: readonly Buffer[]): string | Refusal {
  try {
    return decoder.decode(first && more.length > 0 ? Buffer.concat([first, ...more]) : first);
  } catch {
    return refusal('ERR_GRAPHQL_BODY', 'The body is not UTF-8.');
  }
}
