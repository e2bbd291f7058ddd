import type { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import {
  isMustStaple,
  NEEDS_STAPLE,
  OCSP_STAPLE,
  parseCertificates,
  parseOcspStaple,
  resolveCertificates,
  gatewayNamespace,
  parseDuration,
  secretText,
  tlsParameters,
  type GatewayError,
  type Secrets,
  type SecretValue,
  type TlsMaterial,
  type TlsConfiguration,
} from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { sameMaterial } from '../../upstream/tls.ts';
import type { Stapling } from './stapling.ts';
import { requiresClientCertificate } from '../../check/check-head.ts';

/** One certificate of a listener, ready for handshakes. */
export type TlsEntry = Readonly<ReturnType<typeof createEntry>>;

const invalid = (message: string, cause?: unknown): GatewayError =>
  routingError('ERR_ROUTING_CERTIFICATE', message, cause);

/**
 * Builds the entry of a configuration; returns `previous` if its inputs are unchanged.
 * Throws `ERR_ROUTING_CERTIFICATE` if the certificate or key is missing or malformed, or they do not match.
 */
export function buildTlsEntry(configuration: TlsConfiguration, secrets: Secrets, previous?: TlsEntry): TlsEntry {
  const secret = secretOf(configuration, secrets);
  const known = previous?.configuration === configuration ? previous : undefined;
  if (known && known.secret === secret) return known;
  const material = materialOf(secret, configuration);
  const isSame = known && sameMaterial(known.material, material) && sameStaple(known.secret, secret);
  return isSame ? { ...known, secret } : createEntry(configuration, secret, material);
}

/** OpenSSL's words for the most common mistake do not say which key and which certificate. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMismatch = 'code' in error && error.code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH';
  return isMismatch ? 'the private key does not belong to the certificate' : error.message;
}

function createEntry(configuration: TlsConfiguration, secret: SecretValue, material: TlsMaterial) {
  const { verifySubjectAltName: clientNames = [], transportSocketConnectTimeout: limit } = configuration.sslConfig;
  const clientRequired = requiresClientCertificate(configuration, material.ca !== undefined);
  if (clientNames.length > 0 && !clientRequired) throw invalid('verifySubjectAltName needs a root CA');
  const { minVersion, maxVersion, ...options } = contextOptions(configuration, material);
  const leaf = parseCertificates(material.cert ?? '')?.[0];
  if (!leaf) throw invalid(`${sourceOf(configuration)} does not contain a readable PEM certificate`);
  try {
    return {
      configuration,
      /** PEM texts, and their secret or files: the entry is rebuilt when either changes. */
      material,
      secret,
      /** DER of the certificate as base64, by which a handshake finds its OCSP response. */
      leaf: leaf.raw.toString('base64'),
      stapling: staplingOf(configuration, secret, leaf),
      context: createSecureContext({ ...options, minVersion, maxVersion }),
      options: options as SecureContextOptions,
      minVersion,
      maxVersion,
      /** True if a client must present a certificate that `ca` vouches for. */
      clientRequired,
      /** The client's certificate must have one of these names; empty allows any. */
      clientNames,
      /** In milliseconds; default: that of the listener. */
      handshakeTimeoutMs: limit === undefined ? undefined : parseDuration(limit),
    };
  } catch (error) {
    throw invalid(`${sourceOf(configuration)}: ${reasonOf(error)}`, error);
  }
}

function sameStaple(one: SecretValue, other: SecretValue): boolean {
  return one.data[OCSP_STAPLE] === other.data[OCSP_STAPLE];
}

function staplingOf({ sslConfig }: TlsConfiguration, { data }: SecretValue, leaf: X509Certificate): Stapling {
  const { ocspStaplePolicy = 'LENIENT_STAPLING' } = sslConfig;
  const encoded = data[OCSP_STAPLE];
  const policy = isMustStaple(leaf) ? 'MUST_STAPLE' : ocspStaplePolicy;
  if (encoded) return { policy, staple: parseOcspStaple(Buffer.from(encoded, 'base64'), leaf) };
  if (policy === 'MUST_STAPLE') throw new TypeError(NEEDS_STAPLE);
  return { policy, staple: undefined };
}

function contextOptions({ sslConfig }: TlsConfiguration, material: TlsMaterial) {
  const { minVersion = 'TLSv1.2', maxVersion = 'TLSv1.3', ...parameters } = tlsParameters(sslConfig.parameters);
  if (minVersion > maxVersion) throw invalid(`no TLS version between ${minVersion} and ${maxVersion}`);
  const order = parameters.ciphers === undefined ? {} : { honorCipherOrder: true };
  return { ...material, ...parameters, ...order, minVersion, maxVersion };
}

/** Returns the secret of a configuration, or the content of its files in the same form. */
function secretOf({ sslConfig }: TlsConfiguration, secrets: Secrets): SecretValue {
  const { secretRef, sslFiles, sds } = sslConfig;
  if (sslFiles && !(sslFiles.tlsCert && sslFiles.tlsKey)) throw invalid('sslFiles needs tlsCert and tlsKey');
  if (sds && !sds.certificatesSecretName) throw invalid('sds needs certificatesSecretName');
  const content = resolveCertificates(sslConfig, secrets);
  if (content instanceof Error) throw invalid(content.message);
  if (content) return content;
  if (!secretRef?.name) throw invalid('no certificate information found');
  const ref = { name: secretRef.name, namespace: secretRef.namespace || gatewayNamespace() };
  const secret = secrets.get(ref);
  if (!secret) throw invalid(`SSL secret not found: ${ref.namespace}.${ref.name}`);
  return secret;
}

function materialOf(secret: SecretValue, configuration: TlsConfiguration): TlsMaterial {
  const cert = secretText(secret, 'tls.crt');
  const key = secretText(secret, 'tls.key');
  if (!cert || !key) throw invalid(`${sourceOf(configuration)} needs tls.crt and tls.key`);
  return { cert, key, ca: secretText(secret, 'ca.crt') || undefined };
}

function sourceOf({ sslConfig: { secretRef, sslFiles, sds } }: TlsConfiguration): string {
  if (secretRef) return `secret ${secretRef.namespace}.${secretRef.name}`;
  return sslFiles?.tlsCert ?? sds?.targetUri ?? 'certificate';
}
