import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { applyHeaderChanges, factsOf, restoreBody, type AuthRequest } from '@edge-gateway/core';

/** Properties that frameworks add to a request. */
interface Framework {
  readonly originalUrl?: string;
  readonly protocol?: string;
}

const sources = new WeakMap<AuthRequest, IncomingMessage>();

/** Returns a request of `node:http` or Express as auth methods see it. */
export function requestFrom(req: IncomingMessage): AuthRequest {
  const facts = factsOf(req);
  const { originalUrl, protocol } = req as Framework;
  const encrypted = 'encrypted' in req.socket;
  const request: AuthRequest = {
    requestId: facts.requestId || randomUUID(),
    method: (req.method ?? 'GET').toUpperCase(),
    scheme: (protocol ?? (encrypted ? 'https' : 'http')) === 'https' ? 'https' : 'http',
    host: req.headers.host ?? '',
    path: originalUrl ?? req.url ?? '/',
    header: (name) => facts.header(name),
    headers: () => {
      const flat = req.rawHeaders.map((each, i) => (i % 2 === 0 ? each.toLowerCase() : each));
      return applyHeaderChanges(flat, facts.requestChanges);
    },
    clientAddress: facts.connection.clientAddress,
    connection: facts.connection,
    state: {},
    metadata: facts.metadata,
  };
  sources.set(request, req);
  return request;
}

/** Returns the request that {@link requestFrom} received. */
export function sourceOf(request: AuthRequest): IncomingMessage {
  return sources.get(request)!;
}

/** Returns the request with a body of up to `limit` bytes, also if an earlier parser consumed it. */
export async function withBody(request: AuthRequest, limit: number): Promise<AuthRequest> {
  if (limit === 0) return request;
  const req = sourceOf(request);
  const body = req.readableEnded ? (restoreBody(req).bytes ?? Buffer.alloc(0)) : await readBody(req, limit);
  const full = { ...request, body };
  sources.set(full, req);
  return full;
}

async function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
  }
  return size > limit ? Buffer.alloc(0) : Buffer.concat(chunks);
}
