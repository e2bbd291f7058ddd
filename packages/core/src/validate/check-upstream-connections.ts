import { isHeaderName, isHeaderValue } from '../http/reserved-headers.ts';
import type { UpstreamSpec } from '../schema/kind/upstream.ts';
import { isHost } from '../syntax/host.ts';
import { each, reporterOf, type Check } from './check.ts';

const invalid = reporterOf('INVALID_UPSTREAM');
/** Headers that the gateway writes into a CONNECT request itself. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

/** Returns problems of a Unix socket. */
export const checkPipe: Check<NonNullable<UpstreamSpec['pipe']>> = ({ path = '' }, at) =>
  invalid(!/^[/@]./.test(path) && `the path of a Unix socket must be absolute, not '${path}'`, [...at, 'path']);

/** A tunnel needs a server, as `host:port`, and headers that can be sent. */
export const checkTunnel: Check<UpstreamSpec> = (spec, at) => {
  const { httpProxyHostname: server, httpConnectHeaders = [], httpConnectSslConfig } = spec;
  if (server === undefined) {
    const extra = httpConnectSslConfig ? 'httpConnectSslConfig' : 'httpConnectHeaders';
    const isUnused = httpConnectSslConfig !== undefined || httpConnectHeaders.length > 0;
    const message = isUnused && `${extra} has no effect without httpProxyHostname`;
    return invalid(message, [...at, extra], { severity: 'warning' });
  }
  const isServer = /:\d+$/.test(server) && isHost(server);
  return [
    ...invalid(!isServer && `httpProxyHostname must be host:port, not '${server}'`, [...at, 'httpProxyHostname']),
    ...each(httpConnectHeaders, [...at, 'httpConnectHeaders'], ({ key = '', value = '' }, header) => {
      const isSendable = isHeaderName(key) && !OWN_HEADERS.has(key.toLowerCase()) && isHeaderValue(value);
      return invalid(!isSendable && `the header '${key}' cannot be sent to a proxy`, header);
    }),
  ];
};
