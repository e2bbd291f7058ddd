import { constants } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls';
import type { ResourceRef } from '../resource/resource.ts';
import { alternativeNames } from '../security/certificates.ts';
import { parseRoots, type TlsTexts } from '../security/tls-material.ts';
import { tlsParameters } from '../security/tls-parameters.ts';
import { sdsFileOf, sdsProblem, sdsSourceOf } from '../security/sds-target.ts';
import type { Sds } from '../schema/listener/ssl-config.ts';
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
  /** Protocols to offer. Default: `http/1.1`. */
  readonly alpnProtocols: string[];
  /** Returns the server name (SNI); `undefined` if the endpoint is an IP address and none is configured. */
  serverName(endpoint: Endpoint): string | undefined;
  /** Returns the problem of the names in a certificate with a verified chain. */
  checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined;
}

type SslConfig = NonNullable<SnapshotUpstream['spec']['sslConfig']>;

/**
 * Returns the certificates of an upstream, from its secret or its files; without any there are none.
 * Throws an `Error` when the secret is missing or the files never had valid content.
 *
 * @example
 * const tls = createUpstreamTls(upstream, readTlsMaterial(upstream, context.secrets));
 */
export function readTlsMaterial({ spec, ref }: SnapshotUpstream, secrets: Secrets): TlsTexts {
  return readClientTlsMaterial(spec.sslConfig, ref.namespace, secrets);
}

/**
 * Returns the certificates of TLS settings; the default namespace of their secret is `namespace`. Throws like {@link readTlsMaterial}.
 *
 * @example
 * const material = readClientTlsMaterial(spec.httpConnectSslConfig, 'gw-system', context.secrets);
 */
export function readClientTlsMaterial(ssl: SslConfig | undefined, namespace: string, secrets: Secrets): TlsTexts {
  const secretRef = ssl?.secretRef;
  if (secretRef) {
    const ref: ResourceRef = { name: secretRef.name ?? '', namespace: secretRef.namespace || namespace };
    const secret = secrets.get(ref);
    if (!secret) throw new Error(`secret ${ref.namespace}.${ref.name} does not exist`);
    return materialOf(secret);
  }
  const content = resolveCertificates(ssl ?? {}, secrets);
  if (content instanceof Error) throw content;
  return content ? materialOf(content) : {};
}

function materialOf(secret: SecretValue): TlsTexts {
  return {
    ca: secretText(secret, 'ca.crt'),
    cert: secretText(secret, 'tls.crt'),
    key: secretText(secret, 'tls.key'),
  };
}

/** Returns the last valid content of `sslFiles` or `sds` as a TLS secret, or why there is none; `undefined` if neither names any. */
export function resolveCertificates(
  { sslFiles = {}, sds }: Pick<SslConfig, 'sslFiles' | 'sds'>,
  secrets: Secrets,
): SecretValue | Error | undefined {
  if (sds) return resolveSds(sds, secrets);
  const paths = Object.values(sslFiles).filter(Boolean).join(', ');
  if (paths === '') return undefined;
  if (!secrets.files) return notRead(paths);
  return secrets.files(sslFiles) ?? withoutContent(paths);
}

function resolveSds(sds: Sds, { sds: find }: Secrets): SecretValue | Error {
  const problem = sdsProblem(sds);
  if (problem) return new Error(problem);
  const source = sdsSourceOf(sds);
  if (!find) return notRead(source);
  const isFile = sdsFileOf(sds) !== undefined;
  return (
    find(sds) ??
    (isFile ? withoutContent(source) : new Error(`no valid certificate of the secret discovery server ${source} yet`))
  );
}

function notRead(paths: string): Error {
  return new Error(`certificates are not read here (${paths}): pass the secrets of a control plane`);
}

function withoutContent(paths: string): Error {
  return new Error(`certificate files without valid content: ${paths}`);
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
export function createUpstreamTls({ spec }: SnapshotUpstream, material: TlsTexts): UpstreamTls {
  return createClientTls(spec.sslConfig, material, spec.static?.autoSniRewrite);
}

/**
 * Creates TLS settings like {@link createUpstreamTls}, without an upstream. `autoSni`: the DNS name of the endpoint is the server name
 * if no other is set.
 *
 * @example
 * const tls = createClientTls(spec.httpConnectSslConfig, material);
 */
export function createClientTls(ssl: SslConfig | undefined, material: TlsTexts, autoSni = true): UpstreamTls {
  const names = ssl?.verifySubjectAltName ?? [];
  return {
    secureContext: secureContext(material, ssl),
    alpnProtocols: offeredProtocols(ssl?.alpnProtocols),
    serverName: (endpoint) => endpoint.sni || ssl?.sni || (autoSni ? dnsNameOf(endpoint) : undefined),
    checkServerIdentity:
      names.length > 0 ? (_host, certificate) => checkNames(certificate, names) : checkServerIdentity,
  };
}

/** HTTP/2 is not offered: the gateway could not speak it. */
function offeredProtocols(written: readonly string[] | undefined): string[] {
  return (written ?? ['http/1.1']).filter((protocol) => protocol !== 'h2' && protocol !== 'allow_empty');
}

function dnsNameOf({ address, hostname = address }: Endpoint): string | undefined {
  return isIP(hostname) === 0 && !/^[/@]/.test(hostname) ? hostname : undefined;
}

const trusted = new Map<string, SecureContext>();

function secureContext({ ca, cert, key }: TlsTexts, ssl: SslConfig | undefined): SecureContext {
  const parameters = {
    ...tlsParameters(ssl?.parameters),
    // A server could otherwise change the keys, or ask for a client certificate, in the middle of an exchange.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
  if ((cert === undefined) !== (key === undefined))
    throw new Error('a client certificate needs its key, and a key its certificate');
  const client = ssl?.oneWayTls && !ssl.sds ? {} : { cert, key };
  try {
    const roots = ca === undefined ? undefined : parseRoots(ca);
    if (roots || client.cert !== undefined) return createSecureContext({ ca: roots, ...client, ...parameters });
    const key = JSON.stringify(parameters);
    let context = trusted.get(key);
    if (!context) trusted.set(key, (context = createSecureContext(parameters)));
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
