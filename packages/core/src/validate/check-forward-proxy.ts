import { isIP, isIPv4 } from 'node:net';
import { parseDuration } from '../syntax/duration.ts';
import type { HttpListenerOptions } from '../schema/listener/gateway-options.ts';
import { each, fields, reporterOf, type Check } from './check.ts';
import { checkUpstreamSslConfig } from './check-ssl-config.ts';

const invalid = reporterOf('INVALID_GATEWAY');

type ForwardProxy = NonNullable<HttpListenerOptions['dynamicForwardProxy']>;

/** Returns problems of `dynamicForwardProxy` of a listener. */
export const checkForwardProxy: Check<ForwardProxy> = (proxy, at) => [
  ...fields(proxy, at, { sslConfig: checkUpstreamSslConfig, dnsCacheConfig: checkDnsCache }),
  ...each(proxy.allowedAddresses, [...at, 'allowedAddresses'], (range, path) =>
    invalid(!isRange(range) && `invalid address range '${range}': use CIDR notation, such as 10.0.0.0/8`, path),
  ),
];

const checkDnsCache: Check<NonNullable<ForwardProxy['dnsCacheConfig']>> = ({ dnsRefreshRate, caresDns }, at) => {
  const isTooFast = dnsRefreshRate !== undefined && parseDuration(dnsRefreshRate) < 1;
  return [
    ...invalid(isTooFast && 'dnsRefreshRate must be at least 1ms', [...at, 'dnsRefreshRate']),
    ...each(caresDns?.resolvers, [...at, 'caresDns', 'resolvers'], ({ socketAddress: { address = '' } = {} }, path) =>
      invalid(isIP(address) === 0 && `the DNS server '${address}' is not an IP address`, path),
    ),
  ];
};

function isRange(range: string): boolean {
  const [address = '', prefix, ...rest] = range.split('/');
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIPv4(address) ? 32 : 128));
}
