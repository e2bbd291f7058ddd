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
    path: facts.headers ? facts.path : mountPathOf(req) + facts.path,
    header: (name) => facts.header(name),
    headers: () => (flat ??= applyHeaderChanges(facts.headers ?? lowerCase(req.rawHeaders), facts.requestChanges)),
    clientAddress: req.socket.remoteAddress ?? '',
    ...(facts.body && { body: facts.body.bytes }),
    state: {},
    metadata: facts.metadata,
    signal,
  };
}

/** What Express and Connect took off the path: a login answers, and comes back to, addresses as the client knows them. */
function mountPathOf(req: IncomingMessage & { readonly baseUrl?: string; readonly originalUrl?: string }): string {
  const { baseUrl, originalUrl = '', url = '' } = req;
  return baseUrl ?? (originalUrl.endsWith(url) ? originalUrl.slice(0, originalUrl.length - url.length) : '');
}

/** In the gateway `x-forwarded-proto` is its own word; in a user's own server only the connection counts. */
function schemeOf(req: IncomingMessage, facts: Facts): 'http' | 'https' {
  if (facts.headers) return facts.header('x-forwarded-proto') === 'https' ? 'https' : 'http';
  return 'encrypted' in req.socket ? 'https' : 'http';
}

function lowerCase(flat: readonly string[]): readonly string[] {
  return flat.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
}
