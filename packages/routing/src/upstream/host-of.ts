import type { Endpoint } from '@edge-gateway/core';

/** `Host` of an endpoint, where nothing else is asked for. */
export function hostOf({ address, port }: Endpoint): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
