import { block, bool, duration, enumeration, list, named, notYet, of, ref, text, type Static } from './field.ts';

const VERSIONS = ['TLS_AUTO', 'TLSv1_0', 'TLSv1_1', 'TLSv1_2', 'TLSv1_3'] as const;

const parameters = block({
  minimumProtocolVersion: enumeration(VERSIONS, 'Oldest TLS version spoken.', { default: 'TLS_AUTO' }),
  maximumProtocolVersion: enumeration(VERSIONS, 'Newest TLS version spoken.', { default: 'TLS_AUTO' }),
  cipherSuites: list(text(), 'Cipher suites for TLS 1.2 and older, best first.', notYet),
  ecdhCurves: list(text(), 'Curves for the key exchange, best first.', notYet),
});
/** TLS versions, ciphers and curves. */
export interface SslParameters extends Static<typeof parameters> {}
export const SslParameters = named<SslParameters>('SslParameters', parameters);

const serverParameters = block({
  minimumProtocolVersion: enumeration(VERSIONS, 'Oldest TLS version spoken; TLS_AUTO is 1.2.', { default: 'TLS_AUTO' }),
  maximumProtocolVersion: enumeration(VERSIONS, 'Newest TLS version spoken; TLS_AUTO is 1.3.', { default: 'TLS_AUTO' }),
  cipherSuites: list(text(), 'Cipher suites for TLS 1.2 and older, best first.'),
  ecdhCurves: list(text(), 'Curves for the key exchange, best first.', notYet),
});
/** TLS versions, ciphers and curves towards clients. */
export interface ServerSslParameters extends Static<typeof serverParameters> {}
export const ServerSslParameters = named<ServerSslParameters>('ServerSslParameters', serverParameters);

const files = block({
  tlsCert: text('Path of the PEM certificate chain.'),
  tlsKey: text('Path of the PEM private key.'),
  rootCa: text('Path of the PEM certificates that the other side is checked against.'),
  ocspStaple: text('Path of the DER-encoded OCSP response.', notYet),
});
/** A certificate in files of the machine that the gateway runs on. */
export interface SslFiles extends Static<typeof files> {}
export const SslFiles = named<SslFiles>('SslFiles', files);

const sds = block(
  {
    targetUri: text('Address of the secret discovery server.', { default: '127.0.0.1:8234' }),
    callCredentials: of(
      block({
        fileCredentialSource: of(
          block({
            tokenFileName: text('File with the token that is sent along.'),
            header: text('Metadata key the token is sent in.'),
          }),
          'Credentials in a file.',
        ),
      }),
      'How the gateway identifies itself to the server.',
    ),
    clusterName: text('Cluster that reaches the server.', { default: 'gateway_proxy_sds' }),
    certificatesSecretName: text('Name under which the server holds the certificate.'),
    validationContextName: text('Name under which the server holds the root certificates.'),
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
    sniDomains: list(text(), 'Server names this certificate is shown for. Empty: any.'),
    verifySubjectAltName: list(
      text(),
      'Exact names of which the client certificate has to carry one; needs a root CA.',
    ),
    parameters: of(ServerSslParameters, 'TLS versions, ciphers and curves.'),
    alpnProtocols: list(text(), 'Protocols offered; the single value `allow_empty` offers none.', {
      default: ['h2', 'http/1.1'],
      ...notYet,
    }),
    oneWayTls: bool(
      'True asks for no client certificate even when there is a root CA. Default: Settings `gateway.virtualServiceOptions.oneWayTls`, else false.',
      { default: false },
    ),
    disableTlsSessionResumption: bool('Every connection makes a full handshake.', { default: false }),
    transportSocketConnectTimeout: duration('Longest time for the handshake.', { default: '10s' }),
    ocspStaplePolicy: enumeration(
      ['LENIENT_STAPLING', 'STRICT_STAPLING', 'MUST_STAPLE'],
      'What happens when the OCSP response is missing or too old.',
      { default: 'LENIENT_STAPLING', ...notYet },
    ),
  },
  ONE_SOURCE,
);
/** TLS towards clients. */
export interface SslConfig extends Static<typeof downstream> {}
export const SslConfig = named<SslConfig>('SslConfig', downstream);

const upstream = block(
  {
    ...source,
    sni: text('Server name asked for. Default: the host, when it is a DNS name.'),
    verifySubjectAltName: list(
      text(),
      'Exact names of which the server certificate has to carry one; needs a root CA.',
    ),
    parameters: of(
      SslParameters,
      'TLS versions, ciphers and curves. Default: Settings `upstreamOptions.sslParameters`.',
    ),
    alpnProtocols: list(text(), 'Protocols offered. Default: none.', notYet),
    allowRenegotiation: bool('Whether the server may renegotiate.', { default: false, ...notYet }),
    oneWayTls: bool('Sends no client certificate; without effect with `sds`.', { default: false }),
  },
  ONE_SOURCE,
);
/** TLS towards an upstream. A secret with only `ca.crt` is enough. */
export interface UpstreamSslConfig extends Static<typeof upstream> {}
export const UpstreamSslConfig = named<UpstreamSslConfig>('UpstreamSslConfig', upstream);
