import { createSecureContext } from 'node:tls';
import type { UsedCertificates } from '@edge-gateway/admin';
import { parseCertificates, readRegularFile, type ServerTls } from '@edge-gateway/core';
import type { ClientTls } from '@edge-gateway/xds';
import { gatewayError } from '../error-codes.ts';
import { flagCertificates } from './flag-certificates.ts';

/** Maximum size of a file, in bytes. */
const MAX_BYTES = 1_048_576;

/** The flags of the certificate of a server. */
export interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
}

/**
 * Reads the certificate of a server; `undefined` without the flags, whose names begin with `prefix`. Throws `ERR_GATEWAY_TLS` for unreadable or
 * invalid files.
 */
export function readServerTls({ tlsCert, tlsKey, tlsClientCa }: TlsFlags, prefix = '--tls'): ServerTls | undefined {
  const pair = readPair(tlsCert, tlsKey, prefix);
  if (!pair) {
    if (tlsClientCa !== undefined) throw tlsError(`${prefix}-client-ca needs ${prefix}-cert and ${prefix}-key`);
    return undefined;
  }
  const tls = {
    ...pair,
    ...(tlsClientCa !== undefined && { clientCa: readRoots(`${prefix}-client-ca`, tlsClientCa) }),
  };
  check(tls, tls.clientCa, prefix);
  return tls;
}

/** Returns the certificates of a server as admin pages list them. */
export function serverCertificates(
  tls: ServerTls | undefined,
  { tlsCert, tlsClientCa }: TlsFlags,
  prefix = '--tls',
): UsedCertificates[] {
  const flags = { certificate: [`${prefix}-cert`, tlsCert], ca: [`${prefix}-client-ca`, tlsClientCa] } as const;
  return flagCertificates({ certificate: tls?.certificate, ca: tls?.clientCa }, flags);
}

/** Returns the certificates of a client as admin pages list them. */
export function clientCertificates(
  tls: ClientTls | undefined,
  { xdsTlsCert, xdsTlsCa }: ClientTlsFlags,
): UsedCertificates[] {
  const flags = { certificate: ['--xds-tls-cert', xdsTlsCert], ca: ['--xds-tls-ca', xdsTlsCa] } as const;
  return flagCertificates({ certificate: tls?.certificate, ca: tls?.ca }, flags);
}

/**
 * Reads CA certificates from the file of a flag. Throws `ERR_GATEWAY_TLS` for an unreadable file, and for one without certificates, with which
 * Node would trust all public authorities.
 */
export function readRoots(flag: string, file: string): string {
  const roots = textOf(flag, file);
  if (!parseCertificates(roots)) throw tlsError(`${flag} ${file}: must contain certificates, as PEM`);
  return roots;
}

/** The flags of the certificates of a client. */
interface ClientTlsFlags {
  readonly xdsTlsCa?: string;
  readonly xdsTlsCert?: string;
  readonly xdsTlsKey?: string;
  readonly xdsTlsServerName?: string;
}

/** Reads the certificates of a client; `undefined` without the flags. Throws `ERR_GATEWAY_TLS` for unreadable or invalid files. */
export function readClientTls({
  xdsTlsCa,
  xdsTlsCert,
  xdsTlsKey,
  xdsTlsServerName,
}: ClientTlsFlags): ClientTls | undefined {
  const prefix = '--xds-tls';
  const pair = readPair(xdsTlsCert, xdsTlsKey, prefix);
  if (xdsTlsCa === undefined) {
    if (pair || xdsTlsServerName !== undefined)
      throw tlsError(`${prefix}-cert and ${prefix}-server-name need ${prefix}-ca`);
    return undefined;
  }
  const ca = readRoots(`${prefix}-ca`, xdsTlsCa);
  check(pair, ca, prefix);
  return { ca, ...pair, ...(xdsTlsServerName !== undefined && { serverName: xdsTlsServerName }) };
}

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

function readPair(cert: string | undefined, key: string | undefined, prefix: string): Pair | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw tlsError(`${prefix}-cert and ${prefix}-key must be set together`);
  return { certificate: textOf(`${prefix}-cert`, cert), key: textOf(`${prefix}-key`, key) };
}

function check(pair: Pair | undefined, ca: string | undefined, prefix: string): void {
  try {
    createSecureContext({ ...(pair && { cert: pair.certificate, key: pair.key }), ...(ca && { ca }) });
  } catch (cause) {
    throw tlsError(`${prefix}-cert, ${prefix}-key: must be a certificate and its private key, as PEM`, cause);
  }
}

function textOf(flag: string, file: string): string {
  try {
    return readRegularFile(file, MAX_BYTES).toString('utf8');
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw tlsError(`${flag} ${file}: cannot be read: ${code ?? message}`, cause);
  }
}

function tlsError(message: string, cause?: unknown) {
  return gatewayError('ERR_GATEWAY_TLS', `${message}.`, { cause });
}
