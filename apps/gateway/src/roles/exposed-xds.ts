import type { ServerTls } from '@edge-gateway/core';
import { isLoopback } from './loopback.ts';

/** Returns a warning if others than the proxies can read the configuration from the xDS port; `undefined` if they cannot. */
export function exposedXds(
  address: string,
  tls: Pick<ServerTls, 'clientCa'> | undefined,
  anonymousSecrets = false,
): string | undefined {
  if (isLoopback(address)) return undefined;
  if (!tls)
    return (
      'the port for proxies has no TLS: secrets are not sent to other machines and their proxies are rejected, but any other client can read the rest of ' +
      'the configuration; set --xds-tls-cert, --xds-tls-key and --xds-tls-client-ca'
    );
  if (tls.clientCa !== undefined) return undefined;
  const accepted = 'the port for proxies accepts clients without a certificate:';
  return anonymousSecrets
    ? `${accepted} anyone who reaches it can read the configuration with its secrets; set --xds-tls-client-ca`
    : `${accepted} secrets are not sent to other machines and their proxies are rejected, but any other client can read the rest of the configuration; set --xds-tls-client-ca`;
}
