import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import { readRegularFile } from '@edge-gateway/core';
import { Agent, type Dispatcher } from 'undici';
import { kubernetesError } from '../error-codes.ts';
import type { ClusterAccess, KubeconfigAccess } from './cluster-access.ts';

/** The connections and headers of one request. */
export interface Authenticated {
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

/** Credentials that are read again when their files change. */
export interface Credentials {
  /** The namespace of the context, or of the pod. */
  readonly namespace: string | undefined;
  authenticate(): Promise<Authenticated>;
  /** Reads the files again, after the API server rejected the credentials. */
  reload(): void;
  close(): Promise<void>;
}

/** Detects connections that died without a word; load balancers often drop idle ones after 60 s. */
const KEEP_ALIVE_PROBE_MS = 30_000;

/**
 * Reads the credentials: tokens, client certificates and programs of a kubeconfig, or the token of a service account, which Kubernetes
 * rotates. Throws `ERR_KUBERNETES_ACCESS` if a file is unreadable or the context is unknown.
 */
export async function createCredentials(access: ClusterAccess): Promise<Credentials> {
  // The library loads all types of Kubernetes: only processes that talk to a cluster pay for it.
  const library = await import('@kubernetes/client-node');
  const load = (): KubeConfig => readConfig(new library.KubeConfig(), access, () => new library.KubeConfig());
  let config = load();
  let connections: { readonly key: string; readonly dispatcher: Dispatcher } | undefined;
  const closing: Promise<unknown>[] = [];

  /** Keeps the connections while the TLS material is the same. */
  async function dispatcherFor(options: RequestOptions): Promise<Dispatcher> {
    const key = tlsKey(options);
    if (connections?.key === key) return connections.dispatcher;
    // Requests that run keep their connections; watches end with the next reconnect.
    if (connections) closing.push(connections.dispatcher.close().catch(() => undefined));
    connections = { key, dispatcher: await createDispatcher(config, options, library) };
    return connections.dispatcher;
  }

  return {
    get namespace() {
      return config.getContextObject(config.getCurrentContext())?.namespace || undefined;
    },
    async authenticate() {
      const options: RequestOptions = {};
      await readSecrets(config, options);
      const dispatcher = await dispatcherFor(options);
      return { server: serverOf(config), headers: headersOf(config.getCurrentUser(), options), dispatcher };
    },
    reload() {
      config = load();
    },
    async close() {
      await connections?.dispatcher.destroy();
      await Promise.all(closing);
    },
  };
}

function readConfig(config: KubeConfig, access: ClusterAccess, create: () => KubeConfig): KubeConfig {
  try {
    if ('serviceAccount' in access) loadServiceAccount(config, access);
    else loadFiles(config, access, create);
  } catch (error) {
    throw kubernetesError('ERR_KUBERNETES_ACCESS', `unusable kubeconfig: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const cluster = config.getCurrentCluster();
  const problem = cluster && serverProblem(cluster);
  if (problem) throw kubernetesError('ERR_KUBERNETES_ACCESS', `unusable kubeconfig: ${problem}`);
  if (!cluster) {
    const known = config.getContexts().map(({ name }) => name);
    throw kubernetesError(
      'ERR_KUBERNETES_ACCESS',
      `unknown context "${config.getCurrentContext() ?? ''}": ${known.length > 0 ? `known contexts are ${known.join(', ')}` : 'the kubeconfig has none'}`,
    );
  }
  return config;
}

/** The library reports plain text only when credentials are read, and not why it is rejected. */
function serverProblem({ name, server, skipTLSVerify }: Cluster): string | undefined {
  const { protocol, host = '' } = URL.parse(server) ?? {};
  if (protocol === 'https:' || (protocol === 'http:' && skipTLSVerify)) return undefined;
  if (protocol !== 'http:') return `the server of cluster "${name}" must be a URL that begins with https://`;
  return `the server of cluster "${name}", http://${host}, would receive the credentials in plain text: use https://, or set insecure-skip-tls-verify: true to allow it`;
}

function loadFiles(config: KubeConfig, { kubeconfig, context }: KubeconfigAccess, create: () => KubeConfig): void {
  const [first, ...others] = kubeconfig;
  config.loadFromFile(first!);
  for (const file of others) {
    const more = create();
    more.loadFromFile(file);
    for (const cluster of more.clusters) if (!config.getCluster(cluster.name)) config.addCluster(cluster);
    for (const user of more.users) if (!config.getUser(user.name)) config.addUser(user);
    for (const one of more.contexts) if (!config.getContextObject(one.name)) config.addContext(one);
    config.currentContext ||= more.currentContext;
  }
  if (context) config.setCurrentContext(context);
}

function loadServiceAccount(
  config: KubeConfig,
  { serviceAccount, host, port }: Extract<ClusterAccess, { serviceAccount: string }>,
): void {
  const name = 'in-cluster';
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  config.loadFromOptions({
    clusters: [{ name, server, caFile: join(serviceAccount, 'ca.crt'), skipTLSVerify: false }],
    // Read at most once a minute, as other clients do.
    users: [{ name, authProvider: { name: 'tokenFile', config: { tokenFile: join(serviceAccount, 'token') } } }],
    contexts: [{ name, cluster: name, user: name, namespace: readNamespace(join(serviceAccount, 'namespace')) }],
    currentContext: name,
  });
}

const MAX_NAMESPACE_BYTES = 1024;

function readNamespace(file: string): string | undefined {
  try {
    return readRegularFile(file, MAX_NAMESPACE_BYTES).toString('utf8').trim();
  } catch {
    return undefined;
  }
}

async function readSecrets(config: KubeConfig, options: RequestOptions): Promise<void> {
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    // The message of a program may contain what it printed, which may be a token.
    const { code } = error as NodeJS.ErrnoException;
    throw kubernetesError('ERR_KUBERNETES_ACCESS', `the credentials cannot be read${code ? ` (${code})` : ''}`, {
      cause: error,
    });
  }
}

function serverOf(config: KubeConfig): string {
  return config.getCurrentCluster()!.server.replace(/\/+$/, '');
}

function headersOf(user: User | null, options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
  if (user?.username) {
    headers.Authorization = `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
  }
  return headers;
}

function tlsKey({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions): string {
  const hash = createHash('sha256');
  for (const part of [ca, cert, key]) hash.update(`${part ? String(part) : ''}\0`);
  return `${hash.digest('base64')} ${rejectUnauthorized} ${servername}`;
}

async function createDispatcher(
  config: KubeConfig,
  options: RequestOptions,
  { RequestContext, HttpMethod }: typeof import('@kubernetes/client-node'),
): Promise<Dispatcher> {
  const cluster = config.getCurrentCluster()!;
  if (cluster.proxyUrl) {
    const context = new RequestContext(cluster.server, HttpMethod.GET);
    await config.applySecurityAuthentication(context);
    return context.getDispatcher()!;
  }
  const { ca, cert, key, rejectUnauthorized, servername } = options;
  const tls = { ca, cert, key, rejectUnauthorized, servername };
  const given = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
  // One connection per watch: a lost packet of one does not delay the others, and a dead connection ends one watch only.
  return new Agent({
    allowH2: false,
    connect: { ...given, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS },
  });
}
