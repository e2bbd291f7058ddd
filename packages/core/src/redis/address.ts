import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisOptions } from '../schema/auth/session.ts';

/** The address of a Redis, and the credentials. */
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
 * Parses `host:port`, `redis://user:password@host:port/db`, `rediss://…` (TLS) or `unix://user:password@/path`. Throws a
 * `TypeError` that never repeats the address, which may contain a password.
 */
export function readRedisAddress(options: RedisOptions): RedisAddress {
  const { host = '' } = options;
  const unix = UNIX.exec(host)?.groups;
  const url = URL.parse(unix ? NO_HOST : /^rediss?:\/\//.test(host) ? host : `redis://${host}`);
  // Redaction recognizes a password only in an address with a scheme, so a bare one must not contain any.
  const isBare = !unix && !/^rediss?:\/\//.test(host);
  if (!url?.hostname || (isBare && /[@/\s]/.test(host)))
    throw new TypeError('redis: host must be host:port, redis://…, rediss://… or unix://path');
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
    throw new TypeError('redis: user or password must be percent-encoded');
  }
}

const FILES = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' } as const;

/**
 * Reads `ca.crt`, `tls.crt` and `tls.key` of a directory, as far as they exist. Throws a `TypeError` if none exists, and
 * for a certificate without its key.
 */
export function readRedisCertificates(directory: string | undefined): Record<string, Buffer> {
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
    throw new TypeError(`redis: one of tls.crt and tls.key is missing in ${directory}`);
  if (!read.ca && !read.cert) throw new TypeError(`redis: ${directory} has neither ca.crt, nor tls.crt and tls.key`);
  return read;
}
