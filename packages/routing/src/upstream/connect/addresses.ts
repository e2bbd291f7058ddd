import { lookup as dnsLookup, type LookupOptions } from 'node:dns';
import type { IpcNetConnectOpts, LookupFunction, TcpNetConnectOpts } from 'node:net';
import type { Endpoint } from '@edge-gateway/core';
import { isPipe } from '../../http1/authority.ts';

const ipv4First: LookupFunction = (hostname, options, callback) =>
  dnsLookup(hostname, { ...(options as LookupOptions), order: 'ipv4first' }, callback as never);

/** Returns where to connect for an endpoint: its address, then the other addresses of the same server; or its Unix socket. */
export function addressesOf(
  { address, port, alternatives = [] }: Endpoint,
  lookup: LookupFunction = ipv4First,
): readonly (TcpNetConnectOpts | IpcNetConnectOpts)[] {
  if (isPipe(address)) return [{ path: address.startsWith('@') ? `\0${address.slice(1)}` : address }];
  return [address, ...alternatives].map((host) => ({ host, port, lookup }));
}
