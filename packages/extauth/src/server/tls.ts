import * as tls from 'node:tls';
import { createSecureContext, type SecureContext } from 'node:tls';
import { parseRoots, secretText, tlsParameters, type Context, type ResourceRef } from '@edge-gateway/core';
import type { PassThroughAuth } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';

type TlsConfig = NonNullable<NonNullable<PassThroughAuth['http']>['tlsConfig']>;

interface ServerTls {
  readonly config: TlsConfig | undefined;
  readonly id: string;
  readonly context: Context;
  /** PEM roots that are trusted in addition to those of the system; those of the secret replace both. */
  readonly moreRoots?: string | undefined;
}

/**
 * Returns the TLS context of connections to your own auth server, which is always verified. Throws `ERR_EXTAUTH_CONFIG` if
 * the secret is missing, or does not contain valid certificates.
 */
export function serverTls({ config, id, context: { secrets }, moreRoots }: ServerTls): SecureContext {
  const secret = config?.secretRef && secrets.get(config.secretRef as ResourceRef);
  if (config?.secretRef && !secret) throw configError(`${id}: there is no secret ${config.secretRef.name}`);
  const own = secretText(secret, 'ca.crt');
  const cert = secretText(secret, 'tls.crt');
  const key = secretText(secret, 'tls.key');
  try {
    const more =
      own === undefined && moreRoots !== undefined ? [...tls.getCACertificates(), ...parseRoots(moreRoots)] : undefined;
    const roots = own === undefined ? more : parseRoots(own);
    return createSecureContext({
      ...(roots && { ca: roots }),
      ...(cert !== undefined && key !== undefined && { cert, key }),
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      ...tlsParameters(config?.sslParams),
    });
  } catch (cause) {
    throw configError(`${id}: the certificates for the auth server cannot be used`, cause);
  }
}
