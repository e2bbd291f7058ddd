import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { DEFAULTS } from '../schema/defaults.ts';
import { plainAddress } from './client-connection.ts';

/** The network of all addresses that cannot be read. */
const UNKNOWN = 'unknown';
/** An IPv4 address behind NAT64 (RFC 6052 §2.1), in canonical spelling. */
const NAT64 = /^64:ff9b::(?:[0-9a-f]+(?::[0-9a-f]+)?)?$/;

/**
 * Returns what addresses of one client have in common, in one spelling: an IPv4 address itself, also in an IPv6 address, and of other IPv6
 * addresses the first `ipv6Bits` bits. A port or zone is removed. All addresses that cannot be read are one network, `unknown`.
 *
 * @example
 * networkOf('[2001:DB8:1:2::9]:443'); // '2001:db8:1:2::/64'
 */
export function networkOf(address: string, ipv6Bits: number = DEFAULTS.ipv6PrefixLength): string {
  return readNetwork(address, ipv6Bits) ?? UNKNOWN;
}

/** Returns the {@link networkOf} an address; `undefined` if it cannot be read. */
export function readNetwork(address: string, ipv6Bits: number): string | undefined {
  const plain = plainAddress(withoutPort(address.trim()));
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return undefined;
  const canonical = canonicalOf(plain);
  if (NAT64.test(canonical) || ipv6Bits >= 128) return canonical;
  return `${masked(canonical, ipv6Bits)}/${ipv6Bits}`;
}

/** Returns an address without port, brackets and zone. */
function withoutPort(written: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(written) ?? [];
  const [, ipv4] = /^([\d.]+):\d{1,5}$/.exec(written) ?? [];
  const [address = ''] = (bracketed ?? ipv4 ?? written).split('%', 1);
  return address;
}

function canonicalOf(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address;
}

/** Returns a canonical IPv6 address whose bits after the first `bits` are 0. */
function masked(canonical: string, bits: number): string {
  const [start = '', end = ''] = withoutDots(canonical).split('::');
  const groups = start === '' ? [] : start.split(':');
  const after = end === '' ? [] : end.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => '0');
  const kept = [...groups, ...zeros, ...after].map((group, i) => {
    const own = Math.min(16, Math.max(0, bits - 16 * i));
    return (parseInt(group, 16) & (0xffff << (16 - own)) & 0xffff).toString(16);
  });
  return canonicalOf(kept.join(':'));
}

/** Some canonical addresses end with an IPv4 address. */
function withoutDots(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.slice(0, 4).map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
}
