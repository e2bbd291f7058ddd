import type { IncomingMessage } from 'node:http';
import { applyHeaderChanges, type AuthRequest, type Facts } from '@edge-gateway/core';

/** What the methods see of a request. */
export function authRequestOf(req: IncomingMessage, facts: Facts, signal: AbortSignal): AuthRequest {
  let flat: readonly string[] | undefined;
  return {
    requestId: facts.requestId,
    method: facts.method.toUpperCase(),
    scheme: schemeOf(req, facts),
    host: facts.header('host') ?? '',
    path: facts.path,
    header: (name) => facts.header(name),
    headers: () => (flat ??= applyHeaderChanges(facts.headers ?? lowerCase(req.rawHeaders), facts.requestChanges)),
    clientAddress: req.socket.remoteAddress ?? '',
    ...(facts.body && { body: facts.body.bytes }),
    state: {},
    metadata: facts.metadata,
    signal,
  };
}

/** In the gateway `x-forwarded-proto` is its own word; in a user's own server only the connection counts. */
function schemeOf(req: IncomingMessage, facts: Facts): 'http' | 'https' {
  if (facts.headers) return facts.header('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return 'encrypted' in req.socket ? 'https' : 'http';
}

function lowerCase(flat: readonly string[]): readonly string[] {
  return flat.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
}
