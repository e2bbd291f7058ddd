import { DEFAULTS, delayOf, isHost, type TcpHost } from '@edge-gateway/core';
import { connectRequest } from '../upstream/connect/tunnel.ts';

/** How the connections of a TCP host are forwarded, compiled once. Times are in milliseconds; 0 is no limit. */
export interface TcpSettings {
  /** Sum of the weights of the destinations. */
  readonly totalWeight: number;
  readonly maxAttempts: number;
  readonly idleMs: number;
  /** Interval of log entries of open connections. */
  readonly flushMs: number;
  /** The CONNECT request of the tunnel; missing without one. */
  readonly tunnel: string | undefined;
}

/** Throws a `TypeError` for an invalid host or header of the tunnel. */
export function compileTcpSettings({ options, destinations }: Pick<TcpHost, 'options' | 'destinations'>): TcpSettings {
  const {
    maxConnectAttempts = 1,
    idleTimeout,
    tunnelingConfig,
    accessLogFlushInterval,
  } = options.tcpProxySettings ?? {};
  const { hostname = '', headersToAdd = [] } = tunnelingConfig ?? {};
  let headers: readonly (readonly [string, string])[] = [];
  for (const { header: { key = '', value = '' } = {}, append = true } of headersToAdd) {
    const kept = append ? headers : headers.filter(([name]) => name.toLowerCase() !== key.toLowerCase());
    headers = [...kept, [key, value]];
  }
  return {
    totalWeight: destinations.reduce((sum, { weight }) => sum + weight, 0),
    maxAttempts: maxConnectAttempts,
    idleMs: delayOf(idleTimeout ?? DEFAULTS.tcpIdleTimeout) ?? 0,
    flushMs: accessLogFlushInterval === undefined ? 0 : (delayOf(accessLogFlushInterval) ?? 0),
    tunnel: tunnelingConfig && tunnelRequest(hostname, headers),
  };
}

function tunnelRequest(hostname: string, headers: Parameters<typeof connectRequest>[1]): string {
  if (!isHost(hostname) || !/:\d+$/.test(hostname))
    throw new TypeError(`invalid tunnel hostname '${hostname}': must be host:port`);
  return connectRequest(hostname, headers);
}
