import type { Endpoint } from '@edge-gateway/core';

/** `address:port` of an endpoint, IPv6 in brackets: its `Host` where nothing else is asked for, and its name in the log. */
export function hostOf({ address, port }: Endpoint): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
