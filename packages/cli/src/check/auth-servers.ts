import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readRedisAddress, timeoutSignal, type RedisNode } from '@edge-gateway/core';
import type { Connection } from '../gateway/connection.ts';
import { dig, items, text, type StatusObject } from '../resources/objects.ts';

type Protocol = 'http' | 'grpc' | 'ldap' | 'redis';

/** A server that an AuthConfig or a flag names by its address, so that no upstream shows its state. */
export interface AuthServer {
  /** E.g. `identity provider`. */
  readonly role: string;
  /** As it is written. */
  readonly address: string;
  /** The AuthConfigs that name it, as `namespace/name`, or the flag. */
  readonly users: readonly string[];
  /** How it is called. Default `http`. */
  readonly protocol?: Protocol;
  /** A document that it must return; if it is missing, any response is enough. */
  readonly document?: string;
}

/** Longest wait for one server, in milliseconds. All of them are tried at the same time. */
const TIMEOUT_MS = 5000;

interface Field {
  readonly role: string;
  readonly path: readonly string[];
  /** Default `http`. */
  readonly protocol?: Protocol;
  /** Returns the URL of a document of the server. */
  readonly documentOf?: (address: string) => string;
}

const TOKENS = ['oauth2', 'accessTokenValidation'] as const;
const FIELDS: readonly Field[] = [
  {
    role: 'identity provider',
    path: ['oauth2', 'oidcAuthorizationCode', 'issuerUrl'],
    documentOf: (issuer) => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
  },
  { role: 'token endpoint', path: ['oauth2', 'oauth2', 'tokenEndpoint'] },
  { role: 'introspection endpoint', path: [...TOKENS, 'introspectionUrl'] },
  { role: 'introspection endpoint', path: [...TOKENS, 'introspection', 'introspectionUrl'] },
  { role: 'key set', path: [...TOKENS, 'jwt', 'remoteJwks', 'url'], documentOf: (url) => url },
  { role: 'user info endpoint', path: [...TOKENS, 'userinfoUrl'] },
  { role: 'auth server', path: ['passThroughAuth', 'http', 'url'] },
  { role: 'auth server', path: ['passThroughAuth', 'grpc', 'address'], protocol: 'grpc' },
  { role: 'OPA server', path: ['opaServerAuth', 'serverAddr'] },
  { role: 'LDAP server', path: ['ldap', 'address'], protocol: 'ldap' },
  ...['oidcAuthorizationCode', 'oauth2'].flatMap((login) => [
    redisOf('Redis of sessions', ['oauth2', login, 'session', 'redis', 'options']),
    redisOf('Redis of logouts', ['oauth2', login, 'session', 'cookie', 'logoutDenyList', 'redis']),
  ]),
  redisOf('Redis of groups', ['oauth2', 'oidcAuthorizationCode', 'azure', 'claimsCachingOptions']),
];

function redisOf(role: string, path: readonly string[]): Field {
  return { role, path: [...path, 'host'], protocol: 'redis' };
}

/** The flags of a proxy that name a Redis. */
const FLAGS: Readonly<Record<string, string>> = {
  rateLimitRedis: 'Redis of rate limits',
  graphqlCache: 'Redis of GraphQL results',
};

