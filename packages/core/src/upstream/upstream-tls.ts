import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls';
import type { ResourceRef } from '../resource/resource.ts';
import { alternativeNames } from '../security/certificates.ts';
import { parseRoots, TLS_VERSIONS, type TlsTexts } from '../security/tls-material.ts';
import type { SslFiles } from '../schema/listener/ssl-config.ts';
import {
  secretText,
  type Endpoint,
  type Secrets,
  type SecretValue,
  type SnapshotUpstream,
} from '../contract/snapshot.ts';

/** The TLS settings of connections to an upstream. Verification cannot be disabled. */
export interface UpstreamTls {
  readonly secureContext: SecureContext;
  /** Returns the server name (SNI); `undefined` if the endpoint is an IP address and none is configured. */
  serverName(endpoint: Endpoint): string | undefined;
  /** Returns the problem of the names in a certificate with a verified chain. */
  checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined;
}

type SslConfig = NonNullable<SnapshotUpstream['spec']['sslConfig']>;

/** Returns the secret reference of an upstream's TLS, if any. The default namespace is the upstream's own. */
function tlsSecretRef({ spec, ref }: SnapshotUpstream): ResourceRef | undefined {
  const secretRef = spec.sslConfig?.secretRef;
  return secretRef && { name: secretRef.name ?? '', namespace: secretRef.namespace ?? ref.namespace };
}

/**
 * Returns the certificates of an upstream, from its secret or its files; without either there are none.
 * Throws an `Error` when the secret is missing or the files never had valid content.
 *
 * @example
 * const tls = createUpstreamTls(upstream, readTlsMaterial(upstream, context.secrets));
 */
export function readTlsMaterial(upstream: SnapshotUpstream, secrets: Secrets): TlsTexts {
  const ref = tlsSecretRef(upstream);
  if (ref) {
    const secret = secrets.get(ref);
    if (!secret) throw new Error(`secret ${ref.namespace}.${ref.name} does not exist`);
    return materialOf(secret);
  }
  const files = upstream.spec.sslConfig?.sslFiles;
  if (!files) return {};
  const content = resolveCertificateFiles(files, secrets);
  if (content instanceof Error) throw content;
  return materialOf(content);
}

function materialOf(secret: SecretValue): TlsTexts {
  return {
    ca: secretText(secret, 'ca.crt'),
    cert: secretText(secret, 'tls.crt'),
    key: secretText(secret, 'tls.key'),
  };
}

/** Returns the last valid content of certificate files as a TLS secret, or why there is none. */
export function resolveCertificateFiles(files: SslFiles, { files: find }: Secrets): SecretValue | Error {
  const paths = [files.tlsCert, files.tlsKey, files.rootCa].filter(Boolean).join(', ');
  if (paths === '') return { type: 'kubernetes.io/tls', data: {} };
  if (!find) return new Error(`certificate files are not read here (${paths}): pass the secrets of a control plane`);
  return find(files) ?? new Error(`certificate files without valid content: ${paths}`);
}

/**
 * Creates the TLS settings of an upstream. The server's chain is verified against the configured root certificates, else
 * against those Node trusts; its name against `verifySubjectAltName`, else against the server name or address.
 * Throws an `Error` for certificates that cannot be used.
 *
 * @example
 * const { secureContext, checkServerIdentity } = createUpstreamTls(upstream, material);
 * connect({ host, port, secureContext, checkServerIdentity, servername: serverName(endpoint) });
 */
export function createUpstreamTls(upstream: SnapshotUpstream, material: TlsTexts): UpstreamTls {
  const ssl = upstream.spec.sslConfig;
  const names = ssl?.verifySubjectAltName ?? [];
  const rewrite = upstream.spec.static?.autoSniRewrite ?? true;
  return {
    secureContext: secureContext(material, ssl),
    serverName: (endpoint) =>
      endpoint.sni || ssl?.sni || (rewrite && isIP(endpoint.address) === 0 ? endpoint.address : undefined),
    checkServerIdentity:
      names.length > 0 ? (_host, certificate) => checkNames(certificate, names) : checkServerIdentity,
  };
}

const trusted = new Map<string, SecureContext>();

function secureContext({ ca, cert, key }: TlsTexts, ssl: SslConfig | undefined): SecureContext {
  const minVersion = TLS_VERSIONS[ssl?.parameters?.minimumProtocolVersion ?? ''];
  const maxVersion = TLS_VERSIONS[ssl?.parameters?.maximumProtocolVersion ?? ''];
  if ((cert === undefined) !== (key === undefined))
    throw new Error('a client certificate needs its key, and a key its certificate');
  const client = ssl?.oneWayTls ? {} : { cert, key };
  try {
    const roots = ca === undefined ? undefined : parseRoots(ca);
    if (roots || client.cert !== undefined)
      return createSecureContext({ ca: roots, ...client, minVersion, maxVersion });
    const versions = `${minVersion} ${maxVersion}`;
    let context = trusted.get(versions);
    if (!context) trusted.set(versions, (context = createSecureContext({ minVersion, maxVersion })));
    return context;
  } catch (cause) {
    throw new Error('its certificates cannot be used', { cause });
  }
}

function checkNames(certificate: PeerCertificate, names: readonly string[]): Error | undefined {
  if (alternativeNames(certificate.subjectaltname).some(({ name }) => names.includes(name))) return undefined;
  return Object.assign(new Error('the certificate contains none of the required names'), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
}
