import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { plainAddress } from '@edge-gateway/core';
import { addressBytes } from '../address-bytes.ts';

/**
 * Ranges that are not public (IANA special-purpose registries), besides those that are checked by what they contain; and the address
 * at which machines of Azure reach their platform, which hands out secrets as the metadata servers of other clouds do.
 */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Only `2000::/3` is public; these parts of it are not. */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20'];
const PUBLIC_V6 = listOf(['2000::/3']);
const NOT_PUBLIC = listOf([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6]);
/** Prefixes of addresses that reach an IPv4 address, and where that begins: NAT64 (RFC 6052) and 6to4 (RFC 3056). */
const EMBEDDING = [
  { list: listOf(['64:ff9b::/96']), start: 12 },
  { list: listOf(['2002::/16']), start: 2 },
];

/** Which addresses a client may have the gateway connect to. */
export interface AddressPolicy {
  /** Ranges that are allowed although they are not public. */
  readonly allowed: readonly string[];
  /** Ports that the gateway itself listens on. */
  readonly ownPorts: ReadonlySet<number>;
}

/** Returns why a connection to an address that a client chose is not allowed; `undefined` if it is. */
export function addressProblem(
  written: string,
  port: number,
  { allowed, ownPorts }: AddressPolicy,
): string | undefined {
  const address = plainAddress(written);
  const own = isOfThisMachine(address);
  if (own && ownPorts.has(port)) return `${address}:${port} is the gateway itself`;
  if (has(listOf(allowed), address)) return undefined;
  if (own) return `${address} is an address of this machine`;
  return isPublic(address) ? undefined : `${address} is not a public address`;
}

function isPublic(address: string): boolean {
  if (isIPv4(address)) return !has(NOT_PUBLIC, address);
  if (!isIPv6(address) || address.includes('%')) return false;
  const embedding = EMBEDDING.find(({ list }) => has(list, address));
  if (embedding)
    return isPublic(
      addressBytes(address)
        .subarray(embedding.start, embedding.start + 4)
        .join('.'),
    );
  return has(PUBLIC_V6, address) && !has(NOT_PUBLIC, address);
}

function isOfThisMachine(address: string): boolean {
  if (/^(?:127\.|0\.|::1?$)/.test(address)) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((one) => one.address === address));
}

function has(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Returns a list of addresses and CIDR ranges. Throws the error of `BlockList` for an invalid one. */
export function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const bits = isIPv4(address) ? 32 : 128;
    list.addSubnet(address, Number(prefix ?? bits), bits === 32 ? 'ipv4' : 'ipv6');
  }
  return list;
}
