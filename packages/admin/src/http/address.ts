import { isIPv6 } from 'node:net';

/** `127.0.0.1:80`, `[::]:80`. */
export function addressAndPort(address: string, port: number): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
