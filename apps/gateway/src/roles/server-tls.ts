import { createSecureContext } from 'node:tls';
import { readFileSync } from 'node:fs';
import type { ServerTls } from '@edge-gateway/core';
import { gatewayError } from '../error-codes.ts';

/** The flags of the certificate of a server. */
export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
}

/** Reads the certificate of a server; `undefined` without the flags. Throws `ERR_GATEWAY_TLS` for unreadable or invalid files. */
export function readServerTls({ tlsCert, tlsKey, tlsClientCa }: TlsFlags): ServerTls | undefined {
  if (tlsCert === undefined && tlsKey === undefined) {
    if (tlsClientCa !== undefined) throw tlsError('--tls-client-ca needs --tls-cert and --tls-key');
    return undefined;
  }
  if (tlsCert === undefined || tlsKey === undefined) throw tlsError('--tls-cert and --tls-key must be set together');
  const tls = {
    certificate: textOf('--tls-cert', tlsCert),
    key: textOf('--tls-key', tlsKey),
    ...(tlsClientCa !== undefined && { clientCa: textOf('--tls-client-ca', tlsClientCa) }),
  };
  try {
    createSecureContext({ cert: tls.certificate, key: tls.key, ...(tls.clientCa && { ca: tls.clientCa }) });
  } catch (cause) {
    throw tlsError('--tls-cert, --tls-key: must be a certificate and its private key, as PEM', cause);
  }
  return tls;
}

function textOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw tlsError(`${flag} ${file}: cannot be read: ${(cause as NodeJS.ErrnoException).code}`, cause);
  }
}

function tlsError(message: string, cause?: unknown) {
  return gatewayError('ERR_GATEWAY_TLS', `${message}.`, { cause });
}
