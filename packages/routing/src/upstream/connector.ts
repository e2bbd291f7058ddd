import { lookup as dnsLookup, type LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Endpoint, UpstreamTls } from '@edge-gateway/core';

/** Opens a connection to one endpoint and hands it over ready for use. */
export type Connector = buildConnector.connector;

const ipv4First: LookupFunction = (hostname, options, callback) =>
  dnsLookup(hostname, { ...(options as LookupOptions), order: 'ipv4first' }, callback as never);

/** Makes the connector of an endpoint. Names are resolved anew for each connection, IPv4 addresses tried first. */
export function createConnector(endpoint: Endpoint, connectTimeoutMs: number, tls: UpstreamTls | undefined): Connector {
  const verified = tls && {
    secureContext: tls.secureContext,
    rejectUnauthorized: true,
    checkServerIdentity: tls.checkServerIdentity,
  };
  const options = { timeout: connectTimeoutMs, allowH2: false, lookup: ipv4First, ...verified };
  const connect = buildConnector(options as buildConnector.BuildOptions);
  // The name asked for is the configured one: without this undici derives it from the request's Host header.
  const name = { servername: tls?.serverName(endpoint), host: '' };
  return (target, callback) => connect({ ...target, ...name }, callback);
}
