import type { IncomingMessage } from 'node:http';
import { readBody } from '@edge-gateway/core';
import { refusal, type Refusal } from '../api/refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads a body of at most `maxBytes` as text. Rejects if the client closes the connection before the end. */
export async function readText(req: IncomingMessage, maxBytes: number): Promise<string | Refusal> {
  const bytes = await readBody(req, maxBytes);
  if (!bytes) return refusal('ERR_GRAPHQL_BODY_TOO_LARGE');
  try {
    return decoder.decode(bytes);
  } catch {
    return refusal('ERR_GRAPHQL_BODY', 'The body is not UTF-8.');
  }
}
