import { connect } from 'node:net';
import { timeoutSignal } from '@edge-gateway/core';
import { dig, items, text, type StatusObject } from '../resources/objects.ts';

/** A server that an AuthConfig names by its address, so that no upstream shows its state. */
export interface AuthServer {
  /** E.g. `identity provider`. */
  readonly role: string;
  /** As it is written. */
  readonly address: string;
  /** The AuthConfigs that name it, as `namespace/name`. */
  readonly users: readonly string[];
  /** A document that it must return; missing if only a connection can be tried. */
  readonly document?: string;
}

/** Longest wait for one server, in milliseconds. All of them are tried at the same time. */
const TIMEOUT_MS = 5000;

interface Field {
  readonly role: string;
  readonly path: readonly string[];
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
  { role: 'auth server', path: ['passThroughAuth', 'grpc', 'address'] },
  { role: 'OPA server', path: ['opaServerAuth', 'serverAddr'] },
  { role: 'LDAP server', path: ['ldap', 'address'] },
];

/** Returns the servers that AuthConfigs name by their addresses, each once. */
export function authServersOf(objects: readonly StatusObject[]): AuthServer[] {
  const found = new Map<string, AuthServer>();
  for (const { kind, metadata, spec } of objects) {
    if (kind !== 'AuthConfig') continue;
    const user = `${metadata.namespace}/${metadata.name}`;
    for (const step of items(spec, 'configs'))
      for (const { role, path, documentOf } of FIELDS) {
        const address = text(dig(step, ...path));
        if (address === '') continue;
        const { users = [] } = found.get(`${role} ${address}`) ?? {};
        const server = { role, address, users: [...new Set([...users, user])] };
        found.set(`${role} ${address}`, { ...server, ...(documentOf && { document: documentOf(address) }) });
      }
  }
  return [...found.values()];
}

/** Tries all servers from this machine; returns a line for each that does not respond, with the reason and the time. */
export async function authServerProblems(servers: readonly AuthServer[], timeoutMs = TIMEOUT_MS): Promise<string[]> {
  const lines = servers.map(async ({ role, address, users, document }) => {
    const reason = await (document === undefined
      ? connectionProblem(address, timeoutMs)
      : documentProblem(document, timeoutMs));
    const at = new Date().toISOString();
    return reason === undefined
      ? []
      : [`AuthConfig ${users.join(', ')}: the ${role} ${address} does not respond to this machine at ${at}: ${reason}`];
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

async function connectionProblem(address: string, timeoutMs: number): Promise<string | undefined> {
  const place = placeOf(address);
  if (!place) return undefined;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ ...place, signal: timeoutSignal(timeoutMs) });
  socket.once('connect', () => resolve(undefined));
  socket.once('error', (error) => resolve(error.name === 'AbortError' ? timeoutText(timeoutMs) : reasonOf(error)));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ldap:': 389, 'ldaps:': 636 };

/** Returns host and port of `host:port` or of a URL; `undefined` for other addresses, such as those of gRPC resolvers. */
function placeOf(address: string): { readonly host: string; readonly port: number } | undefined {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  const port = Number(url?.port) || PORTS[url?.protocol ?? ''];
  return url?.hostname && port ? { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port } : undefined;
}

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
