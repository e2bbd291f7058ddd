import type { SecureVersion } from 'node:tls';
import { GatewayError, secretText, type Context, type ResourceRef } from '@edge-gateway/core';
import type { PassThroughAuth } from '@edge-gateway/core/schema';

type TlsConfig = NonNullable<NonNullable<PassThroughAuth['http']>['tlsConfig']>;

/** TLS towards an own auth server. The server is always verified. */
export interface ServerTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
}

const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  TLSv1_1: 'TLSv1.1',
  TLSv1_2: 'TLSv1.2',
  TLSv1_3: 'TLSv1.3',
};

/**
 * Certificates come from the secret; roots may also come, as base64 of PEM, from the environment variable
 * `HTTPS_PASSTHROUGH_CA_CERT`. Throws `ERR_EXTAUTH_CONFIG` when the secret is not there.
 */
export function serverTls(config: TlsConfig | undefined, id: string, { secrets }: Context): ServerTls {
  const { minimumProtocolVersion = '', maximumProtocolVersion = '' } = config?.sslParams ?? {};
  const secret = config?.secretRef && secrets.get(config.secretRef as ResourceRef);
  if (config?.secretRef && !secret) {
    throw new GatewayError(`${id}: there is no secret ${config.secretRef.name}`, { code: 'ERR_EXTAUTH_CONFIG' });
  }
  const trusted = process.env['HTTPS_PASSTHROUGH_CA_CERT'];
  const ca = secretText(secret, 'ca.crt') ?? (trusted ? Buffer.from(trusted, 'base64').toString('utf8') : undefined);
  const cert = secretText(secret, 'tls.crt');
  const key = secretText(secret, 'tls.key');
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    minVersion: VERSIONS[minimumProtocolVersion] ?? 'TLSv1.2',
    maxVersion: VERSIONS[maximumProtocolVersion] ?? 'TLSv1.3',
  };
}
