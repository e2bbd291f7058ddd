import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';

const VERSIONS = ['TLS_AUTO', 'TLSv1_0', 'TLSv1_1', 'TLSv1_2', 'TLSv1_3'] as const;

const parameters = f.block({
  minimumProtocolVersion: f.choice(VERSIONS, 'Minimum TLS version.'),
  maximumProtocolVersion: f.choice(VERSIONS, 'Maximum TLS version.'),
  cipherSuites: f.texts('Cipher suites by their OpenSSL names, best first.'),
  ecdhCurves: f.texts('Curves for the key exchange, best first.'),
});
/** TLS versions, ciphers and curves. */
export interface SslParameters extends f.Static<typeof parameters> {}
export const SslParameters = f.named<SslParameters>('SslParameters', parameters);

const serverParameters = f.block({
  minimumProtocolVersion: f.choice(VERSIONS, 'Minimum TLS version; TLS_AUTO is 1.2.'),
  maximumProtocolVersion: f.choice(VERSIONS, 'Maximum TLS version; TLS_AUTO is 1.3.'),
  cipherSuites: f.texts('Cipher suites by their OpenSSL names, best first.'),
  ecdhCurves: f.texts('Curves for the key exchange, best first.'),
});
/** TLS versions, ciphers and curves for clients. */
export interface ServerSslParameters extends f.Static<typeof serverParameters> {}
export const ServerSslParameters = f.named<ServerSslParameters>('ServerSslParameters', serverParameters);

const files = f.block({
  tlsCert: f.text('Path of the PEM certificate chain.'),
  tlsKey: f.text('Path of the PEM private key.'),
  rootCa: f.text('Path of the PEM root certificates that verify the peer.'),
  ocspStaple: f.text('Path of the DER-encoded OCSP response; without effect for upstreams.'),
});
/** A certificate in files on the machine of the gateway. */
export interface SslFiles extends f.Static<typeof files> {}
export const SslFiles = f.named<SslFiles>('SslFiles', files);

const callCredentials = f.block({
  fileCredentialSource: f.group('Credentials in a file.', {
    tokenFileName: f.text('File with the token to send; it is read for each stream.'),
    header: f.text('Metadata key of the token.', { default: DEFAULTS.sdsTokenHeader }),
  }),
});
const sds = f.block(f.oneOf(['callCredentials', 'clusterName']), {
  targetUri: f.text(
    'Path of a secret discovery file: `file:///etc/sds.yaml`, `/etc/sds.yaml` or `./sds.yaml`. Or a server on this machine: `127.0.0.1:8234`, `unix:/run/sds.sock`.',
    { default: DEFAULTS.sdsTargetUri },
  ),
  callCredentials: f.of(callCredentials, 'How the gateway authenticates at the server.'),
  clusterName: f.text(
    'Upstream of the server, as `<name>_<namespace>`; its TLS and endpoints are used. The default is the server of `targetUri`.',
    { default: DEFAULTS.sdsClusterName },
  ),
  certificatesSecretName: f.text('Name of the Secret with the certificate, its key and its optional OCSP response.'),
  validationContextName: f.text('Name of the Secret with the root certificates that verify the peer.'),
});
/** A certificate by secret discovery. */
export interface Sds extends f.Static<typeof sds> {}
export const Sds = f.named<Sds>('Sds', sds);

const source = {
  secretRef: f.ref('Secret of type kubernetes.io/tls: `tls.crt`, `tls.key`, optional `ca.crt` and `tls.ocsp-staple`.'),
  sslFiles: f.of(
    SslFiles,
    'Certificate from files, validated and watched: new content is used within 5 s; invalid content is reported, and the previous content stays in use.',
  ),
  sds: f.of(
    Sds,
    'Certificate by secret discovery: from a server over gRPC, or from a file that is validated and watched like `sslFiles`.',
  ),
} as const;
const ONE_SOURCE = f.oneOf(['secretRef', 'sslFiles', 'sds']);

const downstream = f.block(ONE_SOURCE, {
  ...source,
  sniDomains: f.texts('Server names for which this certificate is used. Empty: any.'),
  verifySubjectAltName: f.texts('Exact names; the client certificate must contain one. Requires a root CA.'),
  parameters: f.of(ServerSslParameters, 'TLS versions, ciphers and curves.'),
  alpnProtocols: f.texts(
    'ALPN protocols, best first; the single value `allow_empty` offers none. Those that `codecType` excludes are not offered.',
    {
      default: ['h2', 'http/1.1'],
    },
  ),
  oneWayTls: f.flag(
    'True requests no client certificate even if there is a root CA. Default: Settings `gateway.virtualServiceOptions.oneWayTls`, else false.',
  ),
  disableTlsSessionResumption: f.flag('Requires a full handshake for every connection.'),
  transportSocketConnectTimeout: f.duration('Timeout of the handshake.', { default: '10s' }),
  ocspStaplePolicy: f.choice(
    ['LENIENT_STAPLING', 'STRICT_STAPLING', 'MUST_STAPLE'],
    'How a missing or expired OCSP response is handled if a client asks for one. Lenient: the certificate is used without it. Strict: handshakes fail while it is expired. Must: it is required, and handshakes fail while it is expired.',
    { default: 'LENIENT_STAPLING' },
  ),
});
/** TLS to clients. */
export interface SslConfig extends f.Static<typeof downstream> {}
export const SslConfig = f.named<SslConfig>('SslConfig', downstream);

const upstream = f.block(ONE_SOURCE, {
  ...source,
  sni: f.text('Server name (SNI). Default: the host, if it is a DNS name.'),
  verifySubjectAltName: f.texts('Exact names; the server certificate must contain one. Requires a root CA.'),
  parameters: f.of(
    SslParameters,
    'TLS versions, ciphers and curves. Default: Settings `upstreamOptions.sslParameters`.',
  ),
  alpnProtocols: f.texts('ALPN protocols to offer. With `useHttp2` only `h2` is offered, otherwise never.', {
    default: ['http/1.1'],
  }),
  allowRenegotiation: f.flag('Ignored with a warning: TLS renegotiation is never allowed.'),
  oneWayTls: f.flag('Sends no client certificate; without effect with `sds`.'),
});
/** TLS to an upstream. A secret with only `ca.crt` is enough. */
export interface UpstreamSslConfig extends f.Static<typeof upstream> {}
export const UpstreamSslConfig = f.named<UpstreamSslConfig>('UpstreamSslConfig', upstream);
