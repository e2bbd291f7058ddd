import type { SslConfig, SslParameters, UpstreamSslConfig } from '../schema/listener/ssl-config.ts';
import { tlsParameterProblems } from '../security/tls-parameters.ts';
import { fields, reporterOf, type Check } from './check.ts';

const invalid = reporterOf('INVALID_SSL_CONFIG');
const WARNING = { severity: 'warning' } as const;

/** Returns problems of the TLS to clients. */
export const checkSslConfig: Check<SslConfig> = (config, at) => fields(config, at, { parameters: checkSslParameters });

/** Returns problems of the TLS to an upstream. */
export const checkUpstreamSslConfig: Check<UpstreamSslConfig> = (config, at) => [
  ...fields(config, at, { parameters: checkSslParameters }),
  ...invalid(config.allowRenegotiation && RENEGOTIATION, [...at, 'allowRenegotiation'], WARNING),
  ...invalid(config.alpnProtocols?.includes('h2') && HTTP2, [...at, 'alpnProtocols'], WARNING),
];

const RENEGOTIATION =
  'allowRenegotiation is ignored: renegotiation is always refused, because it changes the peer in the middle of a connection';
const HTTP2 = 'h2 is not offered to upstreams: requests are sent with HTTP/1.1';

/** Returns problems of TLS parameters. */
export const checkSslParameters: Check<SslParameters> = (parameters, at) =>
  tlsParameterProblems(parameters).flatMap(({ field, message }) => invalid(message, [...at, field]));
