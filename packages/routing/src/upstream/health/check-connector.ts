import type { LookupFunction } from 'node:net';
import type { Endpoint, SnapshotUpstream, UpstreamTls } from '@edge-gateway/core';
import type { ConnectionSettings } from '../cluster-settings.ts';
import { prefaceOf } from '../connect/proxy-header.ts';
import { compileTunnel } from '../connect/tunnel.ts';
import { createConnector, type Connector } from '../connector.ts';
import { tlsOf, type LoadedTls } from '../tls.ts';

/** The upstream whose endpoints are checked, as it is now. */
interface ConnectedUpstream {
  readonly snapshot: SnapshotUpstream;
  readonly settings: ConnectionSettings;
  readonly loaded: LoadedTls | undefined;
  readonly unusable: string | undefined;
  readonly lookup: LookupFunction;
}

/**
 * Creates the connector for a check of an endpoint: with TLS, PROXY header and tunnel as requests have them. `alpn` replaces the
 * protocols of the upstream.
 */
export function createCheckConnector(
  { snapshot, settings, loaded, unusable, lookup }: ConnectedUpstream,
  endpoint: Endpoint,
  alpn: readonly string[] | undefined,
): Connector {
  const fails =
    (error: Error): Connector =>
    (callback) =>
      void process.nextTick(callback, error);
  if (unusable !== undefined) return fails(new Error(unusable));
  let own: UpstreamTls | undefined;
  try {
    own = tlsOf(loaded, endpoint);
  } catch (error) {
    return fails(error as Error);
  }
  const tls = own && { ...own, ...(alpn && { alpnProtocols: [...alpn] }) };
  const connect = createConnector(endpoint, {
    ...settings,
    tls,
    lookup,
    tunnel: compileTunnel(snapshot, loaded?.proxy?.tls),
  });
  const preface = prefaceOf(settings.proxyProtocol, undefined);
  return preface ? (callback, onread) => connect(callback, onread, preface) : connect;
}
