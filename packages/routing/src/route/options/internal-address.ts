import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Listener } from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';

type Manager = NonNullable<Listener['httpOptions']['httpConnectionManagerSettings']>;

/** Returns true for the address of an internal caller; an empty one is that of a Unix socket. */
export type IsInternal = (address: string) => boolean;

/** Compiles `internalAddressConfig`; without it no address is internal. Throws `ERR_ROUTING_OPTION` for an invalid range. */
export function compileInternalAddresses(config: Manager['internalAddressConfig']): IsInternal | undefined {
  if (!config) return undefined;
  const ranges = new BlockList();
  for (const { addressPrefix = '', prefixLen = 0 } of config.cidrRanges ?? []) {
    const family = isIP(addressPrefix);
    if (family === 0 || prefixLen > (family === 4 ? 32 : 128))
      throw routingError('ERR_ROUTING_OPTION', `invalid internal address range ${addressPrefix}/${prefixLen}`);
    ranges.addSubnet(addressPrefix, prefixLen, family === 4 ? 'ipv4' : 'ipv6');
  }
  const unixSockets = config.unixSockets === true;
  return (address) => (address === '' ? unixSockets : ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'));
}

/**
 * Returns true if a request comes from an internal caller, which may set `x-envoy-*` headers: directly, so that a client that sends `x-forwarded-for` is
 * never internal, or behind trusted proxies from the only address in `x-forwarded-for`.
 */
export function isInternalRequest(
  isInternal: IsInternal,
  peer: string,
  forwardedFor: string | undefined,
  useRemoteAddress: boolean,
): boolean {
  if (useRemoteAddress) return forwardedFor === undefined && isInternal(peer);
  const only = forwardedFor?.trim() ?? '';
  return isIP(only) !== 0 && isInternal(only);
}
