import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { applyHeaderChanges, factsOf, readBody, restoreBody, type AuthRequest } from '@edge-gateway/core';

interface NodeRequest extends AuthRequest {
  readonly source: IncomingMessage;
}

/** Returns a request of `node:http` or Express as auth methods see it. */
export function requestFrom(req: IncomingMessage): NodeRequest {
  const facts = factsOf(req);
  // Frameworks add these.
  const { originalUrl, protocol } = req as IncomingMessage & { originalUrl?: string; protocol?: string };
  const encrypted = 'encrypted' in req.socket;
  return {
    source: req,
    requestId: (facts.requestId ||= randomUUID()),
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
}

/** Returns the request that {@link requestFrom} received. */
export function sourceOf(request: AuthRequest): IncomingMessage {
  return (request as NodeRequest).source;
}

/** Returns the request with a body of up to `limit` bytes, also if an earlier parser consumed it. */
export async function withBody(request: AuthRequest, limit: number): Promise<AuthRequest> {
  if (limit === 0) return request;
  const req = sourceOf(request);
  if (req.readableEnded) return { ...request, body: restoreBody(req).bytes ?? Buffer.alloc(0) };
  return { ...request, body: (await readBody(req, limit)) ?? Buffer.alloc(0) };
}
