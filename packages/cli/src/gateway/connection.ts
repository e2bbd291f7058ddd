import { readLimited, timeoutSignal } from '@edge-gateway/core';
import type { Command } from 'commander';
import { clusterAddresses, clusterFetch, type ClusterGatewayFlags } from '../cluster/cluster-gateway.ts';
import { wantsCluster } from '../cluster/open-cluster.ts';
import { cliError, isCliError } from '../error-codes.ts';
import type { Io } from '../io.ts';
import { readInputFile } from '../resources/input-file.ts';

/** Address of the control plane. */
export const DEFAULT_SERVER = 'http://127.0.0.1:9091';
/** Address of the proxy admin. */
export const DEFAULT_PROXY_ADMIN = 'http://127.0.0.1:19000';

const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

export interface ConnectionOptions {
  /** Default {@link DEFAULT_SERVER}. */
  readonly server?: string;
  /** Default {@link DEFAULT_PROXY_ADMIN}. */
  readonly proxyAdmin?: string;
  /** Token of both. Default: none is sent. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
  /** Maximum size of a response in bytes. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Maximum time for a complete response in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** Ends requests in progress. */
  readonly signal?: AbortSignal;
}

/** The snapshots that a control plane shows. */
export type SnapshotName = 'input' | 'edge' | 'proxies' | 'xds';

