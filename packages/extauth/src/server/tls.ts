import { createSecureContext, getCACertificates, type SecureContext, type SecureVersion } from 'node:tls';
import { GatewayError, parseCertificates, secretText, type Context, type ResourceRef } from '@edge-gateway/core';
import type { PassThroughAuth } from '@edge-gateway/core/schema';

type TlsConfig = NonNullable<NonNullable<PassThroughAuth['http']>['tlsConfig']>;

/** TLS towards an own auth server. */
export interface ServerTls {
  readonly config: TlsConfig | undefined;
  readonly id: string;
  readonly context: Context;
  /** Roots that are trusted beside those of the system, as PEM; those of the secret take the place of both. */
  readonly moreRoots?: string | undefined;
}

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  TLSv1_0: 'TLSv1',
  TLSv1_1: 'TLSv1.1',
  TLSv1_2: 'TLSv1.2',
  TLSv1_3: 'TLSv1.3',
};

/**
 * What connections to an own auth server are made with; the server is always verified. Throws `ERR_EXTAUTH_CONFIG` when
 * the secret is not there, or holds no certificates.
 */
export function serverTls({ config, id, context: { secrets }, moreRoots }: ServerTls): SecureContext {
  const { minimumProtocolVersion = '', maximumProtocolVersion = '' } = config?.sslParams ?? {};
  const secret = config?.secretRef && secrets.get(config.secretRef as ResourceRef);
  if (config?.secretRef && !secret) throw unusable(`${id}: there is no secret ${config.secretRef.name}`);
  const own = secretText(secret, 'ca.crt');
  const cert = secretText(secret, 'tls.crt');
  const key = secretText(secret, 'tls.key');
  try {
    const more =
      own === undefined && moreRoots !== undefined ? [...getCACertificates(), ...readRoots(moreRoots)] : undefined;
    const roots = own === undefined ? more : readRoots(own);
    return createSecureContext({
      ...(roots && { ca: roots }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
      minVersion: VERSIONS[minimumProtocolVersion] ?? 'TLSv1.2',
      maxVersion: VERSIONS[maximumProtocolVersion] ?? 'TLSv1.3',
    });
  } catch (cause) {
    throw unusable(`${id}: the certificates towards the auth server cannot be used`, cause);
  }
}

/** A TLS context passes over what is no certificate, and would then trust less, or others, than was meant. */
function readRoots(pem: string): string[] {
  const roots = parseCertificates(pem);
  if (!roots) throw new TypeError('it does not contain a readable PEM certificate');
  return roots.map(String);
}

function unusable(message: string, cause?: unknown): GatewayError {
  return new GatewayError(message, { code: 'ERR_EXTAUTH_CONFIG', cause });
}
