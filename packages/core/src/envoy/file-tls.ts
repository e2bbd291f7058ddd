import { isIP } from 'node:net';
import { message, typed, type EnvoyMessage } from './message.ts';

/** Files of TLS to a server of the gateway, as an Envoy sees them. */
export interface TlsFiles {
  /** CA certificates for the server. */
  readonly ca: string;
  /** Client certificate and its private key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Default: the host of the server. */
  readonly serverName?: string | undefined;
}

/** Returns the transport socket for a server at a host. */
export function fileTlsSocket({ ca, cert, key, serverName }: TlsFiles, host: string): EnvoyMessage {
  const name = serverName ?? host;
  const certificates = cert && key ? [{ certificate_chain: { filename: cert }, private_key: { filename: key } }] : [];
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', {
      common_tls_context: message({
        tls_certificates: certificates,
        validation_context: {
          trusted_ca: { filename: ca },
          match_typed_subject_alt_names: [
            { san_type: isIP(name) === 0 ? 'DNS' : 'IP_ADDRESS', matcher: { exact: name } },
          ],
        },
      }),
      sni: isIP(name) === 0 ? name : undefined,
    }),
  };
}
