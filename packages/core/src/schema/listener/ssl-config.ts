import { block, bool, duration, enumeration, list, named, notYet, of, ref, text, type Static } from '../field.ts';

const VERSIONS = ['TLS_AUTO', 'TLSv1_0', 'TLSv1_1', 'TLSv1_2', 'TLSv1_3'] as const;

const parameters = block({
  minimumProtocolVersion: enumeration(VERSIONS, 'Minimum TLS version.', { default: 'TLS_AUTO' }),
  maximumProtocolVersion: enumeration(VERSIONS, 'Maximum TLS version.', { default: 'TLS_AUTO' }),
  cipherSuites: list(text(), 'Cipher suites for TLS 1.2 and older, best first.', notYet),
  ecdhCurves: list(text(), 'Curves for the key exchange, best first.', notYet),
});
/** TLS versions, ciphers and curves. */
export interface SslParameters extends Static<typeof parameters> {}
export const SslParameters = named<SslParameters>('SslParameters', parameters);

const serverParameters = block({
  minimumProtocolVersion: enumeration(VERSIONS, 'Minimum TLS version; TLS_AUTO is 1.2.', { default: 'TLS_AUTO' }),
  maximumProtocolVersion: enumeration(VERSIONS, 'Maximum TLS version; TLS_AUTO is 1.3.', { default: 'TLS_AUTO' }),
  cipherSuites: list(text(), 'Cipher suites for TLS 1.2 and older, best first.'),
  ecdhCurves: list(text(), 'Curves for the key exchange, best first.', notYet),
});
/** TLS versions, ciphers and curves for clients. */
export interface ServerSslParameters extends Static<typeof serverParameters> {}
export const ServerSslParameters = named<ServerSslParameters>('ServerSslParameters', serverParameters);

const files = block({
  tlsCert: text('Path of the PEM certificate chain.'),
  tlsKey: text('Path of the PEM private key.'),
  rootCa: text('Path of the PEM root certificates that verify the peer.'),
  ocspStaple: text('Path of the DER-encoded OCSP response.', notYet),
});
/** A certificate in files on the machine of the gateway. */
export interface SslFiles extends Static<typeof files> {}
export const SslFiles = named<SslFiles>('SslFiles', files);

const sds = block(
  {
    targetUri: text('Address of the secret discovery server.', { default: '127.0.0.1:8234' }),
    callCredentials: of(
      block({
        fileCredentialSource: of(
          block({
            tokenFileName: text('File with the token to send.'),
            header: text('Metadata key of the token.'),
          }),
          'Credentials in a file.',
        ),
      }),
      'How the gateway authenticates at the server.',
    ),
    clusterName: text('Cluster of the server.', { default: 'gateway_proxy_sds' }),
    certificatesSecretName: text('Name of the certificate at the server.'),
    validationContextName: text('Name of the root certificates at the server.'),
  },
  { oneOf: [{ members: ['callCredentials', 'clusterName'] }] },
);
const Sds = named<Static<typeof sds>>('Sds', sds);

const source = {
  secretRef: ref('Secret of type kubernetes.io/tls: `tls.crt`, `tls.key`, optional `ca.crt` and `tls.ocsp-staple`.'),
  sslFiles: of(
    SslFiles,
    'Certificate from files, validated and watched: new content is used within 5 s; invalid content is reported, and the previous content stays in use.',
  ),
  sds: of(Sds, 'Certificate from a secret discovery server.', notYet),
} as const;
const ONE_SOURCE = { oneOf: [{ members: ['secretRef', 'sslFiles', 'sds'] }] } as const;

const downstream = block(
  {
    ...source,
    sniDomains: list(text(), 'Server names for which this certificate is used. Empty: any.'),
    verifySubjectAltName: list(text(), 'Exact names; the client certificate must contain one. Requires a root CA.'),
    parameters: of(ServerSslParameters, 'TLS versions, ciphers and curves.'),
    alpnProtocols: list(text(), 'ALPN protocols; the single value `allow_empty` offers none.', {
      default: ['h2', 'http/1.1'],
      ...notYet,
    }),
    oneWayTls: bool(
      'True requests no client certificate even if there is a root CA. Default: Settings `gateway.virtualServiceOptions.oneWayTls`, else false.',
      { default: false },
    ),
    disableTlsSessionResumption: bool('Requires a full handshake for every connection.', { default: false }),
    transportSocketConnectTimeout: duration('Timeout of the handshake.', { default: '10s' }),
    ocspStaplePolicy: enumeration(
      ['LENIENT_STAPLING', 'STRICT_STAPLING', 'MUST_STAPLE'],
      'How a missing or expired OCSP response is handled.',
      { default: 'LENIENT_STAPLING', ...notYet },
    ),
  },
  ONE_SOURCE,
);
/** TLS to clients. */
export interface SslConfig extends Static<typeof downstream> {}
export const SslConfig = named<SslConfig>('SslConfig', downstream);

const upstream = block(
  {
    ...source,
    sni: text('Server name (SNI). Default: the host, if it is a DNS name.'),
    verifySubjectAltName: list(text(), 'Exact names; the server certificate must contain one. Requires a root CA.'),
    parameters: of(
      SslParameters,
      'TLS versions, ciphers and curves. Default: Settings `upstreamOptions.sslParameters`.',
    ),
    alpnProtocols: list(text(), 'ALPN protocols. Default: none.', notYet),
    allowRenegotiation: bool('Whether the server may renegotiate.', { default: false, ...notYet }),
    oneWayTls: bool('Sends no client certificate; without effect with `sds`.', { default: false }),
  },
  ONE_SOURCE,
);
/** TLS to an upstream. A secret with only `ca.crt` is enough. */
export interface UpstreamSslConfig extends Static<typeof upstream> {}
export const UpstreamSslConfig = named<UpstreamSslConfig>('UpstreamSslConfig', upstream);
