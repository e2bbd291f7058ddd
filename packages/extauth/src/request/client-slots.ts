import { isIPv6, SocketAddress } from 'node:net';
import { plainAddress } from '@edge-gateway/core';

/**
 * Creates `max` slots that clients share. A client gets at most half of those that the others leave, so that one client cannot block the others, and
 * each further one gets fewer. Pass the {@link networkOf} a client's address.
 */
export function createClientSlots(max: number) {
  const byClient = new Map<string, number>();
  let used = 0;
  return {
    /** Acquires a slot. Returns false if the client has as many as are left for all others. */
    acquire(client: string): boolean {
      const own = byClient.get(client) ?? 0;
      if (own >= max - used) return false;
      used++;
      byClient.set(client, own + 1);
      return true;
    },
    release(client: string): void {
      const left = byClient.get(client)! - 1;
      used--;
      if (left > 0) byClient.set(client, left);
      else byClient.delete(client);
    },
  };
}

/** An IPv4 address behind NAT64 (RFC 6052 §2.1), in canonical spelling. */
const NAT64 = /^64:ff9b::(?:[0-9a-f]+(?::[0-9a-f]+)?)?$/;

/**
 * Returns what addresses of one client have in common: an IPv4 address itself, also in an IPv6 address, and of other IPv6 addresses
 * the first 64 bits.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const canonical = new SocketAddress({ address: plain, family: 'ipv6' }).address;
  if (NAT64.test(canonical)) return canonical;
  const [start = '', end = ''] = canonical.split('::');
  const groups = start === '' ? [] : start.split(':');
  const after = end === '' ? [] : end.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  return [...groups, ...zeros, ...after].slice(0, 4).join(':');
}
