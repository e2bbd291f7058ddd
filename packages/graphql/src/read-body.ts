import type { IncomingMessage } from 'node:http';
import { refusal, type Refusal } from './refusal.ts';

/** Reads a body as text, at most `maxBytes` of it. Rejects when the client has left. */
export function readBody(req: IncomingMessage, maxBytes: number): Promise<string | Refusal> {
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.resolve(refusal('ERR_GRAPHQL_BODY_TOO_LARGE'));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      req.removeAllListeners('data');
      req.pause();
      resolve(refusal('ERR_GRAPHQL_BODY_TOO_LARGE'));
    });
    req.once('end', () => resolve(textOf(chunks)));
    req.once('error', reject);
    req.once('close', () => reject(new Error('the client has left')));
  });
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function textOf(chunks: readonly Buffer[]): string | Refusal {
  try {
    return decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  } catch {
    return refusal('ERR_GRAPHQL_BODY', 'The body is not UTF-8.');
  }
}
