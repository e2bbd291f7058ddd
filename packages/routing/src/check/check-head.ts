import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { TlsConfiguration } from '@edge-gateway/core';
import { checkRequest, type RequestHead, type RequestRules } from './check-request.ts';
import { refusal, type Refusal } from './refusal.ts';

export interface HeadRules {
  readonly limits: RequestRules;
  readonly isUpgrade: boolean;
  /** Returns why a host must not be served on the connection of a request. */
  readonly checkConnection?: (req: IncomingMessage) => Refusal | undefined;
}

/**
 * Returns why a listener rejects a request before the router sees it, or `undefined`. Listeners and `explainRequest` both
 * call this function, so that explanations match the served behaviour.
 */
export function checkHead(
  req: IncomingMessage,
  { limits, isUpgrade, checkConnection }: HeadRules,
): Refusal | undefined {
  return checkRequest(req, limits) ?? checkConnection?.(req) ?? (isUpgrade ? checkUpgrade(req) : undefined);
}

/** The response to `OPTIONS *`, which asks about the server and not about a route. */
export const SERVER_OPTIONS = { status: 204, headers: ['allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'] };

/** True if a request whose head passed the checks is `OPTIONS *`: the listener itself responds. */
export function isServerWide({ url }: Pick<IncomingMessage, 'url'>): boolean {
  return url === '*';
}

/** What decides whether a host may be served on the connection of a request. */
export interface ConnectionRules<T> {
  /** Returns what a handshake with this server name uses. */
  select(serverName: string | undefined): T | undefined;
  /** True if the handshake requires a client certificate. */
  requiresClient(selected: T): boolean;
  /** Returns true if a connection that was made with this server name fulfils what `selected` requires. Default: if it selects the same. */
  fulfils?(serverName: string | undefined, selected: T): boolean;
}

/**
 * Rejects a host that requires a client certificate if the connection was made for another certificate of the listener, or before that was
 * required.
 */
export function checkConnection<T>(
  req: IncomingMessage,
  { select, requiresClient, fulfils = (name, selected) => select(name) === selected }: ConnectionRules<T>,
): Refusal | undefined {
  const host = (req.headers.host ?? '').replace(/:\d*$/, '');
  const wanted = select(host);
  if (!wanted || !requiresClient(wanted)) return undefined;
  const serverName = (req.socket as TLSSocket).servername || undefined;
  if (fulfils(serverName, wanted)) return undefined;
  const made = select(serverName) === wanted ? 'older than that' : `for ${serverName ?? 'no server name'}`;
  const detail = `${host} requires a client certificate, and the TLS connection is ${made}`;
  return refusal('ERR_ROUTING_MISDIRECTED', { detail });
}

/** True if clients must show a certificate: there is a root CA, and `oneWayTls` does not turn the check off. */
export function requiresClientCertificate({ sslConfig }: TlsConfiguration, hasRootCa: boolean): boolean {
  return hasRootCa && sslConfig.oneWayTls !== true;
}

/** Returns true for a CONNECT request. */
export function isTunnelRequest({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return method === 'CONNECT';
}

/** The authority of a tunnel is its target: `Host` may lack the port. */
export function tunnelHead<T extends IncomingMessage>(req: T): T {
  const target = req.url ?? '';
  req.headers.host = target;
  req.rawHeaders = req.rawHeaders.map((text, i, all) =>
    i % 2 === 1 && all[i - 1]!.toLowerCase() === 'host' ? target : text,
  );
  return req;
}

/** 16 bytes in base64 (RFC 6455 §4.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/** Returns true if the client requests a WebSocket; all other protocols, including h2c, are ignored. */
export function asksForWebSocket(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Returns why an upgrade of a user's own server must not be forwarded, or `undefined`. Node passes on every protocol there: after
 * one such as h2c, requests would pass that no handler has seen.
 */
export function checkOwnUpgrade(req: IncomingMessage): Refusal | undefined {
  if (!asksForWebSocket(req)) return refusal('ERR_ROUTING_BAD_UPGRADE', { detail: 'protocol' });
  return checkUpgrade(req);
}

/** Returns why a WebSocket handshake must not be forwarded, or `undefined`. */
function checkUpgrade(req: IncomingMessage): Refusal | undefined {
  const bad = (detail: string): Refusal => refusal('ERR_ROUTING_BAD_UPGRADE', { detail });
  if (req.method !== 'GET') return bad('method');
  if (req.httpVersion !== '1.1' && !(req as RequestHead).isHttp2) return bad('version of HTTP');
  if (req.headers['transfer-encoding'] !== undefined) return bad('body');
  if (Number(req.headers['content-length'] ?? 0) > 0) return bad('body');
  if (!KEY.test(req.headers['sec-websocket-key'] ?? '')) return bad('key');
  if (req.headers['sec-websocket-version'] === '13') return undefined;
  return refusal('ERR_ROUTING_UPGRADE_VERSION', { headers: ['sec-websocket-version', '13', 'upgrade', 'websocket'] });
}