/** HTTP client of a running gateway. Every error is one line with a remedy. */
export interface Connection {
  readonly server: URL;
  readonly proxyAdmin: URL;
  /** A `/snapshots/…` page of the control plane; `error` describes what is missing in `data`; empty if nothing is. */
  snapshot(name: SnapshotName): Promise<{ readonly data: unknown; readonly error: string }>;
  /** The JSON of another page of the control plane. */
  control(path: string): Promise<unknown>;
  /** The text of a page of the control plane. */
  controlText(path: string): Promise<string>;
  /** The text of a page of the proxy admin. */
  proxy(path: string, method?: 'GET' | 'POST'): Promise<string>;
  /** Returns the bytes of an endless page of the proxy admin, until the signal aborts. */
  follow(path: string, method: 'GET' | 'POST', signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A page of one of the two ports; `flag` sets the address of the port. */
interface Page {
  readonly base: URL;
  readonly flag: '--server' | '--proxy-admin';
  readonly path: string;
}

/** The flags of a call that choose a gateway. */
interface GatewayFlags extends ClusterGatewayFlags {
  readonly server: string;
  readonly proxyAdmin: string;
  readonly adminTokenFile?: string;
}

/** The proxy of a cluster if the call does not name one. */
const DEFAULT_PROXY = 'gateway-proxy';

/** Returns the connection that the flags of a call ask for: to a gateway in a cluster through its API server, else by addresses. */
export function gatewayOf(
  io: Io,
  command: Command,
  more: Pick<ConnectionOptions, 'signal' | 'timeoutMs'> = {},
): Connection {
  const flags = command.optsWithGlobals<GatewayFlags>();
  const { server, proxyAdmin, adminTokenFile } = flags;
  const token = adminTokenFile === undefined ? {} : { token: readToken(io, adminTokenFile) };
  if (wantsCluster(flags)) return clusterConnection(io, flags, { proxy: proxyOf(command), ...token, ...more });
  return createConnection({ server, proxyAdmin, ...token, ...more, ...(io.fetch && { fetch: io.fetch }) });
}

/** Returns the connection of {@link gatewayOf} for a command that also needs the addresses themselves, which a cluster does not expose. */
export function addressedGatewayOf(io: Io, command: Command): Connection {
  if (!wantsCluster(command.optsWithGlobals<GatewayFlags>())) return gatewayOf(io, command);
  const text = `${command.name()} does not work through the API server of a cluster; forward the ports with kubectl port-forward, and use --server and --proxy-admin`;
  throw cliError('ERR_CLI_USAGE', text);
}

/** Returns the connection to a proxy of a cluster, and to its control plane. */
export function clusterConnection(
  io: Io,
  flags: ClusterGatewayFlags,
  { proxy, ...options }: ConnectionOptions & { readonly proxy: string },
): Connection {
  return createConnection({ ...clusterAddresses(flags, proxy), ...options, fetch: clusterFetch(io, flags) });
}

/** The proxy that the commands below `proxy` name. */
function proxyOf(command: Command): string {
  const { parent } = command;
  const isBelowProxy = command.name() === 'proxy' || parent?.name() === 'proxy';
  return (isBelowProxy && command.optsWithGlobals<{ name?: string }>().name) || DEFAULT_PROXY;
}

/** Reads the token of the admin ports; errors never contain it. */
function readToken(io: Io, file: string): string {
  const token = readInputFile(io, file).toString('utf8').trim();
  if (/^[!-~]+$/.test(token)) return token;
  throw cliError('ERR_CLI_FILE', `${file}: ${token === '' ? 'is empty' : 'a token must not contain spaces'}`);
}

/** Parses an address given by flag or variable: `http://…` or `https://…`; throws `ERR_CLI_USAGE`. */
function parseAddress(text: string, flag: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.hostname) return url;
  throw cliError('ERR_CLI_USAGE', `${flag} must be an address like http://127.0.0.1:9091, not "${text}"`);
}

export function createConnection(options: ConnectionOptions = {}): Connection {
  const server = parseAddress(options.server ?? DEFAULT_SERVER, '--server');
  const proxyAdmin = parseAddress(options.proxyAdmin ?? DEFAULT_PROXY_ADMIN, '--proxy-admin');
  const onServer = (path: string): Page => ({ base: server, flag: '--server', path });
  const onProxy = (path: string): Page => ({ base: proxyAdmin, flag: '--proxy-admin', path });
  const controlText = (path: string) => read(onServer(path), 'GET', options);
  const control = async (path: string) => parseJson(await controlText(path), onServer(path));
  return {
    server,
    proxyAdmin,
    control,
    controlText,
    snapshot: async (name) => {
      const path = `/snapshots/${name}`;
      const response = await control(path);
      if (typeof response !== 'object' || response === null || !('data' in response)) throw badAnswer(onServer(path));
      const { data, error } = response as { data: unknown; error?: unknown };
      if (data === null && typeof error === 'string') {
        const text = `the gateway at ${server.origin} is not ready: ${error}; try again in a moment`;
        throw cliError('ERR_CLI_REFUSED', text);
      }
      return { data, error: typeof error === 'string' ? error : '' };
    },
    proxy: (path, method = 'GET') => read(onProxy(path), method, options),
    follow: (path, method, signal) => readEndless(onProxy(path), method, { ...options, signal }),
  };
}

/** The address of a page: credentials written into a base address are never shown. */
const addressOf = ({ base, path }: Page): string => `${base.origin}${base.pathname.replace(/\/$/, '')}${path}`;

type ReadOptions = ConnectionOptions & { readonly signal: AbortSignal };

async function read(page: Page, method: string, options: ConnectionOptions): Promise<string> {
  const { timeoutMs = TIMEOUT_MS } = options;
  const signals = [timeoutSignal(timeoutMs), ...(options.signal ? [options.signal] : [])];
  try {
    const response = await ask(page, method, { ...options, signal: AbortSignal.any(signals) });
    return await readBody(response, page, options);
  } catch (error) {
    throw isCliError(error) ? error : unreachable(page, error, timeoutMs);
  }
}

async function* readEndless(page: Page, method: string, options: ReadOptions): AsyncIterable<Uint8Array> {
  try {
    const response = await ask(page, method, options);
    // An empty chunk signals that the gateway has responded.
    yield new Uint8Array();
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw isCliError(error) || options.signal.aborted ? error : unreachable(page, error, 0);
  }
}

/** Sends a request; a response with an error status is `ERR_CLI_REFUSED`. */
async function ask(page: Page, method: string, options: ReadOptions): Promise<Response> {
  const { username, password } = page.base;
  const basic = username && `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const authorization = options.token === undefined ? basic : `Bearer ${options.token}`;
  const headers: Record<string, string> = authorization ? { authorization } : {};
  const response = await (options.fetch ?? fetch)(addressOf(page), { method, signal: options.signal, headers });
  if (response.ok) return response;
  const body = await readBody(response, page, options);
  const why = body.trim().split('\n', 1)[0]!.slice(0, 200);
  const hint = HINTS[response.status]?.(page) ?? '';
  throw cliError('ERR_CLI_REFUSED', `${addressOf(page)} answered ${response.status}${why && ` (${why})`}${hint}`);
}

const HINTS: Readonly<Record<number, (page: Page) => string>> = {
  401: () => '; give its token with --admin-token-file',
  404: ({ flag }) => `; check ${flag}`,
};

async function readBody(response: Response, page: Page, { maxBytes = MAX_BYTES }: ConnectionOptions): Promise<string> {
  const body = await readLimited(response.body, maxBytes);
  if (body) return body.toString('utf8');
  throw cliError('ERR_CLI_TOO_LARGE', `${addressOf(page)} sent more than ${maxBytes} bytes; is it a gateway?`);
}

/** Parses the JSON of a page; throws `ERR_CLI_BAD_ANSWER` if it is none. */
export function parseJson(body: string, page: Page): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw badAnswer(page);
  }
}

/** Returns the error for a response that is not what the command expects. */
export function badAnswer({ base, flag, path }: Page): Error {
  const text = `${base.origin}${path} is not the response of a gateway; check ${flag}`;
  return cliError('ERR_CLI_BAD_ANSWER', text);
}

function unreachable({ base, flag }: Page, error: unknown, timeoutMs: number): Error {
  const code = (error as { cause?: { code?: string } }).cause?.code;
  const isLate = (error as Error).name === 'TimeoutError';
  const text = isLate
    ? `no response of ${base.origin} within ${timeoutMs / 1000} s: the gateway is stopped or overloaded; restart it, or set another address with ${flag}`
    : `no gateway at ${base.origin} (${code ?? 'the connection failed'}); start one with "npm start", or set its address with ${flag}`;
  return cliError('ERR_CLI_UNREACHABLE', text, error);
}
