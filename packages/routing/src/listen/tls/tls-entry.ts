import { createSecureContext, type SecureContext, type SecureContextOptions, type SecureVersion } from 'node:tls';
import {
  TLS_VERSIONS,
  resolveCertificateFiles,
  DEFAULT_NAMESPACE,
  parseDuration,
  secretText,
  type GatewayError,
  type Secrets,
  type SecretValue,
  type TlsConfiguration,
} from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { requiresClientCertificate } from '../../check/check-connection.ts';

export interface TlsEntry {
  readonly configuration: TlsConfiguration;
  /** PEM texts, and the secret or files they are from: the entry is rebuilt when either changes. */
  readonly material: TlsMaterial;
  readonly secret: SecretValue;
  readonly context: SecureContext;
  readonly options: SecureContextOptions;
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  /** A client has to show a certificate that `ca` vouches for. */
  readonly clientRequired: boolean;
  /** Names of which the client's certificate has to carry one; empty is any. */
  readonly clientNames: readonly string[];
  /** Milliseconds; `undefined` leaves it to the listener. */
  readonly handshakeTimeoutMs?: number;
}

/** PEM texts of a certificate, its key, and the authorities of client certificates. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

type SslFiles = NonNullable<TlsConfiguration['sslConfig']['sslFiles']>;

const invalid = (message: string, cause?: unknown): GatewayError =>
  routingError('ERR_ROUTING_CERTIFICATE', message, cause);

/**
 * Builds the entry of a configuration, or gives `previous` back when nothing it is made of changed.
 * Throws `ERR_ROUTING_CERTIFICATE` when certificate or key is missing, malformed, or they do not belong together.
 */
export function buildTlsEntry(configuration: TlsConfiguration, secrets: Secrets, previous?: TlsEntry): TlsEntry {
  const { sslConfig } = configuration;
  const secret = secretOf(configuration, secrets);
  const known = previous?.configuration === configuration ? previous : undefined;
  if (known && known.secret === secret) return known;
  const material = fromSecret(secret, configuration);
  if (known && sameMaterial(known.material, material)) return { ...known, secret };
  const clientNames = sslConfig.verifySubjectAltName ?? [];
  const clientRequired = requiresClientCertificate(configuration, material.ca !== undefined);
  if (clientNames.length > 0 && !clientRequired) throw invalid('verifySubjectAltName needs a root CA');
  const limit = sslConfig.transportSocketConnectTimeout;
  const { minVersion, maxVersion, ...options } = contextOptions(configuration, material);
  try {
    const context = createSecureContext({ ...options, minVersion, maxVersion });
    const handshakeTimeoutMs = limit === undefined ? undefined : parseDuration(limit);
    const versions = { minVersion, maxVersion };
    return {
      configuration,
      material,
      secret,
      context,
      options,
      ...versions,
      clientRequired,
      clientNames,
      handshakeTimeoutMs,
    };
  } catch (error) {
    throw invalid(`${sourceOf(configuration)}: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

function contextOptions({ sslConfig }: TlsConfiguration, material: TlsMaterial) {
  const { minimumProtocolVersion, maximumProtocolVersion, cipherSuites } = sslConfig.parameters ?? {};
  const minVersion = TLS_VERSIONS[minimumProtocolVersion ?? ''] ?? 'TLSv1.2';
  const maxVersion = TLS_VERSIONS[maximumProtocolVersion ?? ''] ?? 'TLSv1.3';
  if (minVersion > maxVersion) throw invalid(`no TLS version between ${minVersion} and ${maxVersion}`);
  const ciphers = cipherSuites?.length ? { ciphers: cipherSuites.join(':'), honorCipherOrder: true } : {};
  return { ...material, ...ciphers, minVersion, maxVersion };
}

function sameMaterial(one: TlsMaterial, other: TlsMaterial): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca;
}

/** Returns the secret of a configuration, or the content of its files in the same form. */
function secretOf({ sslConfig: { secretRef, sslFiles } }: TlsConfiguration, secrets: Secrets): SecretValue {
  if (sslFiles) return contentOfFiles(sslFiles, secrets);
  if (!secretRef?.name) throw invalid('no certificate information found');
  const ref = { name: secretRef.name, namespace: secretRef.namespace || DEFAULT_NAMESPACE };
  const secret = secrets.get(ref);
  if (!secret) throw invalid(`SSL secret not found: ${ref.namespace}.${ref.name}`);
  return secret;
}

function contentOfFiles(files: SslFiles, secrets: Secrets): SecretValue {
  if (!files.tlsCert || !files.tlsKey) throw invalid('sslFiles needs tlsCert and tlsKey');
  const content = resolveCertificateFiles(files, secrets);
  if (content instanceof Error) throw invalid(content.message);
  return content;
}

function fromSecret(secret: SecretValue, configuration: TlsConfiguration): TlsMaterial {
  const cert = secretText(secret, 'tls.crt');
  const key = secretText(secret, 'tls.key');
  if (!cert || !key) throw invalid(`${sourceOf(configuration)} needs tls.crt and tls.key`);
  const ca = secretText(secret, 'ca.crt');
  return { cert, key, ...(ca && { ca }) };
}

function sourceOf({ sslConfig: { secretRef, sslFiles } }: TlsConfiguration): string {
  return secretRef ? `secret ${secretRef.namespace}.${secretRef.name}` : (sslFiles?.tlsCert ?? 'certificate');
}
