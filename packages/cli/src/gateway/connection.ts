import { readLimited } from '@edge-gateway/core';
import type { Command } from 'commander';
import { cliError, isCliError } from '../error-codes.ts';
import type { Io } from '../io.ts';

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
  readonly fetch?: typeof fetch;
  /** Maximum size of a response in bytes. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Maximum time for a complete response in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
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
  readonly method?: 'GET' | 'POST';
}

/** Returns the connection that the flags of a call ask for. */
export function gatewayOf(io: Io, command: Command): Connection {
  const { server, proxyAdmin } = command.optsWithGlobals<{ server: string; proxyAdmin: string }>();
  return createConnection({ server, proxyAdmin, ...(io.fetch && { fetch: io.fetch }) });
}

/** Parses an address given by flag or variable: `http://…` or `https://…`; throws `ERR_CLI_USAGE`. */
export function parseAddress(text: string, flag: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) {
    throw cliError('ERR_CLI_USAGE', `${flag} must be an address like http://127.0.0.1:9091, not "${text}"`);
  }
  return url;
}

export function createConnection(options: ConnectionOptions = {}): Connection {
  const server = parseAddress(options.server ?? DEFAULT_SERVER, '--server');
  const proxyAdmin = parseAddress(options.proxyAdmin ?? DEFAULT_PROXY_ADMIN, '--proxy-admin');
  const onServer = (path: string): Page => ({ base: server, flag: '--server', path });
  const onProxy = (path: string, method: Page['method']): Page => ({
    base: proxyAdmin,
    flag: '--proxy-admin',
    path,
    ...(method && { method }),
  });
  const control = async (path: string) => parseJson(await read(onServer(path), options), onServer(path));
  return {
    server,
    proxyAdmin,
    control,
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
    proxy: (path, method) => read(onProxy(path, method), options),
    follow: (path, method, signal) => readEndless(onProxy(path, method), options, signal),
  };
}

/** The address of a page: credentials written into a base address are never shown. */
const addressOf = (page: Page): string => `${page.base.origin}${page.base.pathname.replace(/\/$/, '')}${page.path}`;

async function read(page: Page, options: ConnectionOptions): Promise<string> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  try {
    const response = await ask(page, options, AbortSignal.timeout(timeoutMs));
    const body = await readBody(response, page, options.maxBytes ?? MAX_BYTES);
    if (!response.ok) throw refused(page, response.status, body);
    return body;
  } catch (error) {
    throw isCliError(error) ? error : unreachable(page, error, timeoutMs);
  }
}

function ask(page: Page, options: ConnectionOptions, signal: AbortSignal): Promise<Response> {
  const { username, password } = page.base;
  const authorization = username && `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers: Record<string, string> = authorization ? { authorization } : {};
  return (options.fetch ?? fetch)(addressOf(page), { method: page.method ?? 'GET', signal, headers });
}

async function* readEndless(page: Page, options: ConnectionOptions, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  try {
    const response = await ask(page, options, signal);
    if (!response.ok) throw refused(page, response.status, await readBody(response, page, maxBytes));
    // An empty chunk signals that the gateway has responded.
    yield new Uint8Array();
    for await (const chunk of response.body ?? []) yield chunk;
  } catch (error) {
    throw isCliError(error) || signal.aborted ? error : unreachable(page, error, 0);
  }
}

async function readBody(response: Response, page: Page, maxBytes: number): Promise<string> {
  const body = await readLimited(response.body, maxBytes);
  if (body) return body.toString('utf8');
  throw cliError('ERR_CLI_TOO_LARGE', `${addressOf(page)} sent more than ${maxBytes} bytes; is it a gateway?`);
}

function parseJson(body: string, page: Page): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw badAnswer(page);
  }
}

/** Returns the error for a response that is not what the command expects. */
export function badAnswer({ base, flag, path }: Page) {
  const text = `${base.origin}${path} is not the response of a gateway; check ${flag}`;
  return cliError('ERR_CLI_BAD_ANSWER', text);
}

function refused(page: Page, status: number, body: string) {
  const why = body.trim().split('\n', 1)[0]!.slice(0, 200);
  const hint = status === 404 ? `; check ${page.flag}` : '';
  return cliError('ERR_CLI_REFUSED', `${addressOf(page)} answered ${status}${why && ` (${why})`}${hint}`);
}

function unreachable(page: Page, error: unknown, timeoutMs: number) {
  const code = (error as { cause?: { code?: string } }).cause?.code;
  const late = (error as Error).name === 'TimeoutError';
  const reason = late ? `no response within ${timeoutMs / 1000} s` : (code ?? 'the connection failed');
  const text = `no gateway at ${page.base.origin} (${reason}); start one with "npm start", or set its address with ${page.flag}`;
  return cliError('ERR_CLI_UNREACHABLE', text, error);
}
