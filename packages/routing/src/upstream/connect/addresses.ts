import type { IpcNetConnectOpts, LookupFunction, TcpNetConnectOpts } from 'node:net';
import type { Endpoint } from '@edge-gateway/core';
import { isPipe } from '../../http1/authority.ts';

/** Returns where to connect for an endpoint: its address, then the other addresses of the same server; or its Unix socket. */
export function addressesOf(
  { address, port, alternatives = [] }: Endpoint,
  lookup: LookupFunction,
): readonly (TcpNetConnectOpts | IpcNetConnectOpts)[] {
  if (isPipe(address)) return [{ path: address.startsWith('@') ? `\0${address.slice(1)}` : address }];
  return [address, ...alternatives].map((host) => ({ host, port, lookup }));
}
