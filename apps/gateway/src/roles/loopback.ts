import { isIPv6 } from 'node:net';
import { isLoopbackUrl } from '@edge-gateway/core';

/** Returns true if only this machine can connect to an address. */
export function isLoopback(address: string): boolean {
  return isLoopbackUrl(`http://${isIPv6(address) ? `[${address}]` : address}`);
}
