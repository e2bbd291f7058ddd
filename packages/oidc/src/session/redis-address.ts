import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisOptions } from '@edge-gateway/core/schema';
import { failure } from '../failure.ts';

/** Where a Redis is, and who connects. */
export interface RedisAddress {
  readonly socket: { readonly path: string } | { readonly host: string; readonly port: number; readonly tls: boolean };
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
}

const DEFAULT_PORT = 6379;
const UNIX = /^unix:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<path>\/.+)$/;
/** A placeholder where `URL` needs a host. */
const NO_HOST = 'redis://unix';

/**
 * Reads `host:port`, `redis://user:password@host:port/db`, `rediss://…` (TLS) or `unix://user:password@/path`. Throws
 * `ERR_OIDC_CONFIG`, which never repeats what is written: a password may stand in it.
 */
export function readAddress(options: RedisOptions): RedisAddress {
  const { host = '' } = options;
  const unix = UNIX.exec(host)?.groups;
  const url = URL.parse(unix ? NO_HOST : /^rediss?:\/\//.test(host) ? host : `redis://${host}`);
  // A password shows where no scheme says that this is an address, so there it has no place.
  const isBare = !unix && !/^rediss?:\/\//.test(host);
  if (!url?.hostname || (isBare && /[@/\s]/.test(host)))
    throw failure('ERR_OIDC_CONFIG', 'redis: host is none of host:port, redis://…, rediss://… and unix://path');
  const username = decoded(unix?.user ?? url.username);
  const password = decoded(unix?.password ?? url.password);
  return {
    socket: unix ? { path: unix.path! } : tcpOf(url, options),
    ...(username && { username }),
    ...(password && { password }),
    database: options.db ?? Number(/^\/(\d+)$/.exec(url.pathname)?.[1] ?? 0),
  };
}

function tcpOf(url: URL, { socketType }: RedisOptions): RedisAddress['socket'] {
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    tls: socketType === 'TLS' || url.protocol === 'rediss:',
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw failure('ERR_OIDC_CONFIG', 'redis: user or password is not percent-encoded as in an address');
  }
}

const FILES = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' } as const;

/**
 * `ca.crt`, `tls.crt` and `tls.key` of a directory, as far as they are there. Throws `ERR_OIDC_CONFIG` where none is, and
 * for a certificate without its key.
 */
export function readCertificates(directory: string | undefined): Record<string, Buffer> {
  if (!directory) return {};
  const read: Record<string, Buffer> = {};
  for (const [name, file] of Object.entries(FILES)) {
    try {
      read[name] = readFileSync(join(directory, file));
    } catch {
      // Each of them may be missing.
    }
  }
  if ((read.cert === undefined) !== (read.key === undefined))
    throw failure('ERR_OIDC_CONFIG', `redis: one of tls.crt and tls.key is missing in ${directory}`);
  if (!read.ca && !read.cert)
    throw failure('ERR_OIDC_CONFIG', `redis: ${directory} has neither ca.crt, nor tls.crt and tls.key`);
  return read;
}
