import { getServers } from 'node:dns';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { LOCAL_FILES } from './local-names.ts';
import type { Addresses } from './lookup.ts';

/** Returns true if DNS servers are configured on the machine. Without any, c-ares would ask the machine itself. */
export function hasServers(file = LOCAL_FILES.resolver): boolean {
  try {
    return /^[ \t]*nameserver[ \t]+\S/m.test(readFileSync(file, 'utf8'));
  } catch {
    return process.platform !== 'linux' && getServers().length > 0;
  }
}

/** Returns the addresses of families that a network interface has, besides loopback and link-local addresses. */
export function routable(addresses: Addresses, interfaces = networkInterfaces()): Addresses {
  const own = Object.values(interfaces).flatMap((each) => each ?? []);
  const has = (family: string): boolean =>
    own.some((each) => each.family === family && !each.internal && !/^(?:fe80:|169\.254\.)/i.test(each.address));
  const { v4, v6, ttlMs } = addresses;
  return { v4: has('IPv4') ? v4 : v4.filter(isLoopback), v6: has('IPv6') ? v6 : v6.filter(isLoopback), ttlMs };
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';
