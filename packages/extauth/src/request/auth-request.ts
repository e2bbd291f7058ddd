import type { IncomingMessage } from 'node:http';
import {
  applyHeaderChanges,
  type AuthRequest,
  type ClientConnection,
  type Facts,
  type HeaderChange,
} from '@edge-gateway/core';
import { tlsNamesOf } from './tls-names.ts';

/** Creates the view of a request for methods. */
export function authRequestOf(req: IncomingMessage, facts: Facts, signal: AbortSignal): AuthRequest {
  const { connection } = facts;
  let flat: readonly string[] | undefined;
  return {
    requestId: facts.requestId,
    routeName: facts.routeName,
    method: facts.method.toUpperCase(),
    scheme: connection.scheme,
    host: facts.header('host') ?? '',
    path: facts.headers ? facts.path : mountPathOf(req) + facts.path,
    header: (name) => (facts.headers ? undefined : forwardedOf(connection, name.toLowerCase())) ?? facts.header(name),
    headers: () => (flat ??= headersOf(req, facts)),
    clientAddress: connection.clientAddress,
    connection,
    tls: () => tlsNamesOf(req.socket),
    ...(req.headers['content-length'] !== undefined && { contentLength: req.headers['content-length'] }),
    ...(facts.body && { body: facts.body.bytes }),
    state: {},
    metadata: facts.metadata,
    signal,
  };
}

/** Returns the mount path that Express and Connect removed: a login redirects to paths as the client knows them. */
function mountPathOf(req: IncomingMessage & { readonly baseUrl?: string; readonly originalUrl?: string }): string {
  const { baseUrl, originalUrl = '', url = '' } = req;
  return baseUrl ?? (originalUrl.endsWith(url) ? originalUrl.slice(0, originalUrl.length - url.length) : '');
}

/** Replaced as in the gateway, so that a client cannot forge its address in a user's own server. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-port', 'x-forwarded-proto'] as const;

function forwardedOf(connection: ClientConnection, name: string): string | undefined {
  const { clientAddress, clientPort, scheme, localPort } = connection;
  if (name === 'x-forwarded-for') return clientAddress;
  if (name === 'x-forwarded-proto') return scheme;
  // Behind a proxy the port comes from the proxy.
  return name === 'x-forwarded-port' && clientPort > 0 ? String(localPort) : undefined;
}

function headersOf(req: IncomingMessage, facts: Facts): readonly string[] {
  if (facts.headers) return applyHeaderChanges(facts.headers, facts.requestChanges);
  const own = FORWARDED.flatMap((name): HeaderChange[] => {
    const value = forwardedOf(facts.connection, name);
    return value === undefined ? [] : [{ op: 'set', name, value }];
  });
  return applyHeaderChanges(lowerCase(req.rawHeaders), [...facts.requestChanges, ...own]);
}

function lowerCase(flat: readonly string[]): readonly string[] {
  return flat.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text));
}