/** Returns the servers that the flags of a running proxy name. */
export async function flagServersOf(connection: Connection): Promise<AuthServer[]> {
  const page: unknown = await connection.proxy('/server_info').then(JSON.parse, () => undefined);
  return Object.entries(FLAGS).flatMap(([option, role]) => {
    const address = text(dig(page, 'command_line_options', option));
    const flag = `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return address === '' ? [] : [{ role, address, users: [flag], protocol: 'redis' }];
  });
}

/** Returns the servers that AuthConfigs name by their addresses, each once. */
export function authServersOf(objects: readonly StatusObject[]): AuthServer[] {
  const found = new Map<string, AuthServer>();
  for (const { kind, metadata, spec } of objects) {
    if (kind !== 'AuthConfig') continue;
    const user = `${metadata.namespace}/${metadata.name}`;
    for (const step of items(spec, 'configs'))
      for (const { role, path, protocol, documentOf } of FIELDS) {
        const address = text(dig(step, ...path));
        if (address === '') continue;
        const { users = [] } = found.get(`${role} ${address}`) ?? {};
        const server = { role, address, users: [...new Set([...users, user])] };
        const options = { ...(protocol && { protocol }), ...(documentOf && { document: documentOf(address) }) };
        found.set(`${role} ${address}`, { ...server, ...options });
      }
  }
  return [...found.values()];
}

/** Tries all servers from this machine; returns a line for each that does not respond, with the reason and the time. */
export async function authServerProblems(servers: readonly AuthServer[], timeoutMs = TIMEOUT_MS): Promise<string[]> {
  const lines = servers.map(async ({ role, address, users, protocol = 'http', document }) => {
    const reason = await (document === undefined
      ? connectionProblem(address, protocol, timeoutMs)
      : documentProblem(document, timeoutMs));
    const at = new Date().toISOString();
    const who = users[0]?.startsWith('--') ? users[0] : `AuthConfig ${users.join(', ')}`;
    const shown = protocol === 'redis' ? withoutLogin(address) : address;
    return reason === undefined
      ? []
      : [`${who}: the ${role} ${shown} does not respond to this machine at ${at}: ${reason}`];
  });
  return (await Promise.all(lines)).flat();
}

async function documentProblem(url: string, timeoutMs: number): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: timeoutSignal(timeoutMs) });
    await response.body?.cancel();
    return response.ok ? undefined : `GET ${url} returns status ${response.status}`;
  } catch (error) {
    const { name, cause } = error as Error;
    return name === 'TimeoutError' ? timeoutText(timeoutMs) : reasonOf(cause ?? error);
  }
}

/** What a client of each protocol may send first, without credentials or effects. */
const OPENINGS: Readonly<Record<Protocol, (host: string) => string>> = {
  http: (host) => `HEAD / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  // The preface of HTTP/2, and empty SETTINGS.
  grpc: () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  // An anonymous bind.
  ldap: () => '0\x0c\x02\x01\x01`\x07\x02\x01\x03\x04\0\x80\0',
  redis: () => 'PING\r\n',
};

/** Tries all places of a server at the same time: one that responds is enough. */
async function connectionProblem(address: string, protocol: Protocol, timeoutMs: number): Promise<string | undefined> {
  const places = protocol === 'redis' ? redisPlacesOf(address) : placesOf(address);
  const problems = await Promise.all(places.map((place) => placeProblem(place, protocol, timeoutMs)));
  return problems.includes(undefined) ? undefined : problems[0];
}

/** Waits for a response of any kind: the system accepts connections also for a process that hangs. */
async function placeProblem(place: Place, protocol: Protocol, timeoutMs: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ ...place, signal: timeoutSignal(timeoutMs) });
  let isConnected = false;
  socket.once('connect', () => (isConnected = true));
  // A server that closes the connection responds, too, e.g. one that expects TLS.
  socket.once('close', () => resolve(undefined));
  socket.once('error', (error) => {
    if (error.name === 'AbortError') resolve(timeoutText(timeoutMs));
    else resolve(isConnected ? undefined : reasonOf(error));
  });
  const stream = place.isTls ? connectTls({ socket, rejectUnauthorized: false }) : socket;
  // After an error of TLS, its socket closes.
  if (stream !== socket) stream.once('error', () => socket.destroy());
  stream.once('data', () => resolve(undefined));
  stream.write(OPENINGS[protocol](place.host), 'latin1');
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ldap:': 389, 'ldaps:': 636 };

interface Place {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Of a Unix socket, instead of host and port. */
  readonly path?: string;
}

/** Returns where `host:port` or a URL is; nothing for other addresses, such as those of gRPC resolvers. */
function placesOf(address: string): Place[] {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(url?.port) || PORTS[url?.protocol ?? ''];
  if (!url?.hostname || !port) return [];
  return [{ host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, isTls: /^(https|ldaps):$/.test(url.protocol) }];
}

/** Returns where a Redis is: each node of a cluster, each sentinel. */
function redisPlacesOf(host: string): Place[] {
  try {
    const { socket, cluster, sentinels } = readRedisAddress({ host });
    if ('path' in socket) return [{ host: '', port: 0, isTls: false, path: socket.path }];
    const nodes: readonly RedisNode[] = cluster ?? sentinels?.nodes ?? [socket];
    return nodes.map((node) => ({ host: node.host, port: node.port, isTls: socket.tls }));
  } catch {
    // The resource has that problem itself.
    return [];
  }
}

/** Returns the address of a Redis without user and password. */
const withoutLogin = (address: string): string => address.replace(/\/\/[^@/]*@/, '//');

const timeoutText = (ms: number): string => `timeout after ${ms / 1000} s`;

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'its name cannot be resolved here',
  ECONNRESET: 'connection reset',
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return TEXTS[code] ?? (message || code);
}
