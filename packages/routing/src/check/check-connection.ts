import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { TlsConfiguration } from '@edge-gateway/core';
import { refusal, type Refusal } from './refusal.ts';

/** What decides whether a host may be served on the connection of a request. */
export interface ConnectionRules<T> {
  /** Returns what a handshake with this server name uses. */
  select(serverName: string | undefined): T | undefined;
  /** True if the handshake requires a client certificate. */
  requiresClient(selected: T): boolean;
}

/** Rejects a host that requires a client certificate if the connection was made for another certificate of the listener. */
export function checkConnection<T>(
  req: IncomingMessage,
  { select, requiresClient }: ConnectionRules<T>,
): Refusal | undefined {
  const host = (req.headers.host ?? '').replace(/:\d*$/, '');
  const wanted = select(host);
  if (!wanted || !requiresClient(wanted)) return undefined;
  const serverName = (req.socket as TLSSocket).servername || undefined;
  if (select(serverName) === wanted) return undefined;
  const detail = `${host} requires a client certificate, and the TLS connection is for ${serverName ?? 'no server name'}`;
  return refusal('ERR_ROUTING_MISDIRECTED', { detail });
}

/** True if clients must show a certificate: there is a root CA, and `oneWayTls` does not turn the check off. */
export function requiresClientCertificate({ sslConfig }: TlsConfiguration, hasRootCa: boolean): boolean {
  return hasRootCa && sslConfig.oneWayTls !== true;
}
