import { join } from 'node:path';
import type { RedisOptions } from '../schema/auth/session.ts';
import { readRegularFile } from '../source/read-file.ts';

/** A server of a cluster, or a sentinel. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** The sentinels that know the primary of a group of servers. */
export interface RedisSentinels {
  readonly nodes: readonly RedisNode[];
  /** Name of the group. */
  readonly name: string;
  /** Credentials for the sentinels; those of the address are for the servers. */
  readonly username?: string;
  readonly password?: string;
}

/** The address of a Redis, and the credentials. */
export interface RedisAddress {
  /** Of a cluster or of sentinels: the first of them. */
  readonly socket: { readonly path: string } | (RedisNode & { readonly tls: boolean });
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
  /** Servers of a cluster; the others are discovered. */
  readonly cluster?: readonly RedisNode[];
  readonly sentinels?: RedisSentinels;
}

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;
const UNIX = /^unix:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<path>\/.+)$/;
/** Several hosts, which `URL` does not parse. */
const SEVERAL =
  /^(?<scheme>rediss?)\+(?<kind>cluster|sentinel):\/\/(?<login>[^@/?#]*@)?(?<hosts>[^@/?#]+)(?<rest>[/?][^#]*)?$/;
/** A placeholder where `URL` needs a host. */
const NO_HOST = 'redis://unix';
const FORMS =
  'host:port, redis://…, rediss://…, unix://path, redis+cluster://host:port,… or redis+sentinel://host:port,…/name';
const DATABASE = /^\d{1,4}$/;

/**
 * Parses `host:port`, `redis://user:password@host:port/db` (or `?db=…`), `rediss://…` (TLS), `unix://user:password@/path`,
 * `redis+cluster://user:password@host:port,host:port`, or `redis+sentinel://user:password@host:port,host:port/name?db=0`, where
 * `sentinelUser` and `sentinelPassword` in the query are for the sentinels; `rediss+cluster` and `rediss+sentinel` use TLS for all
 * connections. Throws a `TypeError` that never repeats the address, which may contain a password.
 *
 * @example
 * readRedisAddress({ host: 'redis+cluster://10.0.0.1:6379,10.0.0.2:6379' }).cluster?.length; // 2
 */
export function readRedisAddress(options: RedisOptions): RedisAddress {
  const { host = '' } = options;
  const several = SEVERAL.exec(host)?.groups;
  if (several) return readSeveral(several as unknown as Several, options);
  const unix = UNIX.exec(host)?.groups;
  const url = URL.parse(unix ? NO_HOST : /^rediss?:\/\//.test(host) ? host : `redis://${host}`);
  // Redaction recognizes a password only in an address with a scheme, so a bare one must not contain any.
  const isBare = !unix && !/^rediss?:\/\//.test(host);
  if (!url?.hostname || (isBare && /[@/\s]/.test(host))) throw new TypeError(`redis: host must be ${FORMS}`);
  const database = databaseOf(url);
  return {
    socket: unix ? { path: unix.path! } : tcpOf(url, options),
    ...loginOf(unix?.user ?? url.username, unix?.password ?? url.password),
    database: options.db ?? database,
  };
}

/** Returns the database in the path or in `db`, of which one is enough. */
function databaseOf({ pathname, searchParams }: URL): number {
  if ([...searchParams.keys()].some((name) => name !== 'db'))
    throw new TypeError('redis: the only parameter of an address is db');
  const written = [pathname.slice(1), ...searchParams.getAll('db')].filter((each, i) => i > 0 || each !== '');
  if (!written.every((each) => DATABASE.test(each)))
    throw new TypeError('redis: the database must be a number, e.g. redis://host:port/0');
  const databases = new Set(written.map(Number));
  if (databases.size > 1) throw new TypeError('redis: the database in the path and db differ');
  const [database = 0] = databases;
  return database;
}

interface Several {
  readonly scheme: string;
  readonly kind: 'cluster' | 'sentinel';
  readonly login?: string;
  readonly hosts: string;
  readonly rest?: string;
}

function readSeveral({ scheme, kind, login = '', hosts, rest = '' }: Several, options: RedisOptions): RedisAddress {
  const port = kind === 'cluster' ? DEFAULT_PORT : DEFAULT_SENTINEL_PORT;
  const nodes = hosts.split(',').map((text) => nodeOf(text, port));
  const url = URL.parse(`redis://${login}unix${rest}`);
  if (!url) throw new TypeError(`redis: host must be ${FORMS}`);
  const tls = scheme === 'rediss' || options.socketType === 'TLS';
  const common = { socket: { ...nodes[0]!, tls }, ...loginOf(url.username, url.password) };
  const query = url.searchParams;
  const known = kind === 'cluster' ? [] : SENTINEL_PARAMETERS;
  const isUnknown = [...query.keys()].some((name) => !known.includes(name));
  if (isUnknown) throw new TypeError(`redis: parameters of redis+${kind} must be ${known.join(', ') || 'omitted'}`);
  if (kind === 'cluster') {
    if (!/^\/?0?$/.test(url.pathname) || (options.db ?? 0) !== 0)
      throw new TypeError('redis: a cluster has database 0 only');
    return { ...common, database: 0, cluster: nodes };
  }
  const name = /^\/([\w.-]+)$/.exec(url.pathname)?.[1];
  if (!name) throw new TypeError('redis: redis+sentinel needs the name of the group: redis+sentinel://host:port/name');
  const db = query.get('db') ?? '0';
  if (!DATABASE.test(db)) throw new TypeError('redis: db must be a number');
  const username = query.get('sentinelUser');
  const password = query.get('sentinelPassword');
  const sentinelLogin = { ...(username && { username }), ...(password && { password }) };
  return { ...common, database: options.db ?? Number(db), sentinels: { nodes, name, ...sentinelLogin } };
}

const SENTINEL_PARAMETERS: readonly string[] = ['db', 'sentinelUser', 'sentinelPassword'];

function nodeOf(text: string, fallback: number): RedisNode {
  const url = URL.parse(`redis://${text}`);
  if (!url?.hostname || /\s/.test(text)) throw new TypeError(`redis: host must be ${FORMS}`);
  return { host: withoutBrackets(url.hostname), port: Number(url.port || fallback) };
}

function tcpOf(url: URL, { socketType }: RedisOptions): RedisAddress['socket'] {
  return {
    host: withoutBrackets(url.hostname),
    port: Number(url.port || DEFAULT_PORT),
    tls: socketType === 'TLS' || url.protocol === 'rediss:',
  };
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function loginOf(user: string, secret: string): { readonly username?: string; readonly password?: string } {
  const username = decoded(user);
  const password = decoded(secret);
  return { ...(username && { username }), ...(password && { password }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError('redis: user or password must be percent-encoded');
  }
}

const MAX_CERTIFICATE_BYTES = 1_048_576;
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
      read[name] = readRegularFile(join(directory, file), MAX_CERTIFICATE_BYTES);
    } catch {
      // Each of them may be missing.
    }
  }
  if ((read.cert === undefined) !== (read.key === undefined))
    throw new TypeError(`redis: one of tls.crt and tls.key is missing in ${directory}`);
  if (!read.ca && !read.cert) throw new TypeError(`redis: ${directory} has neither ca.crt, nor tls.crt and tls.key`);
  return read;
}
