import { sdsProblem } from '../security/sds-target.ts';
import type { Sds, SslConfig, SslParameters, UpstreamSslConfig } from '../schema/listener/ssl-config.ts';
import { tlsParameterProblems } from '../security/tls-parameters.ts';
import { each, fields, reporterOf, type Check } from './check.ts';

const invalid = reporterOf('INVALID_SSL_CONFIG');
const WARNING = { severity: 'warning' } as const;

/** Returns problems of the TLS to clients. */
export const checkSslConfig: Check<SslConfig> = (config, at) => [
  ...fields(config, at, { parameters: checkSslParameters, sds: checkSds }),
  ...fields(config, at, {
    alpnProtocols: (protocols, path) => [
      ...invalid(protocols.length > 1 && protocols.includes('allow_empty') && MIXED, path),
      ...each(protocols, path, (protocol, place) =>
        invalid(!isProtocol(protocol) && `invalid ALPN protocol '${protocol}'`, place),
      ),
    ],
  }),
];

const checkSds: Check<Sds> = (sds, at) => invalid(sdsProblem(sds), at);

const MIXED = 'allow_empty must be the only value';

/** The length of a protocol is one byte. */
function isProtocol(protocol: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(protocol);
}

/** Returns problems of the TLS to an upstream. */
export const checkUpstreamSslConfig: Check<UpstreamSslConfig> = (config, at) => [
  ...fields(config, at, { parameters: checkSslParameters, sds: checkSds }),
  ...invalid(config.allowRenegotiation && RENEGOTIATION, [...at, 'allowRenegotiation'], WARNING),
];

const RENEGOTIATION =
  'allowRenegotiation is ignored: renegotiation is never allowed, because it changes the peer in the middle of a connection';

/** Returns problems of TLS parameters. */
export const checkSslParameters: Check<SslParameters> = (parameters, at) =>
  tlsParameterProblems(parameters).flatMap(({ field, message }) => invalid(message, [...at, field]));
